"""Dense attention, in the clearest form: each sequence's keys and values in a row, one softmax over all of them.

Scaled dot-product attention: Vaswani et al., arXiv 1706.03762, section 3.2.1.
Grouped-query attention: Ainslie et al., arXiv 2305.13245.
"""

import torch
from torch import Tensor

from kvlib.attention.batch import Batch
from kvlib.attention.scoring import Scoring


def dense(query: Tensor, key_cache: Tensor, value_cache: Tensor, batch: Batch, scoring: Scoring) -> Tensor:
    """Attention of every new token over its own sequence, the reference for all other backends.

    Shapes as in `kvlib.attention.attend`. Half precisions are computed in float32, float32 and float64 in
    their own. Memory grows with num_heads * query rows * context.
    """
    output = query.new_zeros(query.shape)  # [num_tokens, num_heads, head_size]
    for rows, context_len, blocks in batch.sequences:
        key = key_cache[blocks].flatten(0, 1)[:context_len]  # [context_len, num_kv_heads, head_size]
        value = value_cache[blocks].flatten(0, 1)[:context_len]  # [context_len, num_kv_heads, head_size]
        output[rows] = causal_attention(query[rows], key, value, scoring)
    return output


def causal_attention(query: Tensor, key: Tensor, value: Tensor, scoring: Scoring) -> Tensor:
    """The last query rows of one sequence over all of it.

    query, output [num_queries, num_heads, head_size]; key, value [context_len, num_kv_heads, head_size].
    """
    num_queries, num_heads, _ = query.shape
    context_len, num_kv_heads, _ = key.shape
    dtype = torch.promote_types(query.dtype, torch.float32)
    kv_head = torch.arange(num_heads, device=query.device) // (num_heads // num_kv_heads)  # [num_heads]
    query, key, value = query.to(dtype), key.to(dtype)[:, kv_head], value.to(dtype)[:, kv_head]

    score = scoring.scale * torch.einsum("qhd,chd->hqc", query, key)  # [num_heads, num_queries, context_len]
    if scoring.softcap is not None:
        score = scoring.softcap * torch.tanh(score / scoring.softcap)
    position = torch.arange(context_len, device=query.device)  # [context_len]
    visible = position <= position[-num_queries:, None]  # [num_queries, context_len]
    if scoring.window is not None:
        visible &= position > position[-num_queries:, None] - scoring.window
    score = score.masked_fill(~visible, float("-inf"))  # [num_heads, num_queries, context_len]
    weight = torch.exp(score - score.amax(-1, keepdim=True))  # [num_heads, num_queries, context_len]
    weight = weight / weight.sum(-1, keepdim=True)  # [num_heads, num_queries, context_len]
    return torch.einsum("hqc,chd->qhd", weight, value)  # [num_queries, num_heads, head_size]
