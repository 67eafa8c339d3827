"""Attention over a copy: each sequence's blocks are gathered into a row, then torch's own attention runs on it.

The engine's default on a CPU. Decode rows of similar context share one call; a prompt or a chunk has its own.
"""

from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from kvlib.attention.batch import Batch, Sequence
from kvlib.attention.scoring import Scoring
from kvlib.errors import BadInput

# Measured on two cores of an AVX2 server, 9 query and 3 KV heads of size 64: larger groups leave the
# processor's cache, smaller ones pay more calls, and a more uneven group pays for padding.
MAX_GROUP_TOKENS = 2048
MIN_CONTEXT_SHARE = 0.75


class DecodeGroup(NamedTuple):
    """Decode rows whose contexts are padded to one length, a whole number of blocks.

    rows [num_rows]: their rows of query and output. blocks [num_rows * max_blocks]: their block tables, the
    null block as padding. unseen: the gathered slots outside any context. visible [num_rows, 1, 1, length]: the slots
    inside context and window, or None when every slot is.
    """

    rows: Tensor
    blocks: Tensor
    unseen: Tensor
    visible: Tensor | None


def gather(query: Tensor, key_cache: Tensor, value_cache: Tensor, batch: Batch, scoring: Scoring) -> Tensor:
    """Attention by torch's scaled_dot_product_attention on gathered blocks.

    Shapes and dtypes as in `kvlib.attention.attend`. The copies take at most MAX_GROUP_TOKENS tokens or the
    longest context at a time, whichever is more. Raises BadInput for a soft cap, which torch's attention has not.
    """
    if scoring.softcap is not None:
        raise BadInput(f"softcap is {scoring.softcap}; backend 'gather' has none: take 'dense', 'paged' or 'triton'")
    output = query.new_zeros(query.shape)  # [num_tokens, num_heads, head_size]
    for group in decode_groups(batch, scoring.window):
        output[group.rows] = _decode(query[group.rows], key_cache, value_cache, group, scoring.scale)
    for sequence in batch.sequences:
        if sequence.num_queries > 1:
            output[sequence.rows] = _prefill(query, key_cache, value_cache, sequence, scoring)
    return output


def _decode(query: Tensor, key_cache: Tensor, value_cache: Tensor, group: DecodeGroup, scale: float) -> Tensor:
    num_rows, num_kv_heads = len(query), key_cache.shape[2]
    key = _gathered(key_cache, group.blocks, query.dtype)  # [num_rows * length, num_kv_heads, head_size]
    value = _gathered(value_cache, group.blocks, query.dtype)
    # A weight of 0 does not hide what an unused slot may hold: 0 * NaN is NaN.
    key.index_fill_(0, group.unseen, 0)
    value.index_fill_(0, group.unseen, 0)
    # The query heads that share a KV head take the place of query rows, so no key is repeated.
    return scaled_dot_product_attention(
        query.unflatten(1, (num_kv_heads, -1)),  # [num_rows, num_kv_heads, group_size, head_size]
        key.unflatten(0, (num_rows, -1)).transpose(1, 2),  # [num_rows, num_kv_heads, length, head_size]
        value.unflatten(0, (num_rows, -1)).transpose(1, 2),  # [num_rows, num_kv_heads, length, head_size]
        attn_mask=group.visible,
        scale=scale,
    ).flatten(1, 2)  # [num_rows, num_heads, head_size]


def _prefill(query: Tensor, key_cache: Tensor, value_cache: Tensor, sequence: Sequence, scoring: Scoring) -> Tensor:
    rows, context_len, blocks = sequence
    key = _gathered(key_cache, blocks, query.dtype)[:context_len]  # [context_len, num_kv_heads, head_size]
    value = _gathered(value_cache, blocks, query.dtype)[:context_len]
    visible = None  # a whole prompt: torch draws the triangle itself and skips its empty half
    if sequence.num_queries < context_len or scoring.window is not None:
        computed = context_len - sequence.num_queries  # positions before the first query row
        visible = torch.ones(sequence.num_queries, context_len, dtype=torch.bool, device=query.device)
        visible = visible.tril(computed)  # [num_queries, context_len]
        if scoring.window is not None:
            visible = visible.triu(computed - scoring.window + 1)
    return scaled_dot_product_attention(
        query[rows].transpose(0, 1)[None],  # [1, num_heads, num_queries, head_size]
        key.transpose(0, 1)[None],  # [1, num_kv_heads, context_len, head_size]
        value.transpose(0, 1)[None],  # [1, num_kv_heads, context_len, head_size]
        attn_mask=visible,
        is_causal=visible is None,
        scale=scoring.scale,
        enable_gqa=True,
    )[0].transpose(0, 1)  # [num_queries, num_heads, head_size]


def _gathered(cache: Tensor, blocks: Tensor, dtype: torch.dtype) -> Tensor:
    return cache.index_select(0, blocks).to(dtype).flatten(0, 1)  # [num_blocks * block_size, num_kv_heads, head_size]


@lru_cache(maxsize=1)  # planned once a step: all layers hand in the same batch
def decode_groups(batch: Batch, window: int | None = None) -> list[DecodeGroup]:
    """The sequences of the batch that have one query row, longest context first, cut into groups."""
    decodes = [sequence for sequence in batch.sequences if sequence.num_queries == 1]
    groups: list[list[Sequence]] = []
    for sequence in sorted(decodes, key=lambda sequence: -sequence.context_len):
        longest = groups[-1][0].context_len if groups else 0
        if (
            groups
            and sequence.context_len >= MIN_CONTEXT_SHARE * longest
            and (len(groups[-1]) + 1) * longest <= MAX_GROUP_TOKENS
        ):
            groups[-1].append(sequence)
        else:
            groups.append([sequence])
    return [_padded(group, batch.block_size, window) for group in groups]


def _padded(group: list[Sequence], block_size: int, window: int | None) -> DecodeGroup:
    device = group[0].blocks.device
    tables = torch.nn.utils.rnn.pad_sequence([sequence.blocks for sequence in group], batch_first=True)
    # What depends on lengths alone is made on the host, as a GPU would have to be waited for.
    slots = torch.arange(tables.shape[1] * block_size)  # [length]
    context_lens = torch.tensor([sequence.context_len for sequence in group])  # [num_rows]
    visible = slots < context_lens[:, None]  # [num_rows, length]
    unseen = (~visible).flatten().nonzero().flatten()
    if window is not None:
        visible &= slots >= context_lens[:, None] - window
    return DecodeGroup(
        rows=torch.tensor([sequence.rows.start for sequence in group], device=device),
        blocks=tables.flatten(),
        unseen=unseen.to(device),
        visible=None if visible.all() else visible[:, None, None].to(device),
    )
