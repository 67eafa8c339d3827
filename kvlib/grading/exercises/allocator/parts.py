"""Whose fault it is that shows in a manager: its own, or that of a class of the learner's which it is built on."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from kvlib.chance import Chance
from kvlib.grading.exercise import Exercise, Exercises, Seen, Wrong
from kvlib.grading.exercises.allocator.manager import manager
from kvlib.grading.exercises.allocator.pool import pool
from kvlib.grading.raised import described

Probe = Callable[[Any, Chance], Iterable[Any]]


class Part(NamedTuple):
    """A class that an answer is built on: its exercise, its name in the lab, its probe, and how it is found."""

    exercise: str
    name: str
    probe: Probe
    find: Callable[[Any], Any]

    def complaint(self, answer: Any) -> str:
        """What to mend before `answer`, in words that its fault follows; "" if the part is right or not there."""
        try:
            found = self.find(answer)
        except Exception:
            return ""
        if Exercises({self.exercise: Exercise(self.probe, "")}).check(self.exercise, found).is_right:
            return ""
        call = f"check({self.exercise!r}, {self.name})"
        return f"{call} finds a fault in your {self.name}, so mend that first. What shows here: "


POOL = Part("pool", "Pool", pool, lambda answer: type(answer(num_blocks=8, block_size=4).pool))
MANAGER = Part(
    "manager",
    "Manager",
    manager,
    lambda answer: next(each for each in answer.__mro__[1:] if each.__name__ == "Manager"),
)


def built_on(parts: Iterable[Part], probe: Probe) -> Probe:
    """`probe`, whose faults begin with the first of `parts` that has one of its own."""

    def blame(answer: Any) -> str:
        return next(filter(None, (part.complaint(answer) for part in parts)), "")

    def seen(answer: Any, chance: Chance) -> Iterator[Any]:
        try:
            for each in probe(answer, chance):
                if isinstance(each, Seen) and each.fault:
                    yield each._replace(fault=blame(answer) + each.fault)
                else:
                    yield each
        except NotImplementedError:
            raise
        except Exception as raised:
            words = str(raised) if isinstance(raised, Wrong) else described(raised)
            raise Wrong(blame(answer) + words) from raised

    return seen
