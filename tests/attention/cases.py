"""Attention problems with a float64 answer, and the grid of them that every backend has to solve.

All of a cache but the slots in use is NaN, the null block included, and every table ends in entries that point
nowhere. The answer is computed from the keys and values as they were before they went into the cache, so it
knows nothing of blocks.
"""

import math
from functools import cache
from itertools import product
from typing import NamedTuple

import torch
from torch import Tensor

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


class Problem(NamedTuple):
    query: Tensor
    key_cache: Tensor
    value_cache: Tensor
    tables: dict[str, Tensor]
    scale: float
    expected: Tensor


def empty_cache(num_blocks: int, case: Case) -> Tensor:
    block_size, heads, size = case.block_size, case.num_kv_heads, case.head_size
    shape = {
        "plain": (num_blocks, block_size, heads, size),
        "interleaved": (num_blocks, 2, block_size, heads, size),
        "heads_first": (num_blocks, heads, block_size, size),
    }[case.layout]
    cache = torch.full(shape, math.nan, dtype=case.dtype)
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


@cache
def build(case: Case) -> Problem:
    random = torch.Generator().manual_seed(0)
    sequences, block_size, num_kv_heads, group_size, head_size, dtype, layout, index_dtype = case
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
    starts = [0]
    for s, ((new, context_len), width) in enumerate(zip(sequences, widths)):
        rows = slice(starts[-1], starts[-1] + new)
        starts.append(rows.stop)
        blocks = [free.pop() for _ in range(width)]
        table[s, :width] = torch.tensor(blocks, dtype=index_dtype)
        key, value = torch.randn(2, context_len, num_kv_heads, head_size, generator=random).to(dtype)
        for position in range(context_len):
            block, offset = blocks[position // block_size], position % block_size
            key_cache[block, offset], value_cache[block, offset] = key[position], value[position]
        if new and context_len:
            expected[rows] = answer(query[rows], key, value, scale)
    tables = {
        "block_tables": table,
        "context_lens": torch.tensor([context_len for _, context_len in sequences], dtype=index_dtype),
        "query_start_loc": torch.tensor(starts, dtype=index_dtype),
    }
    return Problem(query, key_cache, value_cache, tables, scale, expected)


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


GRID = grid()
