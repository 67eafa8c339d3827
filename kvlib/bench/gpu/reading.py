"""Kernels that read memory and do no more with it than they must: what they take, no attention over it can undercut."""

import triton
import triton.language as tl

from kvlib.attention.triton.tile import load_tile


@triton.jit
def read_kernel(output, rows, num_rows, rows_each, DIMS: tl.constexpr, ROWS: tl.constexpr):
    """Sums of the columns of [num_rows, DIMS], a program for each `rows_each` of them: output [programs, DIMS]."""
    program = tl.program_id(0)
    begin = program * rows_each
    end = tl.minimum(begin + rows_each, num_rows)
    dim = tl.arange(0, DIMS)
    total = tl.zeros([ROWS, DIMS], tl.float32)
    for first in range(begin, end, ROWS):
        row = first + tl.arange(0, ROWS)
        place = row.to(tl.int64)[:, None] * DIMS + dim[None, :]
        total += tl.load(rows + place, mask=(row < end)[:, None], other=0).to(tl.float32)
    tl.store(output + program * DIMS + dim, tl.sum(total, 0))


@triton.jit
def read_paged_kernel(
    output,  # [num_seqs, num_kv_heads, num_splits, DIMS] float32
    key_cache,
    value_cache,
    block_tables,
    context_lens,
    split_len,
    table_row,
    key_block,
    key_slot,
    key_head,
    value_block,
    value_slot,
    value_head,
    BLOCK_SIZE: tl.constexpr,
    TOKENS: tl.constexpr,
    DIMS: tl.constexpr,
):
    """Sums of the keys and values of one split, read as the decode kernel reads them."""
    kv_head, sequence = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    split = tl.program_id(2)
    begin = split * split_len
    end = tl.minimum(tl.load(context_lens + sequence), begin + split_len)
    dim = tl.arange(0, DIMS)
    total = tl.zeros([TOKENS, DIMS], tl.float32)
    key_cache += kv_head * key_head
    value_cache += kv_head * value_head
    for first in range(begin, end, TOKENS):
        key, value = load_tile(
            key_cache, value_cache, block_tables + sequence * table_row, first + tl.arange(0, TOKENS), end,
            key_block, key_slot, value_block, value_slot, dim, DIMS, BLOCK_SIZE, tl.float16,
        )  # fmt: skip
        total += key.to(tl.float32) + value.to(tl.float32)
    place = (sequence * tl.num_programs(0) + kv_head) * tl.num_programs(2) + split
    tl.store(output + place * DIMS + dim, tl.sum(total, 0))
