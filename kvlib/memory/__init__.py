"""Bookkeeping of the KV cache's memory: blocks, tables, sharing. Standard library only, no tensor."""

from kvlib.memory.manager import BlockManager
from kvlib.memory.pool import NULL_BLOCK, BlockPool
from kvlib.memory.prefix import PrefixHasher, PrefixKeys
from kvlib.memory.recorded import RecordedBlockManager
from kvlib.memory.swap import SwapBlockManager
from kvlib.memory.table import BlockTable
from kvlib.memory.window import WindowBlockManager

__all__ = [
    "NULL_BLOCK",
    "BlockManager",
    "BlockPool",
    "BlockTable",
    "PrefixHasher",
    "PrefixKeys",
    "RecordedBlockManager",
    "SwapBlockManager",
    "WindowBlockManager",
]
