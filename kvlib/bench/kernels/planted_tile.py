"""Faults of what decode and prefill share, and of their arguments. In brackets: where others met the fault."""

from kvlib.bench.kernels.fault import Fault

READ_TABLE = "tl.load(block_table + position // BLOCK_SIZE, mask=seen, other=0).to(tl.int64)"
GUARD = 'tl.where(new_maximum == float("-inf"), 0.0, new_maximum)'

TILE = (
    Fault(
        "values of unused slots read (vllm-project/vllm#47305)",
        "tile.py",
        "value_row[:, None] + dim[None, :], mask=mask,",
        "value_row[:, None] + dim[None, :], mask=(mask | (dim < HEAD_SIZE)[None, :]),",
    ),
    Fault(
        "keys of unused slots read",
        "tile.py",
        "key_row[:, None] + dim[None, :], mask=mask,",
        "key_row[:, None] + dim[None, :], mask=(mask | (dim < HEAD_SIZE)[None, :]),",
        "their scores are replaced by -inf, whatever they are",
    ),
    Fault("sum of values not rescaled", "tile.py", "weighted * rescale[:, None] + tl", "weighted + tl"),
    Fault("sum of weights not rescaled", "tile.py", "total * rescale + tl", "total + tl"),
    Fault("old maximum forgotten", "tile.py", "tl.maximum(maximum, tl.max(score, 1))", "tl.max(score, 1)"),
    Fault("-inf less -inf in a tile (vllm-project/vllm#4405)", "tile.py", GUARD, "new_maximum"),
    Fault(
        "0 / 0 for a context of no token (vllm-project/vllm#57017)",
        "tile.py",
        "tl.where(total > 0, total, 1.0)[:, None]",
        "total[:, None]",
    ),
    Fault("blocks taken to have sixteen slots", "tile.py", "position // BLOCK_SIZE", "position // 16"),
    Fault("slot by a mask", "tile.py", "position % BLOCK_SIZE", "position & (BLOCK_SIZE - 1)"),
    Fault(
        "blocks taken to lie side by side (ROCm/aiter#3498)",
        "tile.py",
        "block * key_block",
        "block * (BLOCK_SIZE * key_slot)",
    ),
    Fault(
        "strides of keys taken for those of values",
        "arguments.py",
        "*value_cache.stride()[:3]",
        "*key_cache.stride()[:3]",
    ),
    Fault(
        "block number of 32 bits (vllm-project/vllm#47671)", "tile.py", READ_TABLE, READ_TABLE.replace("int64", "int32")
    ),
    Fault(
        "table read after its end", "tile.py", "position // BLOCK_SIZE, mask=seen, other=0)", "position // BLOCK_SIZE)"
    ),
    Fault("soft cap in units of log2", "tile.py", "tl.exp2(x * (2.0 * LOG2E))", "tl.exp2(x * 2.0)"),
    Fault(
        "soft cap lost near zero", "tile.py", "tl.where(tl.abs(x) < 0.25, series,", "tl.where(tl.abs(x) < 0.25, 0.0,"
    ),
    Fault("soft cap left out", "tile.py", "if SOFTCAP > 0:", "if SOFTCAP < 0:"),
    Fault(
        "scale left out",
        "tile.py",
        'tl.trans(key), input_precision="ieee") * scale',
        'tl.trans(key), input_precision="ieee")',
    ),
    Fault("natural exponents taken for those of 2", "tile.py", "score * LOG2E", "score"),
    Fault("window one too short", "tile.py", "first_query - WINDOW + 1", "first_query - WINDOW + 2"),
    Fault("sign of a code lost", "tile.py", "((bits & 0x80) << 8) | ", ""),
    Fault("fraction of a code lost", "tile.py", "((bits & 0x7F) << 7)", "((bits & 0x78) << 7)"),
    Fault("bias of the exponent left as it is", "tile.py", "bitcast=True) * 256.0", "bitcast=True)"),
    Fault("the code of NaN read as 480", "tile.py", "(bits & 0x7F) == 0x7F", "bits == 0xFFFF"),
)
