"""Attention problems with a float64 answer, and the grid of them that every backend has to solve.

All of a cache but the slots in use is NaN, the null block included, and every table ends in entries that point
nowhere. The answer is computed from the keys and values as they were before they went into the cache, so it
knows nothing of blocks. A quantised cache gets random codes, and the answer is that of code times scale; int8 has no
NaN, and -128, which is no code, takes its place.
"""

import math
from functools import cache
from itertools import product
from typing import NamedTuple

import torch
from torch import Tensor

from kvlib.attention import BACKENDS
from kvlib.native import library

NOWHERE = 2**30
SPARE_BLOCKS = 3

# Largest relative L2 error of any one row of output, against float64 on the same stored values.
BOUNDS = {torch.float64: 1e-14, torch.float32: 2e-6, torch.float16: 1e-3, torch.bfloat16: 6e-3}


class Case(NamedTuple):
    sequences: tuple[tuple[int, int], ...]  # (new tokens, context length) of each
    block_size: int
    num_kv_heads: int
    group_size: int
    head_size: int
    dtype: torch.dtype = torch.float32
    layout: str = "plain"
    index_dtype: torch.dtype = torch.int64
    quantised: torch.dtype | None = None  # the dtype of the caches, where it is not that of the query


class Problem(NamedTuple):
    query: Tensor
    key_cache: Tensor
    value_cache: Tensor
    tables: dict[str, Tensor]
    scale: float
    expected: Tensor
    scales: dict[str, Tensor]


def empty_cache(num_blocks: int, case: Case) -> Tensor:
    block_size, heads, size = case.block_size, case.num_kv_heads, case.head_size
    shape = {
        "plain": (num_blocks, block_size, heads, size),
        "interleaved": (num_blocks, 2, block_size, heads, size),
        "heads_first": (num_blocks, heads, block_size, size),
    }[case.layout]
    dtype = case.quantised or case.dtype
    cache = torch.full(shape, math.nan if dtype.is_floating_point else -128, dtype=dtype)
    return {"plain": cache, "interleaved": cache.select(1, -1), "heads_first": cache.transpose(1, 2)}[case.layout]


