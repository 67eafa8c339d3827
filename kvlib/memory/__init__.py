"""Bookkeeping of the KV cache's memory: blocks, tables, sharing. Standard library only, no tensor."""

from kvlib.memory.manager import BlockManager
from kvlib.memory.pool import NULL_BLOCK, BlockPool
from kvlib.memory.recorded import RecordedBlockManager
from kvlib.memory.table import BlockTable

__all__ = ["NULL_BLOCK", "BlockManager", "BlockPool", "BlockTable", "RecordedBlockManager"]
