"""Faults of the kernels that write to the cache."""

from kvlib.bench.kernels.fault import Fault

STORING = (
    Fault("ties rounded up", "cache.py", "0x7FFFF + ((size >> 20) & 1)", "0x80000"),
    Fault("fractions cut off", "cache.py", "(size + 0x7FFFF + ((size >> 20) & 1)) >> 20", "size >> 20"),
    Fault(
        "numbers beyond 448 wrap", "cache.py", "tl.minimum(rounded - (120 << 3), 0x7E)", "(rounded - (120 << 3)) & 0x7F"
    ),
    Fault("numbers beyond 448 become NaN", "cache.py", "rounded - (120 << 3), 0x7E)", "rounded - (120 << 3), 0x7F)"),
    Fault("subnormal codes left out", "cache.py", "size < (121 << 23)", "size < 0"),
    Fault("subnormal codes one power too far", "cache.py", "size < (121 << 23)", "size < (122 << 23)"),
    Fault("NaN becomes 448", "cache.py", "size > 0x7F800000", "size > 0x7FFFFFFF"),
    Fault("sign of a number lost", "cache.py", "(sign | code)", "code"),
    Fault(
        "multiplied by the scale",
        "cache.py",
        "tl.div_rn(numbers.to(tl.float32), tl.load(scale + head))",
        "numbers.to(tl.float32) * tl.load(scale + head)",
    ),
    Fault("one scale for all heads", "cache.py", "tl.load(scale + head)", "tl.load(scale)"),
    Fault("-128 stored", "cache.py", "tl.maximum(x, -127.0)", "tl.maximum(x, -128.0)"),
    Fault("numbers beyond 127 wrap", "cache.py", "tl.minimum(tl.maximum(x, -127.0), 127.0)", "tl.maximum(x, -127.0)"),
    Fault(
        "ties of int8 rounded up",
        "cache.py",
        "(x + 12582912.0).to(tl.int32, bitcast=True).to(tl.int8)",
        "tl.floor(x + 0.5).to(tl.int8)",
    ),
    Fault(
        "slots taken to lie side by side",
        "cache.py",
        "slot // BLOCK_SIZE * cache_block + slot % BLOCK_SIZE * cache_slot",
        "slot * cache_slot",
    ),
    Fault("written beyond the head", "cache.py", "numbers, mask=filled)", "numbers, mask=dim >= 0)"),
    Fault("a slot outside the cache written", "cache.py", "(slot < 0) | (slot >= num_slots)", "slot < -1"),
    Fault(
        "slot of 32 bits",
        "cache.py",
        "tl.load(slot_mapping + token).to(tl.int64)",
        "tl.load(slot_mapping + token).to(tl.int32)",
    ),
    Fault(
        "source and target of a copy swapped",
        "cache.py",
        "tl.load(sources + copy).to(tl.int64), tl.load(targets + copy)",
        "tl.load(targets + copy).to(tl.int64), tl.load(sources + copy)",
    ),
    Fault("copied beyond the head", "cache.py", "row, mask=dim < HEAD_SIZE)", "row, mask=dim >= 0)"),
    Fault(
        "block of a copy of 32 bits",
        "cache.py",
        "tl.load(sources + copy).to(tl.int64)",
        "tl.load(sources + copy).to(tl.int32)",
    ),
)
