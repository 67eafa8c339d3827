"""Attention over a paged cache: one contract, several backends. Needs torch."""

import os

# OpenMP reads this when torch is loaded. Threads that wait by spinning hold each other up where cores are shared:
# the same answer took 48 s instead of 3 s on two cores with other work.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from kvlib.errors import MissingPackage

try:
    import torch  # noqa: F401
except ImportError as error:
    raise MissingPackage(f'kvlib.attention needs torch ({error}); in the clone, run: pip install ".[torch]"') from error

from kvlib.attention.backends import BACKENDS, attend, attend_batch
from kvlib.attention.batch import Batch
from kvlib.attention.cache import LayerCache, new_cache
from kvlib.attention.copying import copy_blocks, swap_blocks
from kvlib.attention.writing import write

__all__ = [
    "BACKENDS",
    "Batch",
    "LayerCache",
    "attend",
    "attend_batch",
    "copy_blocks",
    "new_cache",
    "swap_blocks",
    "write",
]
