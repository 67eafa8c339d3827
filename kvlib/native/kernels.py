"""The functions of kernels.c as ctypes calls them: pointers are addresses, and the last argument counts threads."""

import ctypes
from ctypes import POINTER, c_float, c_int, c_int64, c_void_p


class Paged(ctypes.Structure):
    """One layer's cache as query rows read it: addresses, and strides in floats, the same for keys and values.

    Row r sees lens[r] tokens, in the blocks that blocks[tables[r]] and following name; these three are int64. There are
    `heads` KV heads, each read by `group` query heads; `size`, of a head, is a multiple of the library's `lanes`.
    """

    _fields_ = (
        *((name, c_void_p) for name in ("key", "value", "blocks", "tables", "lens")),
        *((name, c_int64) for name in ("block_step", "slot_step", "head_step", "block_size", "heads", "group", "size")),
        ("scale", c_float),
    )


def declare(library: ctypes.CDLL) -> ctypes.CDLL:
    """`library` with the types of its arguments."""
    library.linear.argtypes = [c_void_p] * 4 + [c_int64] * 3 + [c_int]
    library.linear.restype = None
    library.attend.argtypes = [c_void_p] * 2 + [POINTER(Paged), c_int64, c_int]
    library.attend.restype = None
    return library


def constant(library: ctypes.CDLL, name: str) -> int:
    """A number that the compiled code was made for: `lanes` or `panel_width`, in floats."""
    return c_int.in_dll(library, name).value
