"""The first kernel: a block table walked in the plainest way. What the lab begins with and the benchmark compares with.

One program for each sequence and query head, one block of tokens a turn. It is right, and slow for three reasons that
`kvlib.attention.triton.decode` takes away: query heads that share a KV head read its keys and values again, a small
block makes a small tile, and a long context has one program.
"""

import triton
import triton.language as tl


@triton.jit
def naive_kernel(
    output,  # [num_seqs, num_heads, head_size]
    query,  # [num_seqs, num_heads, head_size]
    key_cache,  # [num_blocks, block_size, num_kv_heads, head_size]
    value_cache,
    block_tables,  # [num_seqs, max_blocks]
    context_lens,  # [num_seqs]
    scale,
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
    GROUP: tl.constexpr,
    HEAD_SIZE: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    SLOTS: tl.constexpr,  # BLOCK_SIZE, up to the next power of two
    DIMS: tl.constexpr,  # HEAD_SIZE, up to the next power of two
):
    """Attention of one sequence's new token, one query head."""
    sequence, head = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    kv_head = head // GROUP
    slot, dim = tl.arange(0, SLOTS), tl.arange(0, DIMS)
    context_len = tl.load(context_lens + sequence)
    row = tl.load(query + sequence * query_row + head * query_head + dim, mask=dim < HEAD_SIZE, other=0).to(tl.float32)

    weighted = tl.zeros([DIMS], tl.float32)
    total, maximum = 0.0, float("-inf")
    for logical_block in range(tl.cdiv(context_len, BLOCK_SIZE)):
        # int64, because a block times its stride passes 2^31 when one layer's keys take 4 GiB in fp16.
        physical_block = tl.load(block_tables + sequence * table_row + logical_block).to(tl.int64)
        filled = (slot < BLOCK_SIZE) & (logical_block * BLOCK_SIZE + slot < context_len)
        mask = filled[:, None] & (dim < HEAD_SIZE)[None, :]
        keys = key_cache + physical_block * key_block + slot[:, None] * key_slot + kv_head * key_head + dim[None, :]
        key = tl.load(keys, mask=mask, other=0).to(tl.float32)  # [SLOTS, DIMS]
        values = value_cache + physical_block * value_block + slot[:, None] * value_slot + kv_head * value_head
        value = tl.load(values + dim[None, :], mask=mask, other=0).to(tl.float32)  # [SLOTS, DIMS]

        score = tl.where(filled, tl.sum(key * row[None, :], 1) * scale, float("-inf"))  # [SLOTS]
        new_maximum = tl.maximum(maximum, tl.max(score, 0))
        rescale = tl.exp(maximum - new_maximum)
        weight = tl.exp(score - new_maximum)  # [SLOTS]
        total = total * rescale + tl.sum(weight, 0)
        weighted = weighted * rescale + tl.sum(weight[:, None] * value, 0)
        maximum = new_maximum

    attended = weighted / tl.where(total > 0, total, 1.0)
    place = output + sequence * output_row + head * output_head + dim
    tl.store(place, attended.to(output.dtype.element_ty), mask=dim < HEAD_SIZE)
