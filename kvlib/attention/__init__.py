"""Attention over a paged cache: one contract, several backends. Needs torch."""

from kvlib.attention.backends import BACKENDS, attend, attend_batch
from kvlib.attention.batch import Batch
from kvlib.attention.cache import LayerCache, copy_blocks, new_cache, write

__all__ = ["BACKENDS", "Batch", "LayerCache", "attend", "attend_batch", "copy_blocks", "new_cache", "write"]
