"""A learner's policy and buddy allocator in the place of kvlib's, in a small memory with a log and in the simulator."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from kvlib.bench.server import server_cost, server_memory
from kvlib.errors import OutOfBlocks
from kvlib.events import EventLog
from kvlib.grading.exercise import Wrong
from kvlib.grading.exercises.reservations.kinds import Chunk, chunks_in_use
from kvlib.memory import ContiguousManager, RecordedContiguousManager
from kvlib.memory.allocator import Allocator
from kvlib.memory.buddy import next_power_of_two
from kvlib.memory.reservation import Policy
from kvlib.serving.lengths import sharegpt
from kvlib.serving.metrics import Result
from kvlib.serving.reserved import Reservations
from kvlib.serving.simulator import simulate
from kvlib.serving.workload import all_at_once, poisson

Reserve = Callable[[str, int, int, int], int]
HOUR = 3600  # seconds
KINDS = ("stored", "reserved", "internal", "external")


class Answered(Policy):
    """The policy `name` as the function `reserve` has it."""

    def __init__(self, name: str, longest: int, reserve: Reserve) -> None:
        super().__init__(longest)
        self.name = name
        self._answer = reserve

    def _reserve(self, num_prompt_tokens: int, num_output_tokens: int) -> int:
        return self._answer(self.name, num_prompt_tokens, num_output_tokens, self.longest)


def allocator_of(buddy: Callable[[int], Any]) -> type[Allocator]:
    """An allocator, as kvlib's managers use them, whose chunks are cut by what `buddy` makes of a number of slots."""

    class Buddies(Allocator):
        def __init__(self, num_slots: int) -> None:
            super().__init__(num_slots)
            self._theirs = buddy(num_slots)
            self.largest_chunk = self.largest_free

        @property
        def free_chunks(self) -> list[tuple[int, int]]:
            return sorted((start, size) for size, start in self._theirs.free)

        def chunk_size(self, size: int) -> int:
            return next_power_of_two(size)

        def _gaps(self) -> list[tuple[int, int]]:
            return [(size, 1) for size, _ in self._theirs.free]

        def _take(self, slots: int) -> int | None:
            try:
                return self._theirs.take(slots)
            except OutOfBlocks:
                return None

        def _give_back(self, start: int, slots: int) -> None:
            self._theirs.give_back(start)

    return Buddies


def recorded(
    requests: Mapping[str, tuple[int, int]],
    policy: str,
    reserve: Reserve,
    buddy: Callable[[int], Any],
    *,
    num_slots: int = 96,
    longest: int = 32,
) -> EventLog:
    """The log of a small memory in which `requests`, by name (prompt, output) tokens, are served to their ends."""
    log = EventLog()
    manager = RecordedContiguousManager(num_slots, Answered(policy, longest, reserve), log, allocator_of(buddy))
    queue = list(requests)
    for name in queue:
        log.add("arrive", seq=name)
    while queue or manager.sequences:
        log.next_step()
        for seq in manager.sequences:
            if manager.split_of(seq).reserved == 0:
                manager.free(seq)
                log.add("finish", seq=seq, reason="length")
        while queue and manager.can_admit(*requests[queue[0]]):
            manager.admit(queue[0], *requests[queue.pop(0)])
        if queue:
            _check_somebody_runs(manager)
            manager.refuse(queue[0], *requests[queue[0]])
        if manager.sequences:
            manager.tick()
    return log


def waiting_states(
    requests: Iterable[tuple[int, int]],
    policy: str,
    reserve: Reserve,
    buddy: Callable[[int], Any],
    *,
    num_slots: int = 96,
    longest: int = 32,
) -> Iterator[tuple[list[Chunk], list[int], int]]:
    """Each iteration of a small memory while somebody waits: its chunks, the sizes of its gaps, the size wanted.

    `requests` are (prompt, output) tokens, all waiting from the start.
    """
    manager = ContiguousManager(num_slots, Answered(policy, longest, reserve), allocator_of(buddy))
    queue = list(enumerate(requests))
    while True:
        for seq in manager.sequences:
            if manager.split_of(seq).reserved == 0:
                manager.free(seq)
        while queue and manager.can_admit(*queue[0][1]):
            seq, lengths = queue.pop(0)
            manager.admit(seq, *lengths)
        if not queue:
            return
        _check_somebody_runs(manager)
        wanted = manager.allocator.chunk_size(manager.policy.reserve(*queue[0][1]))
        yield chunks_in_use(manager), [size for _, size in manager.allocator.free_chunks], wanted
        manager.tick()


def _check_somebody_runs(manager: ContiguousManager) -> None:
    if not manager.sequences:
        raise Wrong("Nobody runs and the first in the queue finds no chunk: chunks have not come back, or not whole.")


def hour(policy: str, reserve: Reserve, buddy: Callable[[int], Any]) -> Result:
    """An hour of the paper's server (OPT-13B, ShareGPT's lengths, two requests a second), simulated with one seed."""
    slots, longest = server_memory(policy).num_slots, 2048
    memory = Reservations(slots, Answered(policy, longest, reserve), allocator_of(buddy))
    arrivals = poisson(sharegpt(seed=0), 2, 0, duration_s=HOUR)
    return simulate(arrivals, memory, server_cost(policy), until_s=HOUR)


def paged_hour(block_size: int = 16) -> Result:
    """The same hour with blocks."""
    arrivals = poisson(sharegpt(seed=0), 2, 0, duration_s=HOUR)
    memory = server_memory("paged", block_size=block_size)
    return simulate(arrivals, memory, server_cost("paged"), until_s=HOUR)


def full_memory(block_size: int) -> Result:
    """Blocks while everybody waits from the start, so that memory is the only limit."""
    waiting = all_at_once(sharegpt(seed=0), 1500)
    memory = server_memory("paged", block_size=block_size)
    return simulate(waiting, memory, server_cost("paged"), until_s=600)


def shares(result: Result) -> dict[str, float]:
    """What the slots were used for on average, in per cent of all."""
    return {kind: 100 * getattr(result, kind) for kind in KINDS}
