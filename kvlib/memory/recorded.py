"""A block manager that writes everything it does to an event log.

A class of its own, so that the plain manager pays nothing for logs that nobody keeps.
"""

from kvlib.events import EventLog
from kvlib.memory.manager import BlockManager
from kvlib.memory.pool import BlockPool


class RecordedBlockManager(BlockManager):
    """Behaves as BlockManager does; `log` receives allocate, share, copy, write, free and evict events."""

    def __init__(self, num_blocks: int, block_size: int, log: EventLog, *, watermark: float = 0.0) -> None:
        super().__init__(num_blocks, block_size, watermark=watermark)
        log.open(num_blocks, block_size)
        self.log = log
        self.pool = _RecordedPool(num_blocks, log)

    def admit(self, seq_id: object, num_tokens: int, keys: list[object] | tuple[()] = ()) -> int:
        """As BlockManager.admit; logs the shared blocks, the new ones and what is written into those."""
        num_cached = super().admit(seq_id, num_tokens, keys)
        num_hits = num_cached // self.block_size
        self._log_shares(seq_id, num_hits)
        self._log_new(seq_id, num_hits)
        self.log.add("write", seq=str(seq_id), start=num_cached, stop=num_tokens)
        return num_cached

    def append(self, seq_id: object, num_tokens: int = 1) -> tuple[int, int] | None:
        """As BlockManager.append; logs the copy, the new blocks and what is written."""
        table = self.table(seq_id)
        start, num_old = table.num_tokens, len(table.blocks)
        copy = super().append(seq_id, num_tokens)
        if copy:
            self.log.add("copy", seq=str(seq_id), index=num_old - 1, source=copy[0], target=copy[1])
        self._log_new(seq_id, num_old)
        self.log.add("write", seq=str(seq_id), start=start, stop=table.num_tokens)
        return copy

    def fork(self, parent_id: object, child_id: object) -> None:
        """As BlockManager.fork; logs a share for each block."""
        super().fork(parent_id, child_id)
        self._log_shares(child_id, len(self.table(child_id).blocks))

    def free(self, seq_id: object) -> None:
        """As BlockManager.free; logs a free for each block, the last first."""
        blocks = self.table(seq_id).blocks
        super().free(seq_id)
        for block in blocks[::-1]:
            self.log.add("free", seq=str(seq_id), block=block, count=self.pool.ref_counts[block])

    def _log_shares(self, seq_id: object, stop: int) -> None:
        for index, (block, filled) in enumerate(self.table(seq_id).entries()[:stop]):
            count = self.pool.ref_counts[block]
            self.log.add("share", seq=str(seq_id), index=index, block=block, count=count, filled=filled)

    def _log_new(self, seq_id: object, start: int) -> None:
        for index, block in enumerate(self.table(seq_id).blocks[start:], start):
            self.log.add("allocate", seq=str(seq_id), index=index, block=block)


class _RecordedPool(BlockPool):
    def __init__(self, num_blocks: int, log: EventLog) -> None:
        super().__init__(num_blocks)
        self.log = log

    def _evict(self) -> int:
        block = super()._evict()
        self.log.add("evict", block=block)
        return block
