"""Tensors whose numbers do not lie side by side, and what lies between them."""

import math

import torch
from torch import Tensor

LAYOUTS = ("plain", "interleaved", "heads_first", "padded", "unlike")
"""Of a cache; "unlike": keys lie heads first, values padded. In all but the first the query is part of a wider tensor,
as where queries, keys and values come from one product."""
PADDING = 3  # numbers between one head and the next, so that none begins where a vector could be read


def layouts_of(layout: str) -> tuple[str, str]:
    """The layouts of the keys and of the values."""
    return ("heads_first", "padded") if layout == "unlike" else (layout, layout)


def laid_out(query: Tensor, num_kv_heads: int, layout: str) -> Tensor:
    """The numbers of `query` [num_tokens, num_heads, head_size] as they lie beside keys and values, which are NaN."""
    if layout == "plain":
        return query
    num_tokens, num_heads, head_size = query.shape
    gap = PADDING if "padded" in layouts_of(layout) else 0
    fused = query.new_full((num_tokens, num_heads + 2 * num_kv_heads, head_size + gap), math.nan)
    fused[:, :num_heads, :head_size] = query
    return fused[:, :num_heads, :head_size]


def poisoned_cache(
    num_blocks: int, block_size: int, num_kv_heads: int, head_size: int, dtype: torch.dtype, layout: str = "plain"
) -> Tensor:
    """[num_blocks, block_size, num_kv_heads, head_size], NaN inside and around; int8 has none, so -128."""

    def poison(*shape: int) -> Tensor:
        return torch.full(shape, math.nan if dtype.is_floating_point else -128, dtype=dtype)

    if layout == "interleaved":
        return poison(num_blocks, 2, block_size, num_kv_heads, head_size)[:, 1]
    if layout == "heads_first":
        return poison(num_blocks, num_kv_heads, block_size, head_size).transpose(1, 2)
    if layout == "padded":
        return poison(num_blocks, block_size, num_kv_heads, head_size + PADDING)[..., :head_size]
    return poison(num_blocks, block_size, num_kv_heads, head_size)


def everything_of(tensor: Tensor) -> Tensor:
    """[N]: all that lies in the memory of `tensor`, which may be a part of it."""
    return tensor.as_strided((tensor.untyped_storage().nbytes() // tensor.itemsize,), (1,), 0)


def moved(tensor: Tensor, device: torch.device | str, copy: bool = False) -> Tensor:
    """`tensor` with all that lies between its numbers, which `Tensor.to` would leave out; arguments as there."""
    everything = everything_of(tensor).to(device, copy=copy)
    return everything.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
