"""Prefill: several new tokens of each sequence, whole prompts or chunks of them, over what the cache holds already.

Prompts of different lengths lie one after another. A tile of query rows holds consecutive tokens of one sequence, each
with all heads of one KV group, so that a tile of keys serves tokens and heads at once.
"""

import triton
import triton.language as tl

from kvlib.attention.triton.tile import attend_tile, load_tile, mean, visible_range


@triton.jit
def prefill_kernel(
    output,  # [num_tokens, num_heads, head_size]
    query,  # [num_tokens, num_heads, head_size]
    key_cache,  # [num_blocks, block_size, num_kv_heads, head_size]
    value_cache,
    block_tables,  # [num_seqs, max_blocks]
    context_lens,  # [num_seqs]
    query_start_loc,  # [num_seqs + 1]
    k_scale,  # [num_kv_heads] float32, or None
    v_scale,
    scale,
    least_queries,  # sequences with fewer new tokens are left to the decode kernel
    output_row,  # from here on strides, in elements
    output_head,
    query_row,
    query_head,
    table_row,
    key_block,
    key_slot,
    key_head,
    value_block,
    value_slot,
    value_head,
    GROUP: tl.constexpr,  # query heads for each KV head
    HEAD_SIZE: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    WINDOW: tl.constexpr,  # 0 for none
    SOFTCAP: tl.constexpr,  # 0 for none
    ROWS: tl.constexpr,
    TOKENS: tl.constexpr,
    DIMS: tl.constexpr,
):
    """Attention of a tile of one sequence's new tokens, one KV head."""
    kv_head, sequence = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)  # times a stride of any size
    tile = tl.program_id(2)
    first_token = tl.load(query_start_loc + sequence)
    num_queries = tl.load(query_start_loc + sequence + 1) - first_token
    tokens_in_tile: tl.constexpr = ROWS // GROUP
    first_query = tile * tokens_in_tile
    if (num_queries < least_queries) | (first_query >= num_queries):
        return

    row, dim = tl.arange(0, ROWS), tl.arange(0, DIMS)
    nth_query = first_query + row // GROUP
    head = row % GROUP  # within the group
    used = (row < tokens_in_tile * GROUP) & (nth_query < num_queries)
    filled = used[:, None] & (dim < HEAD_SIZE)[None, :]
    token = (first_token + nth_query).to(tl.int64)
    query += kv_head * GROUP * query_head + token[:, None] * query_row + head[:, None] * query_head
    rows = tl.load(query + dim[None, :], mask=filled, other=0)
    if k_scale is not None:
        scale *= tl.load(k_scale + kv_head)

    context_len = tl.load(context_lens + sequence)
    computed = context_len - num_queries  # positions before the first new token
    query_position = computed + nth_query
    last_query = tl.minimum(first_query + tokens_in_tile, num_queries) - 1
    begin, end = visible_range(context_len, computed + first_query, computed + last_query, WINDOW)

    block_table = block_tables + sequence * table_row
    key_cache += kv_head * key_head
    value_cache += kv_head * value_head
    weighted = tl.zeros([ROWS, DIMS], tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    maximum = tl.full([ROWS], float("-inf"), tl.float32)
    for first in range(begin, end, TOKENS):
        position = first + tl.arange(0, TOKENS)
        key, value = load_tile(
            key_cache, value_cache, block_table, position, end, key_block, key_slot, value_block, value_slot,
            dim, HEAD_SIZE, BLOCK_SIZE, rows.dtype,
        )  # fmt: skip
        visible = position[None, :] <= query_position[:, None]
        if WINDOW > 0:
            visible &= position[None, :] > query_position[:, None] - WINDOW
        weighted, total, maximum = attend_tile(rows, key, value, visible, scale, SOFTCAP, weighted, total, maximum)

    attended = mean(weighted, total)
    if v_scale is not None:
        attended *= tl.load(v_scale + kv_head)
    output += kv_head * GROUP * output_head + token[:, None] * output_row + head[:, None] * output_head
    tl.store(output + dim[None, :], attended.to(output.dtype.element_ty), mask=filled)
