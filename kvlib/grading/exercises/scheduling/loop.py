"""A scheduler of the learner's own, as lab 7 asks for it, and where it first differs from ours."""

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

from kvlib.chance import Chance
from kvlib.grading.exercise import Seen, Wrong, check_callable
from kvlib.grading.exercises.scheduling.drive import Journal, ours, played
from kvlib.serving.workload import Arrival

METHODS = ("add", "schedule", "finish")


def loop(answer: Any, chance: Chance) -> Iterator[Seen]:
    """A scheduler: the same requests as ours in each iteration."""
    check_callable(answer, "num_blocks", "block_size")
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
            return f"In iteration {iteration}, {_words(before, found, expected)}"
        before = {number for number in found if right.ended[number] > iteration}
    return ""


def _words(before: set[int], found: set[int], expected: set[int]) -> str:
    """What differs in an iteration, where those of `before` ran until now."""
    yielding, due = before - found, before - expected
    joining, welcome = found - before, expected - before
    if yielding == before and not due:
        return f"your list names only who joins, and {_who(before, 'run')} no more. It names those who go on, too."
    if len(yielding) > len(due):
        enough = f"{len(due)} would be enough" if due else "there is room for all"
        return f"{_who(yielding, 'yield')}, and {enough}. Nobody yields before it must."
    if yielding != due:
        return f"{_who(yielding, 'yield')}, not {_numbers(due)}. Whoever came last yields first."
    if joining and due:
        return (
            f"{_who(joining, 'join')} and {_who(due, 'yield')}. Whoever yields is first in the queue then, and does "
            "not fit: those behind it wait."
        )
    if joining - welcome:
        return (
            f"{_who(joining - welcome, 'join')}, and somebody who came earlier still waits. Nobody overtakes, and who "
            "has yielded waits where it stood."
        )
    return f"{_who(welcome - joining, 'wait')}, and the blocks are free. Let in whoever is first while it fits."


def _who(numbers: set[int], verb: str) -> str:
    return f"{_numbers(numbers)} {verb}{'s' if len(numbers) == 1 else ''}"


def _numbers(numbers: set[int]) -> str:
    *others, last = map(str, sorted(numbers))
    return f"requests {', '.join(others)} and {last}" if others else f"request {last}"
