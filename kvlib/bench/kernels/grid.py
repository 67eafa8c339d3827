"""The grid of attention problems that every backend has to solve."""

from itertools import product

import torch

from kvlib.bench.kernels.layouts import LAYOUTS
from kvlib.bench.kernels.problems import BOUNDS, Case

BLOCK_SIZES = (1, 3, 16, 24, 544)
HEAD_SIZES = (40, 64, 80, 96, 128, 256)
GROUP_SIZES = (1, 3, 4, 5, 20)
KINDS = ("mixed", "edges", "chunked", "decode", "prefill")
DTYPES = tuple(BOUNDS)
QUANTISED = (torch.float8_e4m3fn, torch.int8)
INDEX_DTYPES = (torch.int64, torch.int32)
WINDOWS = (None, 1, 7, 32)
SOFTCAPS = (None, 2.0)

SHAPES = list(product(BLOCK_SIZES, HEAD_SIZES, GROUP_SIZES))


def batches(block_size: int) -> dict[str, tuple[tuple[int, int], ...]]:
    """The kinds of batch, each with a sequence (new tokens, context length) for what may go wrong in it."""
    edge = (block_size - 1, block_size, block_size + 1)
    return {
        "prefill": ((7, 7), (33, 33), (1, 1)),
        "chunked": ((5, 20), (8, 33), (0, 7), (31, 32)),
        "decode": ((1, 1), (1, 2), (1, 15), (1, 16), (1, 17), (1, 49), (1, 50)),
        "mixed": ((1, 40), (9, 9), (1, 0), (4, 30), (0, 0), (0, 12), (1, 41), (1, 33)),
        "edges": (*((1, context_len) for context_len in edge), (min(5, block_size + 1), block_size + 1)),
    }


def grid() -> dict[str, Case]:
    """Every block size with every head size and group size; every kind of batch with every dtype and layout."""
    kinds = list(product(KINDS, DTYPES, LAYOUTS))
    pairs = [(shape, kinds[7 * i % len(kinds)]) for i, shape in enumerate(SHAPES)]
    pairs += [(SHAPES[7 * i % len(SHAPES)], kind) for i, kind in enumerate(kinds)]
    return dict(
        _named(kind, shape, 1 + i % (3 if shape[2] < 20 else 2), dtype, layout, i)
        for i, (shape, (kind, dtype, layout)) in enumerate(pairs)
    )


def quantised_grid() -> dict[str, Case]:
    """Every kind of batch with both quantised dtypes, every dtype of the query and every layout."""
    return dict(
        _named(kind, SHAPES[7 * i % len(SHAPES)], 2 + i % 2, dtype, layout, i, quantised=quantised)
        for i, (kind, dtype, quantised, layout) in enumerate(product(KINDS, DTYPES, QUANTISED, LAYOUTS))
    )


def masked_grid() -> dict[str, Case]:
    """Every kind of batch with every window and soft cap, the layouts and dtypes in turn."""
    return dict(
        _named(
            kind,
            SHAPES[11 * i % len(SHAPES)],
            1 + i % 2,
            DTYPES[i % len(DTYPES)],
            LAYOUTS[i // 4 % len(LAYOUTS)],
            i,
            quantised=(None, *QUANTISED)[i % 3],
            window=window,
            softcap=softcap,
        )
        for i, (window, softcap, kind) in enumerate(product(WINDOWS, SOFTCAPS, KINDS))
        if window or softcap
    )


def name_of(kind: str, case: Case) -> str:
    """What tells a case from the others of its grid, for the names of tests."""
    sizes = (f"block{case.block_size}", f"head{case.head_size}", f"group{case.group_size}")
    words = [kind.replace(" ", "-"), *sizes, str(case.dtype)[6:], case.layout]
    words += [str(case.quantised)[6:]] if case.quantised else []
    words += [f"window{case.window}"] if case.window else []
    return "-".join([*words, *([f"softcap{case.softcap:g}"] if case.softcap else [])])


def _named(
    kind: str,
    shape: tuple[int, int, int],
    num_kv_heads: int,
    dtype: torch.dtype,
    layout: str,
    i: int,
    quantised: torch.dtype | None = None,
    window: int | None = None,
    softcap: float | None = None,
) -> tuple[str, Case]:
    block_size, head_size, group_size = shape
    sequences = batches(block_size)[kind]
    index_dtype = INDEX_DTYPES[i % 2]
    case = Case(
        sequences,
        block_size,
        num_kv_heads,
        group_size,
        head_size,
        dtype,
        layout,
        index_dtype,
        quantised,
        window,
        softcap,
    )
    return name_of(kind, case), case
