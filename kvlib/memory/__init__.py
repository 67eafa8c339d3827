"""Bookkeeping of the KV cache's memory: blocks, tables, sharing. Standard library only, no tensor."""

from kvlib.memory.contiguous import ContiguousManager, Max, Oracle, Pow2
from kvlib.memory.manager import BlockManager
from kvlib.memory.pages import PageKeys, Pages
from kvlib.memory.pool import NULL_BLOCK, BlockPool
from kvlib.memory.prefix import PrefixHasher, PrefixKeys
from kvlib.memory.radix import RadixCache
from kvlib.memory.radix_manager import RadixManager
from kvlib.memory.recorded import RecordedBlockManager
from kvlib.memory.recorded_contiguous import RecordedContiguousManager
from kvlib.memory.swap import SwapBlockManager
from kvlib.memory.table import BlockTable
from kvlib.memory.window import WindowBlockManager

__all__ = [
    "NULL_BLOCK",
    "BlockManager",
    "BlockPool",
    "BlockTable",
    "ContiguousManager",
    "Max",
    "Oracle",
    "PageKeys",
    "Pages",
    "Pow2",
    "PrefixHasher",
    "PrefixKeys",
    "RadixCache",
    "RadixManager",
    "RecordedBlockManager",
    "RecordedContiguousManager",
    "SwapBlockManager",
    "WindowBlockManager",
]
