"""New keys and values into their slots, and blocks copied for copy-on-write; quantised on the way in where need be."""

import triton
import triton.language as tl


@triton.jit
def write_kernel(
    source,  # [num_tokens, num_kv_heads, head_size]
    cache,  # [num_blocks, block_size, num_kv_heads, head_size]; uint8 takes the codes of e4m3
    slot_mapping,  # [num_tokens]: block * block_size + offset
    scale,  # [num_kv_heads] float32, or None
    num_slots,
    source_row,  # from here on strides, in elements
    source_head,
    cache_block,
    cache_slot,
    cache_head,
    HEAD_SIZE: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    DIMS: tl.constexpr,
):
    """One KV head of one token. A slot outside the cache is left out, so that no other memory is ever written."""
    token, head = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    slot = tl.load(slot_mapping + token).to(tl.int64)
    if (slot < 0) | (slot >= num_slots):
        return
    dim = tl.arange(0, DIMS)
    filled = dim < HEAD_SIZE
    numbers = tl.load(source + token * source_row + head * source_head + dim, mask=filled, other=0)
    if scale is not None:
        # div_rn, because the plain division of a GPU is not the nearest number, and a tie would fall elsewhere.
        scaled = tl.div_rn(numbers.to(tl.float32), tl.load(scale + head))
        numbers = e4m3_codes(scaled) if cache.dtype.element_ty == tl.uint8 else int8_codes(scaled)
    place = cache + slot // BLOCK_SIZE * cache_block + slot % BLOCK_SIZE * cache_slot + head * cache_head
    tl.store(place + dim, numbers, mask=filled)


@triton.jit
def e4m3_codes(x):
    """The e4m3 codes, uint8, nearest to float32 x: ties to even, beyond 448 the code of 448, NaN the code of NaN.

    By integers, because converting is rounded otherwise on devices that lack e4m3 and in the interpreter.
    Micikevicius et al., arXiv 2209.05433, section 3.
    """
    bits = x.to(tl.int32, bitcast=True)
    sign = (bits >> 24) & 0x80
    size = bits & 0x7FFFFFFF
    # 3 of 23 bits of fraction stay: half of what goes is added first, less a little where the last that stays is even.
    rounded = (size + 0x7FFFF + ((size >> 20) & 1)) >> 20
    normal = tl.minimum(rounded - (120 << 3), 0x7E)  # the bias of the exponent is 7 in place of 127
    # Below 2**-6 codes are 2**-9 apart, as float32 numbers are from 2**14 on: adding that rounds.
    small = (size.to(tl.float32, bitcast=True) + 16384.0).to(tl.int32, bitcast=True) & 0xF
    code = tl.where(size < (121 << 23), small, normal)
    code = tl.where(size > 0x7F800000, 0x7F, code)
    return (sign | code).to(tl.uint8)


@triton.jit
def int8_codes(x):
    """The int8 numbers nearest to float32 x: ties to even, from -127 to 127. What is no number becomes 0."""
    x = tl.where(x == x, tl.minimum(tl.maximum(x, -127.0), 127.0), 0.0)
    # Whole numbers are 1 apart from 2**23 on: adding 1.5 * 2**23 rounds, and the low byte is the number.
    return (x + 12582912.0).to(tl.int32, bitcast=True).to(tl.int8)


@triton.jit
def copy_kernel(
    cache,  # [num_blocks, block_size, num_kv_heads, head_size]
    sources,  # [num_copies]: physical blocks
    targets,  # [num_copies]: physical blocks, none of them twice and none of them a source
    cache_block,  # from here on strides, in elements
    cache_slot,
    cache_head,
    HEAD_SIZE: tl.constexpr,
    DIMS: tl.constexpr,
):
    """One slot and one KV head of one block."""
    copy, slot, head = tl.program_id(0), tl.program_id(1).to(tl.int64), tl.program_id(2).to(tl.int64)
    dim = tl.arange(0, DIMS)
    place = cache + slot * cache_slot + head * cache_head + dim
    source, target = tl.load(sources + copy).to(tl.int64), tl.load(targets + copy).to(tl.int64)
    row = tl.load(place + source * cache_block, mask=dim < HEAD_SIZE)
    tl.store(place + target * cache_block, row, mask=dim < HEAD_SIZE)
