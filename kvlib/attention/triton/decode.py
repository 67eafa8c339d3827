"""Decode: one new token of each sequence reads its whole context. The kernel is as fast as the memory is read.

Two ideas beside the block table. The query heads that share a KV head are the rows of one tile, so that each key and
value is read once (grouped-query attention: Ainslie et al., arXiv 2305.13245). A long context is cut into splits, each
read by a program of its own, so that a small batch fills the device too (Flash-Decoding: Dao et al., 2023); `combine`
puts the splits together.
"""

import triton
import triton.language as tl

from kvlib.attention.triton.tile import attend_tile, load_tile, log_sum, mean, visible_range


@triton.jit
def decode_kernel(
    output,  # [num_tokens, num_heads, head_size]; with SPLIT [num_seqs, num_heads, num_splits, head_size] float32
    log_sums,  # [num_seqs, num_heads, num_splits] float32; None without SPLIT
    query,  # [num_tokens, num_heads, head_size]
    key_cache,  # [num_blocks, block_size, num_kv_heads, head_size]
    value_cache,
    block_tables,  # [num_seqs, max_blocks]
    context_lens,  # [num_seqs]
    query_start_loc,  # [num_seqs + 1], or None where row s of query belongs to sequence s
    k_scale,  # [num_kv_heads] float32, or None
    v_scale,
    scale,
    split_len,
    output_row,  # from here on strides, in elements
    output_head,
    output_split,
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
    SPLIT: tl.constexpr,
    ROWS: tl.constexpr,
    TOKENS: tl.constexpr,
    DIMS: tl.constexpr,
):
    """Attention of one sequence's new token, one KV head, one split of the context."""
    kv_head, sequence = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)  # times a stride of any size
    split = tl.program_id(2)
    token = sequence
    if query_start_loc is not None:
        token = tl.load(query_start_loc + sequence).to(tl.int64)
        if tl.load(query_start_loc + sequence + 1) != token + 1:
            return  # a prompt, or no token at all: not for this kernel

    context_len = tl.load(context_lens + sequence)
    begin, end = visible_range(context_len, context_len - 1, context_len - 1, WINDOW)
    begin += split * split_len
    end = tl.minimum(end, begin + split_len)

    row, dim = tl.arange(0, ROWS), tl.arange(0, DIMS)
    head = kv_head * GROUP  # the first of the group
    filled = (row < GROUP)[:, None] & (dim < HEAD_SIZE)[None, :]
    query += token * query_row + head * query_head
    rows = tl.load(query + row[:, None] * query_head + dim[None, :], mask=filled, other=0)
    if k_scale is not None:
        scale *= tl.load(k_scale + kv_head)

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
        visible = (position < end)[None, :]
        weighted, total, maximum = attend_tile(rows, key, value, visible, scale, SOFTCAP, weighted, total, maximum)

    attended = mean(weighted, total)
    if v_scale is not None:
        attended *= tl.load(v_scale + kv_head)
    if SPLIT:
        num_heads, num_splits = tl.num_programs(0) * GROUP, tl.num_programs(2)
        log_sums += (sequence * num_heads + head) * num_splits + split
        tl.store(log_sums + row * num_splits, log_sum(total, maximum), mask=row < GROUP)
        token = sequence
    output += token * output_row + head * output_head + split * output_split
    tl.store(output + row[:, None] * output_head + dim[None, :], attended.to(output.dtype.element_ty), mask=filled)
