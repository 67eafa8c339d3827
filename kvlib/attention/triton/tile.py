"""What the decode and the prefill kernel share: where tokens lie, what stored codes stand for, one step of the softmax.

A tile is a run of consecutive positions of one sequence. Its tokens are looked up one by one, so a tile may begin and
end inside a block, and the size of a block is free.
"""

import triton
import triton.language as tl

LOG2E: tl.constexpr = tl.constexpr(1.4426950408889634)


@triton.jit
def visible_range(context_len, first_query, last_query, WINDOW: tl.constexpr):
    """The positions that queries at positions first_query to last_query see between them: from, up to."""
    begin = tl.maximum(first_query - WINDOW + 1, 0) if WINDOW > 0 else 0
    return begin, tl.minimum(context_len, last_query + 1)


@triton.jit
def load_tile(
    key_cache,  # of one KV head
    value_cache,
    block_table,
    position,  # [TOKENS]
    end,
    key_block,
    key_slot,
    value_block,
    value_slot,
    dim,  # [DIMS]
    HEAD_SIZE: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    DTYPE: tl.constexpr,
):
    """Keys and values [TOKENS, DIMS] of the positions before `end`, in DTYPE; zeros at and after it.

    What an unused slot holds, NaN perhaps, must not come in even under a weight of 0: 0 * NaN is NaN.
    """
    seen = position < end
    # int64, because a block times its stride passes 2^31 when one layer's keys take 4 GiB in fp16.
    block = tl.load(block_table + position // BLOCK_SIZE, mask=seen, other=0).to(tl.int64)
    slot = position % BLOCK_SIZE
    key_row = block * key_block + slot * key_slot
    value_row = block * value_block + slot * value_slot
    mask = seen[:, None] & (dim < HEAD_SIZE)[None, :]
    key = tl.load(key_cache + key_row[:, None] + dim[None, :], mask=mask, other=0.0)
    value = tl.load(value_cache + value_row[:, None] + dim[None, :], mask=mask, other=0.0)
    return decode_codes(key, DTYPE), decode_codes(value, DTYPE)


@triton.jit
def decode_codes(codes, DTYPE: tl.constexpr):
    """The numbers that stored codes stand for, before the scale of their head; uint8 holds the bits of e4m3.

    e4m3 and float16 differ in the width and the bias of the exponent: shifted by 7 bits a code is a float16 that is
    256 times too small, subnormal codes too. The one code that is no number becomes NaN.
    """
    if codes.dtype == tl.uint8:
        bits = codes.to(tl.uint16)
        half = ((bits & 0x80) << 8) | ((bits & 0x7F) << 7)
        numbers = half.to(tl.float16, bitcast=True) * 256.0
        return tl.where((bits & 0x7F) == 0x7F, float("nan"), numbers).to(DTYPE)
    else:
        return codes.to(DTYPE)


@triton.jit
def attend_tile(query, key, value, visible, scale, SOFTCAP: tl.constexpr, weighted, total, maximum):
    """One tile of the softmax in pieces: `weighted`, `total` and `maximum` with the tile's tokens taken in.

    query [ROWS, DIMS], key and value [TOKENS, DIMS], visible [ROWS, TOKENS]. weighted [ROWS, DIMS]: the values times
    exp2(score - maximum), summed. total [ROWS]: the sum of these weights. maximum [ROWS]: the largest score so far,
    -inf before the first visible token. Scores are in units of log2, as exp2 is what the hardware has.
    Milakov and Gimelshein, arXiv 1805.02867; Dao et al., arXiv 2205.14135.
    """
    score = tl.dot(query, tl.trans(key), input_precision="ieee") * scale
    if SOFTCAP > 0:
        score = SOFTCAP * tanh(score / SOFTCAP)
    score = tl.where(visible, score * LOG2E, float("-inf"))

    new_maximum = tl.maximum(maximum, tl.max(score, 1))
    # A row that has seen nothing yet has the maximum -inf, and -inf - -inf is NaN.
    shift = tl.where(new_maximum == float("-inf"), 0.0, new_maximum)
    rescale = tl.exp2(maximum - shift)
    weight = tl.exp2(score - shift[:, None])
    total = total * rescale + tl.sum(weight, 1)
    weighted = weighted * rescale[:, None] + tl.dot(weight.to(value.dtype), value, input_precision="ieee")
    return weighted, total, new_maximum


@triton.jit
def tanh(x):
    """By exp2, which runs everywhere; near zero by a series, since there 1 less nearly 1 would lose what counts."""
    square = x * x
    series = x * (1.0 + square * (-1.0 / 3.0 + square * (2.0 / 15.0 - square * (17.0 / 315.0))))
    return tl.where(tl.abs(x) < 0.25, series, 1.0 - 2.0 / (tl.exp2(x * (2.0 * LOG2E)) + 1.0))


@triton.jit
def log_sum(total, maximum):
    """log2 of the sum of exp2 of all scores; -inf where there was none."""
    return tl.where(total > 0, maximum + tl.log2(tl.where(total > 0, total, 1.0)), float("-inf"))


@triton.jit
def mean(weighted, total):
    """The weighted mean of the values, zero for a row that saw nothing."""
    return weighted / tl.where(total > 0, total, 1.0)[:, None]
