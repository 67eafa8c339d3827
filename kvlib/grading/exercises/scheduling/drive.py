"""kvlib's simulation with a learner's scheduler in the place of its own, and a journal of what happens in either."""

from collections.abc import Callable, Iterable
from typing import Any

from kvlib.grading.exercise import Wrong
from kvlib.grading.exercises.scheduling.request import Looks, Request
from kvlib.serving.batch import Batch, SimulatedRequest
from kvlib.serving.cost import IterationCost
from kvlib.serving.counted import CountedBlocks
from kvlib.serving.simulator import Simulation
from kvlib.serving.workload import Arrival

UNLIMITED = 10**9  # requests, and prompt tokens of an iteration: memory is the only limit


class Journal(Batch):
    """A batch that remembers: who `ran` in each iteration, the iteration in which each `began` and `ended`, and how
    many tokens have to be computed again."""

    def __init__(self) -> None:
        super().__init__()
        self.ran: list[tuple[int, ...]] = []  # numbers, the smallest first
        self.began: dict[int, int] = {}
        self.ended: dict[int, int] = {}
        self.num_recomputed = 0

    def start(self, request: SimulatedRequest) -> None:
        """A request joins; only the first time does it begin."""
        super().start(request)
        self.began.setdefault(request.number, self.iteration)

    def preempt_latest(self) -> SimulatedRequest:
        """A request loses what it stored: all its tokens but the newest."""
        request = super().preempt_latest()
        self.num_recomputed += request.num_tokens - 1
        return request

    def end(self) -> list[SimulatedRequest]:
        """The iteration is over."""
        self.ran.append(tuple(sorted(request.number for request in self.running)))
        ended = super().end()
        self.ended.update((request.number, self.iteration) for request in ended)
        return ended


class OneSecond(IterationCost):
    """A cost law by which each iteration takes a second, so that times count iterations."""

    def __init__(self) -> None:
        pass

    def seconds(self, num_seqs: int, num_new_tokens: int, num_kv_tokens: int) -> float:
        """One, whatever is done in it."""
        return 1.0


class Driven(Simulation):
    """A Simulation in which `answer(num_blocks=..., block_size=...)` chooses who runs. It has three methods:
    `add(request)`, `schedule()` -> the list of those who run in this iteration, `finish(request)`.

    `step` raises Wrong, in words, where the list is none, names somebody who has ended, or does not fit, and
    EndlessLoop where `schedule` looks at its requests and does not come back.
    """

    batch: Journal

    def __init__(
        self,
        answer: Callable[..., Any],
        arrivals: Iterable[Arrival],
        memory: CountedBlocks,
        cost: IterationCost,
        until_s: float | None = None,
    ) -> None:
        super().__init__(arrivals, memory, cost, max_num_seqs=UNLIMITED, max_prompt_tokens=UNLIMITED, until_s=until_s)
        self.batch = Journal()
        self.scheduler = answer(num_blocks=memory.num_blocks, block_size=memory.block_size)
        self._num_blocks, self._block_size = memory.num_blocks, memory.block_size
        self._seen: dict[int, Request] = {}  # those that have come and not ended
        self._looks = Looks()
        self._joining: list[SimulatedRequest] = []

    def step(self) -> bool:
        """One iteration; False where none is left."""
        if not super().step():
            return False
        for number in self.batch.ran[-1]:
            self._seen[number].write()
            if number in self.batch.ended:
                self.scheduler.finish(self._seen.pop(number))
        return True

    def _receive(self, request: SimulatedRequest) -> None:
        super()._receive(request)
        self._seen[request.number] = Request(request.number, request.num_tokens, self._looks)
        self.scheduler.add(self._seen[request.number])

    def _make_room(self) -> None:
        chosen = self._chosen()
        running = {request.number: request for request in self.batch.running}
        for request in [running[number] for number in running if number not in chosen]:
            self.batch.running.move_to_end(request)
            self.memory.free(self.batch.preempt_latest(), request.num_tokens - 1)
            self.queue.append(request)
            self.metrics.add_preempted(is_first=not request.preempted)
            request.preempted = True
        joining = [number for number in chosen if number not in running]
        waiting = {request.number: request for request in self.queue} if joining else {}
        self._joining = [waiting[number] for number in joining]

    def _admit(self) -> int:
        for request in self._joining:
            self.queue.remove(request)
            self.batch.start(request)
            self.memory.admit(request)
        return sum(request.num_tokens for request in self._joining)

    def _chosen(self) -> list[int]:
        """The numbers of those who run in this iteration."""
        self._looks.count = 0
        iteration, chosen = f"In iteration {self.batch.iteration}, ", self.scheduler.schedule()
        if not isinstance(chosen, list | tuple) or not all(isinstance(each, Request) for each in chosen):
            raise Wrong(f"schedule() returned {chosen!r:.60}. It returns a list of requests: those that run.")
        numbers = [request.number for request in chosen]
        if strangers := sorted(set(numbers) - set(self._seen)):
            raise Wrong(f"{iteration}request {strangers[0]} runs and has ended. finish(request) tells you who has.")
        if len(set(numbers)) < len(numbers):
            raise Wrong(f"{iteration}one request is twice in your list; the numbers are {numbers}.")
        if not numbers and self.batch.running:
            raise Wrong(f"{iteration}your list is empty. It names also those who ran and have not ended.")
        if not numbers:
            raise Wrong(f"{iteration}nobody runs, though {len(self._seen)} wait and the whole memory is free.")
        wanted = sum(-(-self._seen[number].num_tokens // self._block_size) for number in numbers)
        if wanted > self._num_blocks:
            raise Wrong(
                f"{iteration}the tokens of the {len(chosen)} who run take {wanted} blocks, and there are "
                f"{self._num_blocks}. The newest token of each needs its slot too."
            )
        return numbers


def played(answer: Callable[..., Any], arrivals: list[Arrival], num_blocks: int, block_size: int) -> Journal:
    """What happens when `answer` schedules `arrivals`, an iteration a second."""
    driven = Driven(answer, arrivals, CountedBlocks(num_blocks, block_size, watermark=0), OneSecond())
    while driven.step():
        pass
    return driven.batch


def ours(arrivals: list[Arrival], num_blocks: int, block_size: int, watermark: float = 0) -> Journal:
    """What happens under kvlib's own rules."""
    memory = CountedBlocks(num_blocks, block_size, watermark=watermark)
    simulation = Simulation(arrivals, memory, OneSecond(), max_num_seqs=UNLIMITED, max_prompt_tokens=UNLIMITED)
    simulation.batch = journal = Journal()
    while simulation.step():
        pass
    return journal
