"""Attention that walks the block table: one block of keys and values at a time, where it lies in the cache.

The softmax is taken in pieces, as in Milakov and Gimelshein, arXiv 1805.02867, and FlashAttention,
Dao et al., arXiv 2205.14135: what was summed under an old maximum is rescaled when a block brings a larger one.
"""

import torch
from torch import Tensor

from kvlib.attention.batch import Batch
from kvlib.attention.scoring import Scoring


def paged(query: Tensor, key_cache: Tensor, value_cache: Tensor, batch: Batch, scoring: Scoring) -> Tensor:
    """Attention without a copy of the context and without a row of all its scores.

    Shapes as in `kvlib.attention.attend`. Half precisions are computed in float32, float32 and float64 in
    their own.
    """
    output = query.new_zeros(query.shape)  # [num_tokens, num_heads, head_size]
    for rows, context_len, blocks in batch.sequences:
        output[rows] = walk(query[rows], key_cache, value_cache, blocks.tolist(), context_len, scoring)
    return output


def walk(
    query: Tensor,
    key_cache: Tensor,
    value_cache: Tensor,
    blocks: list[int],
    context_len: int,
    scoring: Scoring,
) -> Tensor:
    """The last query rows of one sequence over its blocks.

    query and output are [Q, heads, D], the caches [num_blocks, block_size, K, D].
    G = heads / K query heads read one KV head; S slots of a block are filled.
    """
    num_queries = len(query)
    _, block_size, num_kv_heads, _ = key_cache.shape
    dtype = torch.promote_types(query.dtype, torch.float32)

    grouped = query.to(dtype).unflatten(1, (num_kv_heads, -1))  # [Q, K, G, D]
    first = context_len - num_queries
    oldest = 0 if scoring.window is None else max(0, first - scoring.window + 1)
    position = torch.arange(first, context_len, device=query.device)  # [Q]
    accumulator = torch.zeros_like(grouped)  # [Q, K, G, D]
    running_sum = torch.zeros_like(grouped[..., :1])  # [Q, K, G, 1]
    running_max = torch.full_like(running_sum, float("-inf"))  # [Q, K, G, 1]

    for logical_block in range(oldest // block_size, len(blocks)):
        physical_block = blocks[logical_block]
        start = logical_block * block_size
        filled = min(block_size, context_len - start)
        key = key_cache[physical_block, :filled].to(dtype)  # [S, K, D]
        value = value_cache[physical_block, :filled].to(dtype)  # [S, K, D]

        score = scoring.scale * torch.einsum("qkgd,skd->qkgs", grouped, key)  # [Q, K, G, S]
        if scoring.softcap is not None:
            score = scoring.softcap * torch.tanh(score / scoring.softcap)
        slot_position = start + torch.arange(filled, device=query.device)  # [S]
        unseen = slot_position > position[:, None, None, None]  # [Q, 1, 1, S]
        if scoring.window is not None:
            unseen |= slot_position <= position[:, None, None, None] - scoring.window
        score = score.masked_fill(unseen, float("-inf"))  # [Q, K, G, S]

        new_max = torch.maximum(running_max, score.amax(-1, keepdim=True))
        # A row whose window begins in a later block has the maximum -inf still, and -inf - -inf is NaN.
        shift = new_max.masked_fill(new_max == float("-inf"), 0)
        rescale = torch.exp(running_max - shift)  # [Q, K, G, 1]
        weight = torch.exp(score - shift)  # [Q, K, G, S]
        running_sum = running_sum * rescale + weight.sum(-1, keepdim=True)
        weighted = torch.einsum("qkgs,skd->qkgd", weight, value)  # [Q, K, G, D]
        accumulator = accumulator * rescale + weighted  # [Q, K, G, D]
        running_max = new_max

    return (accumulator / running_sum).flatten(1, 2)  # [Q, heads, D]
