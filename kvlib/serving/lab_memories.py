"""The two memories of the lab bench, with who waits for them: blocks under the engine's scheduler, and rows.

Both do a round in two halves, so that it can be read between them: `write` stores, `end` lets go. `num_tokens` are all
that a sequence stores; the mark of its end, which it writes last, is never read and has no slot.
"""

from kvlib.events import EventLog
from kvlib.memory import Max, RecordedBlockManager, RecordedContiguousManager
from kvlib.memory.first_fit import FirstFitAllocator
from kvlib.serving.request import Request
from kvlib.serving.scheduler import Scheduler


class LabBlocks:
    """Paged memory of `num_slots` slots; a sequence that yields is computed again when it returns."""

    def __init__(self, num_slots: int, block_size: int, log: EventLog) -> None:
        self.manager = RecordedBlockManager(num_slots // block_size, block_size, log)
        self.scheduler = Scheduler(self.manager, log=log)
        self._ended: list[Request] = []

    def is_busy(self) -> bool:
        """Whether somebody waits or holds memory."""
        return self.scheduler.has_unfinished()

    def add(self, name: str, num_prompt_tokens: int, num_tokens: int) -> None:
        """A sequence has come and waits."""
        self.scheduler.add(Request(name, num_prompt_tokens, num_tokens - num_prompt_tokens + 1))

    def write(self) -> None:
        """Store a token of everybody who runs, and the known ones of everybody who is let in."""
        step = self.scheduler.schedule()
        self.scheduler.computed(step)
        for work in step.prefills + step.decodes:
            work.sequence.append()
            if not work.request.growing:
                self._ended.append(work.request)

    def num_stored(self) -> int:
        """Slots that hold tokens."""
        return sum(self.manager.table(name).num_tokens for name in self.manager.sequences)

    def num_held(self) -> int:
        """Slots of all blocks that are handed out."""
        return (self.manager.pool.num_blocks - self.manager.num_free_blocks) * self.manager.block_size

    def end(self) -> None:
        """Take the memory of those back that have stored all their tokens."""
        for request in self._ended:
            self.scheduler.finish(request, "stop")
        self._ended.clear()


class LabRows:
    """Contiguous memory of `num_slots` slots: a row of `longest` each, in the first gap that is large enough."""

    def __init__(self, num_slots: int, longest: int, log: EventLog) -> None:
        self.manager = RecordedContiguousManager(num_slots, Max(longest), log, FirstFitAllocator)
        self.log = log
        self._waiting: list[tuple[str, int, int]] = []  # with how many tokens are given, and how many to come

    def is_busy(self) -> bool:
        """Whether somebody waits or holds memory."""
        return bool(self._waiting or self.manager.sequences)

    def add(self, name: str, num_prompt_tokens: int, num_tokens: int) -> None:
        """A sequence has come and waits."""
        self._waiting.append((name, num_prompt_tokens, num_tokens - num_prompt_tokens))
        self.log.add("arrive", seq=name)

    def write(self) -> None:
        """Store a token of everybody who runs, and the prompt of everybody who is let in."""
        self.log.next_step()
        self.manager.tick()
        while self._waiting and self.manager.can_admit(*self._waiting[0][1:]):
            self.manager.admit(*self._waiting.pop(0))
        if self._waiting:
            self.manager.refuse(*self._waiting[0])

    def num_stored(self) -> int:
        """Slots that hold tokens."""
        return self.manager.split().stored

    def num_held(self) -> int:
        """Slots of all rows that are reserved."""
        return self.manager.allocator.num_slots - self.manager.allocator.num_free

    def end(self) -> None:
        """Take the rows of those back that have stored all their tokens."""
        for name in self.manager.sequences:
            if self.manager.split_of(name).reserved == 0:
                self.manager.free(name)
                self.log.add("finish", seq=name, reason="stop")