def answer(query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
    """One sequence in float64, head by head: [num_queries, num_heads, head_size]."""
    num_queries, num_heads, _ = query.shape
    context_len, num_kv_heads, _ = key.shape
    later = [[j > context_len - num_queries + i for j in range(context_len)] for i in range(num_queries)]
    heads = []
    for head in range(num_heads):
        kv_head = head * num_kv_heads // num_heads
        score = query[:, head].double() @ key[:, kv_head].double().T * scale
        score[torch.tensor(later)] = -math.inf
        heads.append(score.softmax(-1) @ value[:, kv_head].double())
    return torch.stack(heads, 1)


def random_codes(shape: tuple[int, ...], dtype: torch.dtype, random: torch.Generator) -> Tensor:
    """Numbers that the dtype stores, as normally distributed as it can, the largest and the smallest among them."""
    limit, spread = {torch.int8: (127, 40), torch.float8_e4m3fn: (448, 100)}[dtype]
    return (torch.randn(shape, generator=random) * spread).clamp(-limit, limit).to(dtype)


@cache
def build(case: Case) -> Problem:
    random = torch.Generator().manual_seed(0)
    sequences, block_size, num_kv_heads, group_size, head_size, dtype, layout, index_dtype, quantised = case
    num_heads = num_kv_heads * group_size
    scale = head_size**-0.5
    widths = [-(-context_len // block_size) for _, context_len in sequences]
    num_blocks = 1 + sum(widths) + SPARE_BLOCKS
    free = (torch.randperm(num_blocks - 1, generator=random) + 1).tolist()
    key_cache, value_cache = empty_cache(num_blocks, case), empty_cache(num_blocks, case)

    num_tokens = sum(new for new, _ in sequences)
    fused = torch.randn(num_tokens, num_heads + 2 * num_kv_heads, head_size, generator=random).to(dtype)
    query = fused[:, :num_heads] if layout != "plain" else fused[:, :num_heads].contiguous()
    expected = torch.zeros(query.shape, dtype=torch.float64)
    table = torch.full((len(sequences), max(widths, default=0) + 2), NOWHERE, dtype=index_dtype)
    scales = {}
    if quantised:  # of the size that makes keys and values of about 1, each head its own
        k_scale, v_scale = (0.01 + 0.02 * torch.rand(num_kv_heads, generator=random) for _ in range(2))
        scales = {"k_scale": k_scale, "v_scale": v_scale}
    starts = [0]
    for s, ((new, context_len), width) in enumerate(zip(sequences, widths)):
        rows = slice(starts[-1], starts[-1] + new)
        starts.append(rows.stop)
        blocks = [free.pop() for _ in range(width)]
        table[s, :width] = torch.tensor(blocks, dtype=index_dtype)
        shape = (2, context_len, num_kv_heads, head_size)
        if quantised:
            key, value = random_codes(shape, quantised, random)
        else:
            key, value = torch.randn(shape, generator=random).to(dtype)
        for position in range(context_len):
            block, offset = blocks[position // block_size], position % block_size
            key_cache[block, offset], value_cache[block, offset] = key[position], value[position]
        if quantised:
            key, value = key.double() * k_scale.double()[:, None], value.double() * v_scale.double()[:, None]
        if new and context_len:
            expected[rows] = answer(query[rows], key, value, scale)
    tables = {
        "block_tables": table,
        "context_lens": torch.tensor([context_len for _, context_len in sequences], dtype=index_dtype),
        "query_start_loc": torch.tensor(starts, dtype=index_dtype),
    }
    return Problem(query, key_cache, value_cache, tables, scale, expected, scales)


def error(output: Tensor, expected: Tensor) -> float:
    """Largest relative L2 error of a row; infinite when a row is not finite, or should be zero and is not."""
    wrong = (output.double() - expected).flatten(1).norm(dim=1)
    size = expected.flatten(1).norm(dim=1)
    ratio = torch.where(wrong == 0, 0.0, wrong / size).nan_to_num(math.inf, math.inf)
    return max(ratio.tolist(), default=0.0)


def batches(block_size: int) -> dict[str, tuple[tuple[int, int], ...]]:
    edge = (block_size - 1, block_size, block_size + 1)
    return {
        "prefill": ((7, 7), (33, 33), (1, 1)),
        "chunked": ((5, 20), (8, 33), (0, 7), (31, 32)),
        "decode": ((1, 1), (1, 2), (1, 15), (1, 16), (1, 17), (1, 49), (1, 50)),
        "mixed": ((1, 40), (9, 9), (1, 0), (4, 30), (0, 0), (0, 12), (1, 41), (1, 33)),
        "edges": (*((1, context_len) for context_len in edge), (min(5, block_size + 1), block_size + 1)),
    }


BLOCK_SIZES = (1, 3, 16, 24, 544)
HEAD_SIZES = (40, 64, 80, 96, 128, 256)
GROUP_SIZES = (1, 3, 4, 5, 20)
KINDS = ("mixed", "edges", "chunked", "decode", "prefill")
DTYPES = tuple(BOUNDS)
QUANTISED = (torch.float8_e4m3fn, torch.int8)
QUANTISED_BACKENDS = ("dense", "gather", "paged")  # those that read quantised caches, and every dtype
BACKENDS_HERE = tuple(name for name in BACKENDS if name != "native" or library())  # native needs a compiler
LAYOUTS = ("plain", "interleaved", "heads_first")
INDEX_DTYPES = (torch.int64, torch.int32)


def grid() -> dict[str, Case]:
    """Every block size with every head size and group size; every kind of batch with every dtype and layout."""
    shapes = list(product(BLOCK_SIZES, HEAD_SIZES, GROUP_SIZES))
    kinds = list(product(KINDS, DTYPES, LAYOUTS))
    pairs = [(shape, kinds[7 * i % len(kinds)]) for i, shape in enumerate(shapes)]
    pairs += [(shapes[7 * i % len(shapes)], kind) for i, kind in enumerate(kinds)]
    cases = {}
    for i, ((block_size, head_size, group_size), (kind, dtype, layout)) in enumerate(pairs):
        name = f"{kind}-block{block_size}-head{head_size}-group{group_size}-{str(dtype)[6:]}-{layout}"
        num_kv_heads = 1 + i % (3 if group_size < 20 else 2)
        cases[name] = Case(
            batches(block_size)[kind],
            block_size,
            num_kv_heads,
            group_size,
            head_size,
            dtype,
            layout,
            INDEX_DTYPES[i % 2],
        )
    return cases


def quantised_grid() -> dict[str, Case]:
    """Every kind of batch with both quantised dtypes, every dtype of the query and every layout."""
    shapes = list(product(BLOCK_SIZES, HEAD_SIZES, GROUP_SIZES))
    cases = {}
    for i, (kind, dtype, quantised, layout) in enumerate(product(KINDS, DTYPES, QUANTISED, LAYOUTS)):
        block_size, head_size, group_size = shapes[7 * i % len(shapes)]
        name = (
            f"{kind}-{str(quantised)[6:]}-block{block_size}-head{head_size}-group{group_size}-{str(dtype)[6:]}-{layout}"
        )
        cases[name] = Case(
            batches(block_size)[kind],
            block_size,
            2 + i % 2,
            group_size,
            head_size,
            dtype,
            layout,
            INDEX_DTYPES[i % 2],
            quantised,
        )
    return cases


GRID = grid()
QUANTISED_GRID = quantised_grid()


def backends_for(case: Case) -> tuple[str, ...]:
    """The backends of this machine that read the cache of `case`: native reads float32 only."""
    return BACKENDS_HERE if case.dtype == torch.float32 and case.quantised is None else QUANTISED_BACKENDS
