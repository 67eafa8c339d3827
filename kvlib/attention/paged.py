"""Attention that walks the block table: one block of keys and values at a time, where it lies in the cache.

The softmax is taken in pieces, as in Milakov and Gimelshein, arXiv 1805.02867, and FlashAttention,
Dao et al., arXiv 2205.14135: what was summed under an old maximum is rescaled when a block brings a larger one.
"""

import torch
from torch import Tensor

from kvlib.attention.batch import Batch


def paged(query: Tensor, key_cache: Tensor, value_cache: Tensor, batch: Batch, scale: float) -> Tensor:
    """Attention without a copy of the context and without a row of all its scores.

    Shapes as in `kvlib.attention.attend`. Half precisions are computed in float32, float32 and float64 in
    their own.
    """
    output = query.new_zeros(query.shape)  # [num_tokens, num_heads, head_size]
    for rows, context_len, blocks in batch.sequences:
        output[rows] = walk(query[rows], key_cache, value_cache, blocks.tolist(), context_len, scale)
    return output


def walk(
    query: Tensor, key_cache: Tensor, value_cache: Tensor, blocks: list[int], context_len: int, scale: float
) -> Tensor:
    """The last query rows of one sequence over its blocks; query, output [num_queries, num_heads, head_size]."""
    num_queries = len(query)
    _, block_size, num_kv_heads, _ = key_cache.shape
    dtype = torch.promote_types(query.dtype, torch.float32)

    grouped = query.to(dtype).unflatten(1, (num_kv_heads, -1))  # [num_queries, num_kv_heads, group, head_size]
    position = torch.arange(context_len - num_queries, context_len, device=query.device)  # [num_queries]
    accumulator = torch.zeros_like(grouped)  # [num_queries, num_kv_heads, group, head_size]
    running_sum = torch.zeros_like(grouped[..., :1])  # [num_queries, num_kv_heads, group, 1]
    running_max = torch.full_like(running_sum, float("-inf"))  # [num_queries, num_kv_heads, group, 1]

    for logical_block, physical_block in enumerate(blocks):
        start = logical_block * block_size
        filled = min(block_size, context_len - start)
        key = key_cache[physical_block, :filled].to(dtype)  # [filled, num_kv_heads, head_size]
        value = value_cache[physical_block, :filled].to(dtype)  # [filled, num_kv_heads, head_size]

        score = scale * torch.einsum("qkgd,skd->qkgs", grouped, key)  # [num_queries, num_kv_heads, group, filled]
        visible = start + torch.arange(filled, device=query.device) <= position[:, None]  # [num_queries, filled]
        score = score.masked_fill(~visible[:, None, None], float("-inf"))

        # Every row sees position 0, so the maximum is finite from the first block on.
        new_max = torch.maximum(running_max, score.amax(-1, keepdim=True))
        rescale = torch.exp(running_max - new_max)  # [num_queries, num_kv_heads, group, 1]
        weight = torch.exp(score - new_max)  # [num_queries, num_kv_heads, group, filled]
        running_sum = running_sum * rescale + weight.sum(-1, keepdim=True)
        accumulator = accumulator * rescale + torch.einsum("qkgs,skd->qkgd", weight, value)
        running_max = new_max

    return (accumulator / running_sum).flatten(1, 2)  # [num_queries, num_heads, head_size]
