"""Right answers of another build: one token a turn, and splits one after another."""

import triton
import triton.language as tl


@triton.jit
def token_kernel(
    output, query, key_cache, value_cache, block_tables, context_lens, scale, table_row, slot_row,
    NUM_HEADS: tl.constexpr, GROUP: tl.constexpr, HEAD_SIZE: tl.constexpr, BLOCK_SIZE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    sequence, head = row // NUM_HEADS, row % NUM_HEADS
    dim = tl.arange(0, HEAD_SIZE)
    vector = tl.load(query + row * HEAD_SIZE + dim).to(tl.float32)
    weighted, total, maximum = tl.zeros([HEAD_SIZE], tl.float32), 0.0, -1e30
    for position in range(tl.load(context_lens + sequence)):
        block = tl.load(block_tables + sequence * table_row + position // BLOCK_SIZE)
        at = (block * BLOCK_SIZE + position % BLOCK_SIZE) * slot_row + head // GROUP * HEAD_SIZE + dim
        score = tl.sum(tl.load(key_cache + at).to(tl.float32) * vector, 0) * scale
        if score > maximum:
            rescale = tl.exp(maximum - score)
            weighted, total, maximum = weighted * rescale, total * rescale, score
        weight = tl.exp(score - maximum)
        weighted += weight * tl.load(value_cache + at).to(tl.float32)
        total += weight
    tl.store(output + row * HEAD_SIZE + dim, weighted / tl.maximum(total, 1e-30))


def token_by_token(query, key_cache, value_cache, block_tables, context_lens, scale, output):
    num_seqs, num_heads, head_size = query.shape
    token_kernel[(num_seqs * num_heads,)](
        output, query, key_cache, value_cache, block_tables, context_lens, scale,
        block_tables.stride(0), key_cache.stride(1),
        num_heads, num_heads // key_cache.shape[2], head_size, key_cache.shape[1],
    )  # fmt: skip


@triton.jit
def serial_kernel(output, parts, log_sums, num_splits, HEAD_SIZE: tl.constexpr):
    row, dim = tl.program_id(0), tl.arange(0, HEAD_SIZE)
    combined, log_sum = tl.zeros([HEAD_SIZE], tl.float32), float("-inf")
    for split in range(num_splits):
        other = tl.load(log_sums + row * num_splits + split)
        part = tl.load(parts + (row * num_splits + split) * HEAD_SIZE + dim)
        if other > float("-inf"):
            larger = tl.maximum(log_sum, other)
            before, now = tl.exp(log_sum - larger), tl.exp(other - larger)
            combined = (combined * before + part * now) / (before + now)
            log_sum = larger + tl.log(before + now)
    tl.store(output + row * HEAD_SIZE + dim, combined)


def one_after_another(parts, log_sums, output):
    num_seqs, num_heads, num_splits, head_size = parts.shape
    serial_kernel[(num_seqs * num_heads,)](output, parts, log_sums, num_splits, head_size)
