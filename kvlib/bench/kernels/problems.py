"""Attention problems with a float64 answer, for every backend, the kernels' planted faults and the GPU benchmark.

All of a cache but the slots in use is NaN, the null block included, and every table ends in entries that point
nowhere. The answer is computed from the keys and values as they were before they went into the cache, so it
knows nothing of blocks. A quantised cache gets random codes, and the answer is that of code times scale; int8 has no
NaN, and -128, which is no code, takes its place.
"""

import math
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor

from kvlib.bench.kernels.layouts import laid_out, layouts_of, moved, poisoned_cache

NOWHERE = 2**30
SPARE_BLOCKS = 3

BOUNDS = {torch.float64: 1e-14, torch.float32: 2e-6, torch.float16: 1e-3, torch.bfloat16: 6e-3}
"""Largest relative L2 error of any one row of output, against float64 on the same stored values."""


class Case(NamedTuple):
    """What a problem is built from.

    sequences: (new tokens, context length) of each. layout: of `kvlib.bench.kernels.layouts.LAYOUTS`. quantised: the
    dtype of the caches, where it is not that of the query. sharpness: the factor on the usual scale, head_size ** -0.5.
    """

    sequences: tuple[tuple[int, int], ...]
    block_size: int
    num_kv_heads: int
    group_size: int
    head_size: int
    dtype: torch.dtype = torch.float32
    layout: str = "plain"
    index_dtype: torch.dtype = torch.int64
    quantised: torch.dtype | None = None
    window: int | None = None
    softcap: float | None = None
    sharpness: float = 1.0


class Problem(NamedTuple):
    """The arguments of `kvlib.attention.attend` and the output they should give, float64.

    tables: block_tables, context_lens, query_start_loc. scales: k_scale and v_scale, or nothing. masks: window and
    softcap, those that are set.
    """

    query: Tensor
    key_cache: Tensor
    value_cache: Tensor
    tables: dict[str, Tensor]
    scale: float
    expected: Tensor
    scales: dict[str, Tensor]
    masks: dict[str, Any]

    @property
    def options(self) -> dict[str, Any]:
        """All of attend's arguments but its first three and the backend."""
        return {**self.tables, "scale": self.scale, **self.scales, **self.masks}

    def to(self, device: torch.device | str) -> "Problem":
        """The same problem on another device, with the same strides and the same poison between."""
        return self._replace(
            query=moved(self.query, device),
            key_cache=moved(self.key_cache, device),
            value_cache=moved(self.value_cache, device),
            tables={name: table.to(device) for name, table in self.tables.items()},
            expected=self.expected.to(device),
            scales={name: scale.to(device) for name, scale in self.scales.items()},
        )


@cache
def build(case: Case) -> Problem:
    """The problem of `case` on the CPU, the same at every call; the tensors are shared, so write to none."""
    random = torch.Generator().manual_seed(0)
    block_size, num_kv_heads, head_size = case.block_size, case.num_kv_heads, case.head_size
    num_heads = num_kv_heads * case.group_size
    scale = case.sharpness * head_size**-0.5
    widths = [-(-context_len // block_size) for _, context_len in case.sequences]
    num_blocks = 1 + sum(widths) + SPARE_BLOCKS
    free = torch.randperm(num_blocks - 1, generator=random) + 1
    cache_shape = (num_blocks, block_size, num_kv_heads, head_size)
    stored = case.quantised or case.dtype
    key_cache, value_cache = (poisoned_cache(*cache_shape, stored, layout) for layout in layouts_of(case.layout))

    num_tokens = sum(new for new, _ in case.sequences)
    query = torch.randn(num_tokens, num_heads, head_size, generator=random).to(case.dtype)
    query = laid_out(query, num_kv_heads, case.layout)
    expected = torch.zeros(query.shape, dtype=torch.float64)
    table = torch.full((len(widths), max(widths, default=0) + 2), NOWHERE, dtype=case.index_dtype)
    scales = {}
    if case.quantised:  # of the size that makes keys and values of about 1, each head its own
        scales = {name: 0.01 + 0.02 * torch.rand(num_kv_heads, generator=random) for name in ("k_scale", "v_scale")}
    starts = [0]
    for s, ((new, context_len), blocks) in enumerate(zip(case.sequences, free[: sum(widths)].split(widths))):
        rows = slice(starts[-1], starts[-1] + new)
        starts.append(rows.stop)
        table[s, : len(blocks)] = blocks
        shape = (2, context_len, num_kv_heads, head_size)
        if case.quantised:
            key, value = random_codes(shape, case.quantised, random)
        else:
            key, value = torch.randn(shape, generator=random).to(case.dtype)
        position = torch.arange(context_len)
        block, offset = blocks[position // block_size], position % block_size
        key_cache[block, offset], value_cache[block, offset] = key, value
        if case.quantised:
            key, value = (codes.double() * by.double()[:, None] for codes, by in zip((key, value), scales.values()))
        if new and context_len:
            expected[rows] = answer(query[rows], key, value, scale, case.window, case.softcap)
    tables = {
        "block_tables": table,
        "context_lens": torch.tensor([context_len for _, context_len in case.sequences], dtype=case.index_dtype),
        "query_start_loc": torch.tensor(starts, dtype=case.index_dtype),
    }
    masks = {name: value for name, value in (("window", case.window), ("softcap", case.softcap)) if value is not None}
    return Problem(query, key_cache, value_cache, tables, scale, expected, scales, masks)


def answer(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    scale: float,
    window: int | None = None,
    softcap: float | None = None,
) -> Tensor:
    """One sequence in float64, head by head: [num_queries, num_heads, head_size]."""
    num_queries, num_heads, _ = query.shape
    context_len, num_kv_heads, _ = key.shape
    now, then = torch.arange(context_len)[-num_queries:, None], torch.arange(context_len)
    unseen = (then > now) | (then <= now - (window or context_len))
    heads = []
    for head in range(num_heads):
        kv_head = head * num_kv_heads // num_heads
        score = query[:, head].double() @ key[:, kv_head].double().T * scale
        if softcap is not None:
            score = softcap * torch.tanh(score / softcap)
        score[unseen] = -math.inf
        heads.append(score.softmax(-1) @ value[:, kv_head].double())
    return torch.stack(heads, 1)


def error(output: Tensor, expected: Tensor) -> float:
    """Largest relative L2 error of a row; infinite when a row is not finite, or should be zero and is not."""
    wrong = (output.double() - expected).flatten(1).norm(dim=1)
    size = expected.flatten(1).norm(dim=1)
    ratio = torch.where(wrong == 0, 0.0, wrong / size).nan_to_num(math.inf, math.inf)
    return max(ratio.tolist(), default=0.0)


def random_codes(shape: tuple[int, ...], dtype: torch.dtype, random: torch.Generator) -> Tensor:
    """Numbers that the dtype stores, as normally distributed as it can, the largest and the smallest among them."""
    limit, spread = {torch.int8: (127, 40), torch.float8_e4m3fn: (448, 100)}[dtype]
    return (torch.randn(shape, generator=random) * spread).clamp(-limit, limit).to(dtype)
