"""A block manager that writes everything it does to an event log.

A class of its own, so that the plain managers pay nothing for logs that nobody keeps.
"""

from kvlib.errors import BadInput, OutOfBlocks
from kvlib.events import EventLog
from kvlib.memory.manager import BlockManager
from kvlib.memory.pool import BlockPool
from kvlib.memory.swap import SwapBlockManager


class RecordedBlockManager(SwapBlockManager):
    """Behaves as SwapBlockManager does; `log` receives allocate, share, copy, write, free, evict and swap events."""

    def __init__(
        self, num_blocks: int, block_size: int, log: EventLog, *, num_host_blocks: int = 0, watermark: float = 0.0
    ) -> None:
        super().__init__(num_blocks, block_size, num_host_blocks=num_host_blocks, watermark=watermark)
        log.open(num_blocks, block_size)
        self.log = log
        self.pool = _RecordedPool(num_blocks, log)

    def admit(self, seq_id: object, num_tokens: int, keys: list | tuple = ()) -> int:
        """As BlockManager.admit; logs the shared blocks, the new ones and what is written into those."""
        self._check_text(seq_id)
        num_cached = super().admit(seq_id, num_tokens, keys)
        num_hits = num_cached // self.block_size
        self._log_shares(seq_id, num_hits)
        self._log_new(seq_id, num_hits)
        self.log.add("write", seq=seq_id, start=num_cached, stop=num_tokens)
        return num_cached

    def append(self, seq_id: object, num_tokens: int = 1) -> tuple[int, int] | None:
        """As BlockManager.append; logs the copy, the new blocks and what is written."""
        table = self.table(seq_id)
        start, num_old = table.num_tokens, len(table.blocks)
        copy = super().append(seq_id, num_tokens)
        if copy:
            self.log.add("copy", seq=seq_id, index=num_old - 1, source=copy[0], target=copy[1])
        self._log_new(seq_id, num_old)
        self.log.add("write", seq=seq_id, start=start, stop=table.num_tokens)
        return copy

    def append_each(self, seq_ids: list) -> list[tuple[int, int] | None]:
        """As BlockManager.append_each; logs what `append` does for each."""
        return append_in_turn(self, seq_ids)

    def fork(self, parent_id: object, child_id: object, num_blocks: int | None = None) -> None:
        """As BlockManager.fork; logs a share for each block."""
        self._check_text(child_id)
        super().fork(parent_id, child_id, num_blocks)
        self._log_shares(child_id, len(self.table(child_id).blocks))

    def free(self, seq_id: object) -> None:
        """As SwapBlockManager.free; logs a free for each block, the last first, or that the host lets go."""
        if seq_id in self._host_tables:
            self._log_swap(seq_id, "dropped", [], self.host_table(seq_id).blocks)
            return super().free(seq_id)
        blocks = self.table(seq_id).blocks
        super().free(seq_id)
        for block in blocks[::-1]:
            self.log.add("free", seq=seq_id, block=block, count=self.pool.ref_counts[block])

    def swap_out(self, seq_ids: list) -> list[tuple[int, int]]:
        """As SwapBlockManager.swap_out; logs a swap for each sequence."""
        left = {seq_id: self.table(seq_id).blocks for seq_id in seq_ids}
        copies = super().swap_out(seq_ids)
        for seq_id, blocks in left.items():
            self._log_swap(seq_id, "out", blocks, self.host_table(seq_id).blocks)
        return copies

    def swap_in(self, seq_ids: list) -> list[tuple[int, int]]:
        """As SwapBlockManager.swap_in; logs a swap for each sequence."""
        left = {seq_id: self.host_table(seq_id).blocks for seq_id in seq_ids}
        copies = super().swap_in(seq_ids)
        for seq_id, host_blocks in left.items():
            self._log_swap(seq_id, "in", self.table(seq_id).blocks, host_blocks)
        return copies

    def _log_swap(self, seq_id: object, how: str, blocks: list[int], host_blocks: list[int]) -> None:
        self.log.add("swap", seq=seq_id, how=how, blocks=list(blocks), host_blocks=list(host_blocks))

    def _check_text(self, seq_id: object) -> None:
        if not isinstance(seq_id, str):
            raise BadInput(f"the id {seq_id!r:.80} is no text; a log names sequences by texts")

    def _log_shares(self, seq_id: object, stop: int) -> None:
        for index, (block, filled) in enumerate(self.table(seq_id).entries()[:stop]):
            count = self.pool.ref_counts[block]
            self.log.add("share", seq=seq_id, index=index, block=block, count=count, filled=filled)

    def _log_new(self, seq_id: object, start: int) -> None:
        for index, block in enumerate(self.table(seq_id).blocks[start:], start):
            self.log.add("allocate", seq=seq_id, index=index, block=block)


def append_in_turn(manager: BlockManager, seq_ids: list) -> list[tuple[int, int] | None]:
    """`manager.append` for each, up to the first for which no block is left; returns what each returned."""
    copies = []
    for seq_id in seq_ids:
        try:
            copies.append(manager.append(seq_id))
        except OutOfBlocks:
            break
    return copies


class _RecordedPool(BlockPool):
    def __init__(self, num_blocks: int, log: EventLog) -> None:
        super().__init__(num_blocks)
        self.log = log

    def _evict(self, count: int) -> list[int]:
        evicted = super()._evict(count)
        for block in evicted:
            self.log.add("evict", block=block)
        return evicted
