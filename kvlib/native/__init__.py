"""C code for the CPU, compiled on first use with the machine's own compiler. Standard library only.

`kernels.c` holds a float32 product and attention that reads the paged cache in place. Where it cannot be had, what
uses it has another form in torch.
"""

import ctypes
import os
from functools import lru_cache

from kvlib.errors import BadConfig
from kvlib.native.build import compiled
from kvlib.native.kernels import declare

SWITCH = "KVLIB_NATIVE"


def library() -> ctypes.CDLL | None:
    """The compiled kernels, or None where they cannot be had or the environment variable KVLIB_NATIVE is 0.

    The first call may compile, which takes about a second; later processes find the library in the user's cache
    folder. What kept it from being had does not change within a process.
    """
    return None if _is_off() else _built()[0]


def why_not() -> str:
    """Why `library` returns None, in words, with what to do; empty where it returns the kernels."""
    if _is_off():
        return f"the environment variable {SWITCH} is 0; unset it"
    return _built()[1]


def _is_off() -> bool:
    return os.environ.get(SWITCH) == "0"


@lru_cache(maxsize=1)
def _built() -> tuple[ctypes.CDLL | None, str]:
    try:
        return declare(compiled()), ""
    except BadConfig as error:
        return None, str(error)
