"""The grid of the Triton kernels: any two values of two settings meet, and a core that meets each known fault.

Each trial has few programs, as the interpreter takes some 20 ms for one.
"""

from collections.abc import Sequence
from typing import Any

import torch

from kvlib.bench.kernels.grid import BLOCK_SIZES, GROUP_SIZES, HEAD_SIZES, INDEX_DTYPES, name_of
from kvlib.bench.kernels.layouts import LAYOUTS
from kvlib.bench.kernels.pairs import pairwise
from kvlib.bench.kernels.problems import Case
from kvlib.bench.kernels.trials import Trial

FP16, BF16, FP32, E4M3, INT8 = torch.float16, torch.bfloat16, torch.float32, torch.float8_e4m3fn, torch.int8
Settings = dict[str, Sequence[Any]]
Dtypes = tuple[tuple[torch.dtype, torch.dtype | None], ...]
INTERPRETED: Dtypes = ((FP16, None), (FP32, None), (FP16, E4M3), (FP32, E4M3), (FP16, INT8))
"""What the interpreter computes rightly: (dtype of the query, dtype of a quantised cache)."""
ON_A_GPU: Dtypes = (*INTERPRETED, (BF16, None), (BF16, E4M3), (BF16, INT8))

SHARED: Settings = {
    "block_size": BLOCK_SIZES,
    "head_size": HEAD_SIZES,
    "group_size": GROUP_SIZES,
    "layout": LAYOUTS,
    "index_dtype": INDEX_DTYPES,
    "window": (None, 1, 7, 40),
    "softcap": (None, 2.0, 50.0),
}


def sequences(kind: str, block_size: int) -> tuple[tuple[int, int], ...]:
    """(new tokens, context length) of the sequences of a kind of batch."""
    edges = tuple((1, context_len) for context_len in (block_size - 1, block_size, block_size + 1))
    return {
        "ragged": ((1, 100), (1, 1)),
        "empty": ((1, 0), (1, 70)),
        "edges": edges if block_size < 100 else edges[2:],
        "idle": ((1, 40), (0, 9), (1, 33), (0, 0)),
        "short": ((1, 0), (1, 33), (1, 5)),
        "prompts": ((7, 7), (33, 33), (1, 1)),
        "chunks": ((5, 20), (1, 33), (0, 7), (31, 32)),
        "mixed": ((1, 40), (9, 9), (1, 0), (4, 30), (0, 12)),
        "last chunks": ((1, block_size), (min(5, block_size + 1), block_size + 1)),
    }[kind]


def trials(dtypes: Dtypes = INTERPRETED) -> list[Trial]:
    """Any two values of two settings meet in a trial: of decoding, and of prompts; `dtypes` as INTERPRETED."""
    decoding: Settings = {
        "kernel": ("decode",),
        "kind": ("ragged", "empty", "edges", "idle"),
        **SHARED,
        "dtypes": dtypes,
        "num_splits": (1, 3, 16),
        "tokens": (16, 64),
    }
    prefilling: Settings = {
        "kernel": ("attend", "prefill"),
        "kind": ("prompts", "chunks", "mixed", "last chunks"),
        **SHARED,
        "dtypes": dtypes,
        "tokens": (16, 64),
    }
    first: Settings = {
        "kernel": ("naive",),
        "kind": ("short", "edges"),
        "block_size": (1, 16, 24),
        "head_size": (40, 128),
        "group_size": (1, 3),
        "layout": LAYOUTS,
        "dtypes": tuple(pair for pair in dtypes if pair[1] is None),
    }
    return [_trial(**row) for settings in (decoding, prefilling, first) for row in pairwise(settings)]


def _trial(
    kernel: str,
    kind: str,
    block_size: int,
    dtypes: tuple[torch.dtype, torch.dtype | None],
    num_splits: int = 1,
    tokens: int = 64,
    **rest: Any,
) -> Trial:
    num_kv_heads = 1 if num_splits > 3 or (kind == "edges" and block_size > 100) else 2
    dtype, quantised = dtypes
    case = Case(sequences(kind, block_size), block_size, num_kv_heads, dtype=dtype, quantised=quantised, **rest)
    name = f"{kernel}-{name_of(kind, case)}-{str(case.index_dtype)[6:]}"
    name += f"-tiles-of-{tokens}" if kernel in ("decode", "prefill") else ""
    name += f"-{num_splits}-splits" if kernel == "decode" else ""
    return Trial(name, case, kernel, num_splits, tokens)


CORE = {
    trial.name: trial
    for trial in (
        Trial("one split", Case(((1, 100), (1, 1)), 16, 2, 4, 64, FP16), "decode", tokens=16),
        Trial("sharp scores", Case(((1, 100), (1, 50)), 16, 2, 4, 64, FP16, sharpness=40.0), "decode", 2, 16),
        Trial("empty splits", Case(((1, 0), (1, 70)), 16, 2, 4, 64, FP32), "decode", 4, 16),
        Trial("many splits", Case(((1, 700), (1, 3)), 16, 1, 4, 64, FP16), "decode", 40, 16),
        Trial("odd sizes", Case(((1, 50), (0, 9), (1, 25)), 24, 2, 3, 80, FP16, "unlike"), "decode", 2, 16),
        Trial("window", Case(((1, 100), (1, 20)), 16, 2, 4, 64, FP32, "interleaved", window=33), "decode", 2, 16),
        Trial(
            "e4m3", Case(((1, 60), (1, 3)), 16, 2, 4, 64, FP16, "heads_first", quantised=E4M3, softcap=2.0), "decode"
        ),
        Trial("int8", Case(((1, 60), (1, 3)), 16, 2, 1, 64, FP32, quantised=INT8), "decode", 2, 16),
        Trial("prompts", Case(((7, 7), (33, 33), (1, 1)), 16, 2, 4, 64, FP16), "prefill", tokens=16),
        Trial("chunks", Case(((5, 20), (1, 33), (0, 7), (31, 32)), 24, 2, 3, 80, FP32, "unlike"), "prefill", tokens=16),
        Trial("window of a chunk", Case(((30, 60),), 3, 2, 5, 40, FP16, window=7, softcap=2.0), "prefill", tokens=16),
        Trial("codes of a chunk", Case(((9, 60),), 3, 2, 5, 40, FP16, quantised=E4M3), "prefill", tokens=16),
        Trial("mixed", Case(((1, 40), (9, 9), (1, 0), (4, 30), (0, 12)), 16, 2, 4, 64, FP16), "attend"),
        Trial("first kernel", Case(((1, 0), (1, 33), (1, 5)), 24, 2, 3, 40, FP16, "unlike"), "naive"),
    )
}
