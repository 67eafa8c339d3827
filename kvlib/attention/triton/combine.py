"""The splits of a context put together: the mean of their outputs, each weighted by the sum of its own weights."""

import triton
import triton.language as tl


@triton.jit
def combine_kernel(
    output,  # [num_tokens, num_heads, head_size]
    parts,  # [num_seqs, num_heads, num_splits, head_size] float32, contiguous
    log_sums,  # [num_seqs, num_heads, num_splits] float32, contiguous
    query_start_loc,  # [num_seqs + 1], or None where row s of output belongs to sequence s
    num_splits,
    output_row,
    output_head,
    HEAD_SIZE: tl.constexpr,
    SPLITS: tl.constexpr,  # taken in at once
    DIMS: tl.constexpr,
):
    """One query head of one sequence."""
    head, sequence = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    token = sequence
    if query_start_loc is not None:
        token = tl.load(query_start_loc + sequence).to(tl.int64)
        if tl.load(query_start_loc + sequence + 1) != token + 1:
            return

    first_part = (sequence * tl.num_programs(0) + head) * num_splits
    dim = tl.arange(0, DIMS)
    weighted = tl.zeros([DIMS], tl.float32)
    total, maximum = 0.0, float("-inf")
    for first in range(0, num_splits, SPLITS):
        split = first + tl.arange(0, SPLITS)
        log = tl.load(log_sums + first_part + split, mask=split < num_splits, other=float("-inf"))
        mask = (split < num_splits)[:, None] & (dim < HEAD_SIZE)[None, :]
        part = tl.load(parts + (first_part + split)[:, None] * HEAD_SIZE + dim[None, :], mask=mask, other=0)

        new_maximum = tl.maximum(maximum, tl.max(log, 0))
        shift = tl.where(new_maximum == float("-inf"), 0.0, new_maximum)  # no token in any split so far
        rescale = tl.exp2(maximum - shift)
        weight = tl.exp2(log - shift)
        total = total * rescale + tl.sum(weight, 0)
        weighted = weighted * rescale + tl.sum(part * weight[:, None], 0)
        maximum = new_maximum

    combined = weighted / tl.where(total > 0, total, 1.0)
    output += token * output_row + head * output_head
    tl.store(output + dim, combined.to(output.dtype.element_ty), mask=dim < HEAD_SIZE)
