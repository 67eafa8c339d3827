"""The two exercises of lab 7 that run: a scheduler of the learner's own, and who it lets in while others grow."""

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

from kvlib.chance import Chance
from kvlib.grading.exercise import Score, Seen, Wrong
from kvlib.grading.exercises.scheduling_drive import UNLIMITED, Journal, OneSecond, ours, played
from kvlib.grading.raised import uncallable
from kvlib.serving.batch import SimulatedRequest
from kvlib.serving.counted import CountedBlocks
from kvlib.serving.simulator import Simulation
from kvlib.serving.workload import Arrival

METHODS = ("add", "schedule", "finish")
ALLOWED = 1.25  # times the iterations that it takes with nothing kept back
KEPT_BACK = 0.2  # share of the blocks, in the score that is known to do


def loop(answer: Any, chance: Chance) -> Iterator[Seen]:
    """A scheduler: the same requests as ours in each iteration."""
    if fault := uncallable(answer, ("num_blocks", "block_size")):
        raise Wrong(fault)
    missing = [name for name in METHODS if not callable(getattr(answer, name, None))]
    if missing:
        raise Wrong(f"The scheduler has no method {missing[0]}; it needs {', '.join(METHODS)}.")
    for memory in ("ample", "short"):
        block_size = 2 + chance.below(7)
        arrivals = _arrivals(24, chance)
        largest = max(arrival.num_prompt_tokens + arrival.num_output_tokens for arrival in arrivals)
        num_blocks = 10_000 if memory == "ample" else 2 * -(-largest // block_size) + chance.below(6)
        theirs, right = (each(arrivals, num_blocks, block_size) for each in (_playing(answer), ours))
        fault = _difference(theirs, right)
        when = f"with {memory} memory"
        yield Seen(f"the same requests run in each iteration {when}", _digest(theirs.ran), fault)
        yield Seen(f"the first tokens come as under kvlib's scheduler {when}", _in_order(theirs.began))
        yield Seen(f"the last tokens come as under kvlib's scheduler {when}", _in_order(theirs.ended))


def keep(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    """A rule for who may join: it never lets too many in, ends in time, and spares tokens."""
    if fault := uncallable(answer, ("num_tokens", "running", "num_blocks", "block_size")):
        raise Wrong(fault)
    arrivals = [Arrival(0.0, 8 + chance.below(57), 16 + chance.below(113)) for _ in range(100)]
    num_blocks, block_size = 60 + chance.below(20), 16
    allowed = int(ALLOWED * ours(arrivals, num_blocks, block_size).iteration)
    memory = _Asking(num_blocks, block_size, answer)
    simulation = Simulation(arrivals, memory, OneSecond(), max_num_seqs=UNLIMITED, max_prompt_tokens=UNLIMITED)
    simulation.batch = memory.batch
    while simulation.step():
        if memory.batch.iteration > allowed:
            left = len(simulation.queue) + len(memory.batch.running)
            raise Wrong(
                f"After {allowed} iterations, a quarter more than with nothing kept back, {left} of {len(arrivals)} "
                "requests are not done. Memory that nobody may use serves nobody: keep less of it back."
            )
    prompts = [arrivals[number - 1].num_prompt_tokens for number in memory.batch.began]
    yield Seen("all requests end in time, and their first tokens come in the order of arrival", prompts)
    best = ours(arrivals, num_blocks, block_size, watermark=KEPT_BACK).num_recomputed
    yield Score("tokens computed again", memory.batch.num_recomputed, best)


class _Asking(CountedBlocks):
    """A memory that asks the learner's rule who may join."""

    def __init__(self, num_blocks: int, block_size: int, rule: Callable[..., Any]) -> None:
        super().__init__(num_blocks, block_size, watermark=0)
        self.batch = Journal()
        self._rule = rule

    def can_admit(self, request: SimulatedRequest) -> bool:
        """What the rule says; Wrong where it cannot be followed."""
        running = [each.offset + self.batch.iteration for each in self.batch.running]
        may = self._rule(
            num_tokens=request.num_tokens, running=running, num_blocks=self.num_blocks, block_size=self.block_size
        )
        case = f"{request.num_tokens} tokens beside {len(running)} running requests"
        if may and not super().can_admit(request):
            raise Wrong(
                f"Yours lets {case} in. They take {self._blocks_for(request.num_tokens)} blocks of {self.block_size}, "
                f"and {self.num_free_blocks} of {self.num_blocks} are free."
            )
        if not may and not running:
            raise Wrong(f"Nobody runs, and yours keeps {case} out. Then nobody would ever run again.")
        return bool(may)


def _playing(answer: Any) -> Callable[..., Journal]:
    return lambda *settings: played(answer, *settings)


def _arrivals(num_requests: int, chance: Chance) -> list[Arrival]:
    times = sorted(chance.below(40) for _ in range(num_requests))
    return [Arrival(float(time), 1 + chance.below(40), 1 + chance.below(40)) for time in times]


def _digest(ran: list[tuple[int, ...]]) -> str:
    return hashlib.sha256(repr(ran).encode()).hexdigest()[:16]


def _in_order(iterations: dict[int, int]) -> list[int]:
    return [iterations[number] for number in sorted(iterations)]


def _difference(theirs: Journal, right: Journal) -> str:
    """The first iteration in which other requests run, in words; "" if there is none."""
    before: set[int] = set()
    for iteration, (found, expected) in enumerate(zip(map(set, theirs.ran), map(set, right.ran)), 1):
        if found != expected:
            return f"In iteration {iteration} {_words(before, found, expected)}"
        before = {number for number in found if right.ended[number] > iteration}
    return ""


def _words(before: set[int], found: set[int], expected: set[int]) -> str:
    """What differs in an iteration, where those of `before` ran until now."""
    yielding, due = before - found, before - expected
    if len(yielding) > len(due):
        return f"{_numbers(yielding)} yields, and {len(due) or 'none'} would be enough. Nobody yields before it must."
    if yielding != due:
        return f"{_numbers(yielding)} yields, not {_numbers(due)}. Whoever came last yields first."
    joining, welcome = found - before, expected - before
    if joining and due:
        return f"{_numbers(joining)} joins though {_numbers(due)} yields. Memory is short: nobody joins then."
    if joining - welcome:
        return (
            f"{_numbers(joining - welcome)} joins, and somebody who came earlier still waits. Nobody overtakes, "
            "and who has yielded waits where it stood."
        )
    return f"{_numbers(welcome - joining)} waits, and its blocks are free. Let in whoever is first while it fits."


def _numbers(numbers: set[int]) -> str:
    return "request " + ", ".join(map(str, sorted(numbers)))
