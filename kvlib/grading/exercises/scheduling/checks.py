"""What is seen of the answers of lab 7, the scheduler."""

import operator
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from itertools import accumulate
from typing import Any

from kvlib.chance import Chance
from kvlib.grading.exercise import Exercise, Exercises, Seen, Wrong, check_callable
from kvlib.grading.exercises.recognised import Case, fault_in
from kvlib.grading.exercises.scheduling.costs import costs
from kvlib.grading.exercises.scheduling.keep import keep
from kvlib.grading.exercises.scheduling.loop import loop
from kvlib.grading.raised import described


def _admit(answer: Any, chance: Chance) -> Iterator[Seen]:
    check_callable(answer, "waiting", "num_free", "block_size")
    cases = []
    for number in range(60):
        block_size = 2 + chance.below(15)
        waiting = [
            1 + chance.below(6 * block_size) for _ in range(number and 3 + chance.below(1 + min(number, 20) // 3))
        ]
        blocks = [-(-tokens // block_size) for tokens in waiting]
        num_free = sum(blocks[: chance.below(len(blocks))]) + chance.below(5) if blocks else 4
        right = _fitting(blocks, num_free)
        given = _count(answer, right, waiting=waiting, num_free=num_free, block_size=block_size)
        cases.append(_admitted(given, right, waiting, blocks, num_free, block_size))
    found = [case.given for case in cases]
    yield Seen("as many enter from the head of the queue as fit whole", found, fault_in(cases))


def _admitted(given: int, right: int, waiting: list[int], blocks: list[int], num_free: int, block_size: int) -> Case:
    return Case(
        f"Queue {waiting} in tokens, {num_free} blocks of {block_size} free: yours lets {given} in, not {right}.",
        given,
        right,
        {
            "One of them overtakes a request that does not fit. Whoever is behind that one waits.": _with_overtaking(
                blocks, num_free
            ),
            "Their tokens would fit, but each request has a last block of its own.": _fitting(
                waiting, num_free * block_size
            ),
            "A last block that is partly filled is a block as well: round up.": _fitting(
                [tokens // block_size for tokens in waiting], num_free
            ),
            "One more fits: it may take the last free block, too.": _fitting(blocks, num_free - 1),
        },
        f"In blocks they want {blocks}.",
    )


def _fitting(sizes: Sequence[int], room: int) -> int:
    return sum(total <= room for total in accumulate(sizes))


def _with_overtaking(blocks: Sequence[int], num_free: int) -> int:
    count = 0
    for each in blocks:
        if each <= num_free:
            num_free, count = num_free - each, count + 1
    return count


def _room(answer: Any, chance: Chance) -> Iterator[Seen]:
    check_callable(answer, "stored", "num_free", "block_size")
    cases = []
    for number in range(150):
        block_size = 2 + chance.below(3) if number != 3 else 1
        size = 3 + chance.below(2 + min(number, 20) // 2) if number > 2 else number
        stored = [block_size * chance.below(5) + 1 + chance.below(block_size) for _ in range(size)]
        num_free = chance.below(3)
        mistakes = _makings_of_room(stored, num_free, block_size)
        right = mistakes.pop("")
        given = _count(answer, right, stored=stored, num_free=num_free, block_size=block_size)
        told = f"Stored {stored}, {num_free} blocks of {block_size} free: yours makes {given} yield, not {right}."
        cases.append(Case(told, given, right, mistakes, _holding(stored, block_size)))
    yield Seen("the fewest yield that make room for the others", [case.given for case in cases], fault_in(cases))


def _makings_of_room(stored: list[int], num_free: int, block_size: int) -> dict[str, int]:
    """How many yield by each rule that learners write, under the words against it; under "" how many must."""
    held = [-(-tokens // block_size) for tokens in stored]
    full = [tokens // block_size for tokens in stored]
    grows = [tokens % block_size == 0 for tokens in stored]
    gone = len(stored)

    def first(enough: Callable[[int], bool]) -> int:
        """The smallest number of yields that is enough, by a rule that is given how many stay."""
        return next(count for count in range(gone + 1) if enough(gone - count))

    return {
        "": first(lambda stay: sum(grows[:stay]) <= num_free + sum(held[stay:])),
        "Only a request whose last block is full wants another, not each of them.": first(
            lambda stay: stay <= num_free + sum(held[stay:])
        ),
        "That is right if the first in the list yields. The last one came last.": first(
            lambda stay: sum(grows[gone - stay :]) <= num_free + sum(held[: gone - stay])
        ),
        "Whoever yields gives back all its blocks, not one.": first(
            lambda stay: sum(grows[:stay]) <= num_free + gone - stay
        ),
        "A last block that is partly filled is given back as well: round up.": first(
            lambda stay: sum(grows[:stay]) <= num_free + sum(full[stay:])
        ),
        "A request that yields does not grow any more: its own wish is gone with it.": first(
            lambda stay: sum(grows) <= num_free + sum(held[stay:])
        ),
        "Nobody ever yields. If you slice: [:-0] is an empty list, and [-0:] the whole one.": 0,
    }


def _holding(stored: list[int], block_size: int) -> str:
    held = [-(-tokens // block_size) for tokens in stored]
    return f"They hold {held} blocks, and {sum(tokens % block_size == 0 for tokens in stored)} of them want another."


def _count(answer: Any, right: int, **case: Any) -> int:
    """What the answer makes of a case, a whole number; Wrong, with the case, where it is none."""
    words = f"for {', '.join(f'{name}={value}' for name, value in case.items())}; expected {right}."
    try:
        given = answer(**deepcopy(case))
    except NotImplementedError:
        raise
    except Exception as raised:
        raise Wrong(f"{described(raised).removesuffix('.')}, {words}") from None
    try:
        return operator.index(given)
    except TypeError:
        raise Wrong(f"It returned {given!r:.60} {words}") from None


EXERCISES = Exercises(
    {
        "admit": Exercise(_admit, "Whole requests, in order, while they fit."),
        "room": Exercise(_room, "The last that came yields first, and nobody for nothing."),
        "costs": Exercise(costs, "Copies and bytes both ways; arithmetic that is not free."),
        "loop": Exercise(loop, "Each has its first and last token in the same iteration."),
        "keep": Exercise(keep, "In time."),
    }
)
check, observe = EXERCISES.check, EXERCISES.observe
