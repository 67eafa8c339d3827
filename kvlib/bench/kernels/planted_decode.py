"""Faults of decoding and of combining its splits. In brackets: where others met the fault."""

from kvlib.bench.kernels.fault import Fault

GUARD = 'tl.where(new_maximum == float("-inf"), 0.0, new_maximum)'

DECODE = (
    Fault("scores after the context seen", "decode.py", "(position < end)[None, :]", "(position >= 0)[None, :]"),
    Fault("last token of a split left out", "decode.py", "begin + split_len)\n", "begin + split_len - 1)\n"),
    Fault(
        "each split reads on to the end",
        "decode.py",
        "end = tl.minimum(end, begin + split_len)",
        "end += 0 * split_len",
    ),
    Fault(
        "splits too short for the longest context",
        "tiles.py",
        "triton.cdiv(max(1, max_context_len), num_splits * tokens)",
        "max(1, max_context_len // (num_splits * tokens))",
    ),
    Fault(
        "wrong KV head",
        "decode.py",
        "key_cache += kv_head * key_head",
        "key_cache += (tl.num_programs(0) - 1 - kv_head) * key_head",
    ),
    Fault(
        "query read beyond the head",
        "decode.py",
        "& (dim < HEAD_SIZE)[None, :]\n    query",
        "& (dim >= 0)[None, :]\n    query",
    ),
    Fault(
        "rows of a group spill into the next KV head",
        "decode.py",
        "filled = (row < GROUP)[:, None] &",
        "filled = (row >= 0)[:, None] &",
    ),
    Fault("heads taken to lie side by side", "decode.py", "row[:, None] * query_head", "row[:, None] * HEAD_SIZE"),
    Fault(
        "window one too long",
        "decode.py",
        "context_len - 1, context_len - 1, WINDOW",
        "context_len - 2, context_len - 1, WINDOW",
    ),
    Fault(
        "k_scale ignored (vllm-project/vllm#42580)", "decode.py", "scale *= tl.load(k_scale + kv_head)", "scale *= 1.0"
    ),
    Fault(
        "v_scale ignored (vllm-project/vllm#36914)",
        "decode.py",
        "attended *= tl.load(v_scale + kv_head)",
        "attended *= 1.0",
    ),
    Fault("one k_scale for all heads", "decode.py", "tl.load(k_scale + kv_head)", "tl.load(k_scale)"),
    Fault(
        "row of the query of 32 bits (sgl-project/sglang#20389)",
        "decode.py",
        "token = tl.load(query_start_loc + sequence).to(tl.int64)",
        "token = tl.load(query_start_loc + sequence)",
    ),
    Fault(
        "row s taken for sequence s",
        "decode.py",
        "token = tl.load(query_start_loc + sequence).to(tl.int64)",
        "token = sequence",
    ),
    Fault("sequences without a new token decode too", "decode.py", "!= token + 1:", "< token:"),
    Fault("maximum left out of the sum of a split", "tile.py", "maximum + tl.log2", "0 * maximum + tl.log2"),
    Fault(
        "heads of 32 bits",
        "decode.py",
        "kv_head, sequence = tl.program_id(0).to(tl.int64)",
        "kv_head, sequence = tl.program_id(0)",
    ),
    Fault("-inf less -inf in combining (pegainfer-project/pegainfer#21)", "combine.py", GUARD, "new_maximum"),
    Fault("0 / 0 in combining", "combine.py", "weighted / tl.where(total > 0, total, 1.0)", "weighted / total"),
    Fault(
        "splits combined by number, not by weight",
        "combine.py",
        "weight = tl.exp2(log - shift)",
        "weight = tl.where(log > shift - 1e9, 1.0, 0.0)",
    ),
    Fault("sum of splits not rescaled", "combine.py", "weighted * rescale + tl", "weighted + tl"),
    Fault(
        "splits of other heads combined too",
        "combine.py",
        "mask=split < num_splits, other",
        "mask=split < SPLITS, other",
    ),
    Fault(
        "parts of other heads read under a weight of 0",
        "combine.py",
        "mask = (split < num_splits)[:, None] &",
        "mask = (split >= 0)[:, None] &",
    ),
    Fault("last split left out", "combine.py", "split < num_splits, other", "split < num_splits - 1, other"),
)
