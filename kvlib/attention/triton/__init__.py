"""Paged attention as Triton kernels, for an NVIDIA GPU or Triton's interpreter. Needs torch and triton.

Read them in this order: `naive`, `tile`, `decode`, `combine`, `prefill`, `cache`.
"""

from kvlib.errors import MissingPackage

try:
    import triton  # noqa: F401
except ImportError as error:
    raise MissingPackage(
        f"kvlib.attention.triton needs triton ({error}), which has builds for Linux only; there, run: pip install "
        '"triton>=3.6,<3.10", or take backend "gather"'
    ) from error

from kvlib.attention.triton.device import INTERPRETED, Device, check_interpreter, device_of
from kvlib.attention.triton.launch import naive, paged_decode, paged_prefill
from kvlib.attention.triton.storing import copy_blocks, write_cache
from kvlib.attention.triton.tiles import Tiles
from kvlib.attention.triton.workspace import Workspace

check_interpreter()

__all__ = [
    "INTERPRETED",
    "Device",
    "Tiles",
    "Workspace",
    "copy_blocks",
    "device_of",
    "naive",
    "paged_decode",
    "paged_prefill",
    "write_cache",
]
