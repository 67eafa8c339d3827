"""A learner's block manager in the place of kvlib's, under the engine's own scheduler, with a log of what it does."""

from collections.abc import Callable
from typing import Any

from kvlib.events import EventLog
from kvlib.grading.exercise import Wrong
from kvlib.memory import BlockManager, BlockTable
from kvlib.memory.recorded import append_in_turn
from kvlib.serving.lab_bench import NUM_SLOTS, Run, rounds, sequences
from kvlib.serving.lab_memories import LabBlocks
from kvlib.serving.scheduler import Scheduler

MOST_ROUNDS = 300  # no memory that gives its blocks back needs a third of them


def serve(
    answer: Callable[[int, int], Any],
    num_sequences: int,
    block_size: int = 4,
    each_round: Callable[[Any], None] = lambda manager: None,
) -> Run:
    """The workload of the lab bench (`kvlib.serving.lab_bench.run`) on the manager that `answer` makes of
    (num_blocks, block_size). `each_round` is called with that manager when a round is stored. Raises Wrong, with how
    many wait, if they wait for ever."""
    log, readings = EventLog(), []
    memory = _Blocks(answer, block_size, log)
    for reading in rounds(memory, sequences(num_sequences), log):
        readings.append(reading)
        each_round(memory.manager.theirs)
        if len(readings) == MOST_ROUNDS:
            waiting = len(memory.scheduler.waiting)
            raise Wrong(f"After {MOST_ROUNDS} rounds {waiting} sequences still wait: blocks have not come back.")
    return Run(log, readings)


class _Blocks(LabBlocks):
    def __init__(self, answer: Callable[[int, int], Any], block_size: int, log: EventLog) -> None:
        self.manager: Driven = Driven(answer, NUM_SLOTS // block_size, block_size, log)  # type: ignore[assignment]
        self.scheduler = Scheduler(self.manager, log=log)
        self._ended = []


class Driven(BlockManager):
    """What the scheduler calls. Every block comes from `theirs`, the learner's manager; `log` receives what it does."""

    def __init__(self, answer: Callable[[int, int], Any], num_blocks: int, block_size: int, log: EventLog) -> None:
        super().__init__(num_blocks, block_size)
        self.theirs = answer(num_blocks, block_size)
        self.log = log
        log.open(num_blocks, block_size)

    @property
    def num_free_blocks(self) -> int:
        """As the learner's pool has it."""
        return self.theirs.pool.num_free

    @property
    def sequences(self) -> list[object]:
        """The ids of the sequences that have a table."""
        return list(self.theirs.tables)

    def __contains__(self, seq_id: object) -> bool:
        """Whether `seq_id` has a table."""
        return seq_id in self.theirs.tables

    def table(self, seq_id: object) -> BlockTable:
        """The table that `theirs` has for `seq_id`."""
        return BlockTable(self.block_size, list(self.theirs.tables[seq_id]), self.theirs.lengths[seq_id])

    def can_admit(self, num_tokens: int, keys: list | tuple = (), *, num_more_blocks: int = 0) -> bool:
        """What `theirs` says."""
        return self.theirs.can_admit(num_tokens + num_more_blocks * self.block_size)

    def admit(self, seq_id: object, num_tokens: int, keys: list | tuple = ()) -> int:
        """Let `theirs` admit; nothing is ever in the cache already."""
        self.theirs.admit(seq_id, num_tokens)
        self._log_new(seq_id, 0, 0)
        return 0

    def can_append(self, seq_ids: list) -> bool:
        """Whether a block is free for each of these whose last is full."""
        return sum(self.table(seq_id).room == 0 for seq_id in seq_ids) <= self.num_free_blocks

    def append(self, seq_id: object, num_tokens: int = 1) -> tuple[int, int] | None:
        """Let `theirs` append."""
        table = self.table(seq_id)
        for _ in range(num_tokens):
            self.theirs.append(seq_id)
        self._log_new(seq_id, len(table.blocks), table.num_tokens)
        return None

    def append_each(self, seq_ids: list) -> list[tuple[int, int] | None]:
        """Append to each in turn, up to the first for which no block is left."""
        return append_in_turn(self, seq_ids)

    def free(self, seq_id: object) -> None:
        """Let `theirs` free."""
        blocks = self.table(seq_id).blocks
        self.theirs.free(seq_id)
        for block in blocks[::-1]:
            self.log.add("free", seq=seq_id, block=block, count=0)

    def _log_new(self, seq_id: object, num_old_blocks: int, num_old_tokens: int) -> None:
        table = self.table(seq_id)
        for index, block in enumerate(table.blocks[num_old_blocks:], num_old_blocks):
            self.log.add("allocate", seq=seq_id, index=index, block=block)
        self.log.add("write", seq=seq_id, start=num_old_tokens, stop=table.num_tokens)
