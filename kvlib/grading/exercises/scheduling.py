"""What is seen of the answers of lab 7, the scheduler."""

import operator
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from kvlib.chance import Chance
from kvlib.grading.exercise import Exercise, Exercises, Seen, Wrong
from kvlib.grading.exercises.recognised import Case, fault_in
from kvlib.grading.exercises.scheduling_costs import costs
from kvlib.grading.exercises.scheduling_loop import keep, loop
from kvlib.grading.raised import uncallable


def _admit(answer: Any, chance: Chance) -> Iterator[Seen]:
    if fault := uncallable(answer, ("waiting", "num_free", "block_size")):
        raise Wrong(fault)
    cases = []
    for number in range(20):
        block_size = 2 + chance.below(15)
        waiting = [1 + chance.below(6 * block_size) for _ in range(number and 4 + chance.below(7))]
        blocks = [-(-tokens // block_size) for tokens in waiting]
        num_free = sum(blocks[: chance.below(len(blocks))]) + chance.below(5) if blocks else 4
        given = answer(waiting=list(waiting), num_free=num_free, block_size=block_size)
        cases.append(_admitted(_count(given, "admitted"), waiting, blocks, num_free, block_size))
    found = [case.given for case in cases]
    yield Seen("as many enter from the head of the queue as fit whole", found, fault_in(cases))


def _admitted(given: int, waiting: list[int], blocks: list[int], num_free: int, block_size: int) -> Case:
    def fitting(sizes: Sequence[int], room: int) -> int:
        return sum(total <= room for total in accumulate(sizes))

    right = fitting(blocks, num_free)
    return Case(
        f"Queue {waiting} in tokens, {num_free} blocks of {block_size} free: yours lets {given} in, not {right}.",
        given,
        right,
        {
            "One of them overtakes a request that does not fit. Whoever is behind that one waits.": _with_overtaking(
                blocks, num_free
            ),
            "Their tokens would fit, but each request has a last block of its own.": fitting(
                waiting, num_free * block_size
            ),
            "One more fits: it may take the last free block, too.": fitting(blocks, num_free - 1),
        },
        f"In blocks they want {blocks}.",
    )


def _with_overtaking(blocks: Sequence[int], num_free: int) -> int:
    count = 0
    for each in blocks:
        if each <= num_free:
            num_free, count = num_free - each, count + 1
    return count


def _room(answer: Any, chance: Chance) -> Iterator[Seen]:
    if fault := uncallable(answer, ("stored", "num_free", "block_size")):
        raise Wrong(fault)
    cases = []
    for _ in range(30):
        block_size = 2 + chance.below(3)
        stored = [block_size * chance.below(5) + 1 + chance.below(block_size) for _ in range(6 + chance.below(9))]
        num_free = chance.below(3)
        given = _count(answer(stored=list(stored), num_free=num_free, block_size=block_size), "that yield")
        cases.append(_made_room(given, stored, num_free, block_size))
    yield Seen("the fewest yield that make room for the others", [case.given for case in cases], fault_in(cases))


def _made_room(given: int, stored: list[int], num_free: int, block_size: int) -> Case:
    held = [-(-tokens // block_size) for tokens in stored]
    grows = [tokens % block_size == 0 for tokens in stored]

    def first(enough: Callable[[int], bool]) -> int:
        """The smallest number of yields that is enough, by a rule that is given how many stay."""
        return next(count for count in range(len(stored) + 1) if enough(len(stored) - count))

    right = first(lambda stay: sum(grows[:stay]) <= num_free + sum(held[stay:]))
    gone = len(stored)
    return Case(
        f"Stored {stored}, {num_free} blocks of {block_size} free: yours makes {given} yield, not {right}.",
        given,
        right,
        {
            "Only a request whose last block is full wants another, not each of them.": first(
                lambda stay: stay <= num_free + sum(held[stay:])
            ),
            "That is right if the first in the list yields. The last one came last.": first(
                lambda stay: sum(grows[gone - stay :]) <= num_free + sum(held[: gone - stay])
            ),
            "Whoever yields gives back all its blocks, not one.": first(
                lambda stay: sum(grows[:stay]) <= num_free + gone - stay
            ),
            "A request that yields does not grow any more: its own wish is gone with it.": first(
                lambda stay: sum(grows) <= num_free + sum(held[stay:])
            ),
        },
        f"They hold {held} blocks, and {sum(grows)} of them want another.",
    )


def _count(given: Any, what: str) -> int:
    try:
        return operator.index(given)
    except TypeError:
        raise Wrong(f"It returned {given!r:.60}; expected a whole number, of the requests {what}.") from None


EXERCISES = Exercises(
    {
        "admit": Exercise(_admit, "Whole requests, in order, while they fit."),
        "room": Exercise(_room, "The last that came yields first, with all it has, and nobody for nothing."),
        "costs": Exercise(costs, "Copies and bytes there and back, or the arithmetic that is not free."),
        "loop": Exercise(loop, "The same first and last tokens as with kvlib's own, memory ample or short."),
        "keep": Exercise(keep, "In time, in order, and never more than fits."),
    }
)
check, observe = EXERCISES.check, EXERCISES.observe
