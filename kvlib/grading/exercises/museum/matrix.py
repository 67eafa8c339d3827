"""Which invariant notices which fault of the memory."""

from collections.abc import Iterator, Mapping

from kvlib.chance import Chance
from kvlib.grading.exercises.museum.exhibits import EARLY, EVICTED, NOTHING, SHARED, STALE, TWICE
from kvlib.grading.exercises.museum.laws import Law
from kvlib.grading.exercises.museum.lockstep import Shot, filmed, work

IN_MEMORY = (STALE, EARLY, EVICTED, TWICE, SHARED, NOTHING)
NUM_STRUCK = 5
SEED = 11


def struck(name: str, num_struck: int = NUM_STRUCK) -> Iterator[Shot]:
    """The state right after a fault of the memory has struck, for so many memories."""
    [exhibit] = [each for each in IN_MEMORY if each.name == name]
    seeds, found = Chance(SEED), 0
    while found < num_struck:
        if shot := filmed(work(exhibit, Chance(seeds.bits()))).struck:
            found += 1
            yield shot


def noticed(laws: Mapping[str, Law]) -> dict[str, dict[str, int]]:
    """By the name of a fault, and of an invariant: in how many of NUM_STRUCK memories it is False after the strike."""
    counts = {}
    for exhibit in IN_MEMORY:
        shots = list(struck(exhibit.name))
        counts[exhibit.name] = {name: sum(not law(shot.state) for shot in shots) for name, law in laws.items()}
    return counts
