"""Faults of the prefill kernel and of the first kernel. In brackets: where others met the fault."""

from kvlib.bench.kernels.fault import Fault

PREFILL = (
    Fault(
        "a token does not see itself",
        "prefill.py",
        "position[None, :] <= query_position",
        "position[None, :] < query_position",
    ),
    Fault(
        "a token sees the next",
        "prefill.py",
        "position[None, :] <= query_position",
        "position[None, :] <= 1 + query_position",
    ),
    Fault(
        "positions of a chunk counted from its start",
        "prefill.py",
        "computed = context_len - num_queries",
        "computed = context_len * 0",
    ),
    Fault(
        "window of a chunk one too long",
        "prefill.py",
        "> query_position[:, None] - WINDOW",
        ">= query_position[:, None] - WINDOW",
    ),
    Fault(
        "window begins with the last token of a tile",
        "prefill.py",
        "computed + first_query, computed",
        "computed + last_query, computed",
    ),
    Fault(
        "wrong KV head in a chunk",
        "prefill.py",
        "value_cache += kv_head * value_head",
        "value_cache += (tl.num_programs(0) - 1 - kv_head) * value_head",
    ),
    Fault("rows after the last token of a sequence used", "prefill.py", " & (nth_query < num_queries)", ""),
    Fault("rows that make no whole group used", "prefill.py", "(row < tokens_in_tile * GROUP) & ", ""),
    Fault(
        "row of a chunk of 32 bits (sgl-project/sglang#20389)",
        "prefill.py",
        "(first_token + nth_query).to(tl.int64)",
        "first_token + nth_query",
    ),
    Fault(
        "heads of a chunk of 32 bits",
        "prefill.py",
        "kv_head, sequence = tl.program_id(0).to(tl.int64)",
        "kv_head, sequence = tl.program_id(0)",
    ),
    Fault(
        "last token of a tile sees no further than the first",
        "prefill.py",
        "tl.minimum(first_query + tokens_in_tile, num_queries) - 1",
        "first_query",
    ),
    Fault("k_scale ignored in a chunk", "prefill.py", "scale *= tl.load(k_scale + kv_head)", "scale *= 1.0"),
    Fault("v_scale ignored in a chunk", "prefill.py", "attended *= tl.load(v_scale + kv_head)", "attended *= 1.0"),
    Fault(
        "decode rows computed by the prefill kernel too",
        "prefill.py",
        "(num_queries < least_queries) | ",
        "",
        "the same numbers are written twice",
    ),
)

NAIVE = (
    Fault("first kernel: slots after the block read", "naive.py", "(slot < BLOCK_SIZE) & ", ""),
    Fault(
        "first kernel: last block read to its end",
        "naive.py",
        " & (logical_block * BLOCK_SIZE + slot < context_len)",
        "",
    ),
    Fault("first kernel: wrong KV head", "naive.py", "head // GROUP", "head % (tl.num_programs(1) // GROUP)"),
    Fault("first kernel: not rescaled", "naive.py", "weighted * rescale + tl", "weighted + tl"),
    Fault("first kernel: 0 / 0", "naive.py", "tl.where(total > 0, total, 1.0)", "total"),
    Fault("first kernel: block number of 32 bits", "naive.py", "+ logical_block).to(tl.int64)", "+ logical_block)"),
)
