"""What is seen of a buddy allocator, beside kvlib's own under the same calls."""

from collections.abc import Iterator
from typing import Any

from kvlib.chance import Chance
from kvlib.errors import OutOfBlocks
from kvlib.grading.exercise import Seen, Wrong, check_callable
from kvlib.memory.buddy import BuddyAllocator

CALLS = 40


def split(answer: Any, chance: Chance) -> Iterator[Seen]:
    """Chunks are taken until none is left that is large enough, and on."""
    starts, refused, fault = [], [], ""
    for num_slots in (64, 32 + chance.below(90), 256 + chance.below(90)):
        trial = _Trial(answer, num_slots, chance)
        for _ in range(CALLS // 2):
            start, fault = trial.take()
            starts.append(start)
            if fault:
                break
        refused.append(starts.count(None))
        if fault:
            break
    yield Seen("the lowest of the smallest chunks that are large enough is halved until it just fits", starts, fault)
    yield Seen("where no chunk is large enough OutOfBlocks is raised", refused)


def merge(answer: Any, chance: Chance) -> Iterator[Seen]:
    """Chunks are taken and given back at random, in the end all of them."""
    largest, fault = [], ""
    for num_slots in (64, 32 + chance.below(90), 256 + chance.below(90)):
        trial = _Trial(answer, num_slots, chance)
        for _ in range(CALLS):
            fault = trial.give_back() if trial.used and chance.below(100) < 40 else trial.take()[1]
            largest.append(max((size for size, _ in trial.free()), default=0))
            if fault:
                break
        while trial.used and not fault:
            fault = trial.give_back()
            largest.append(max((size for size, _ in trial.free()), default=0))
        if fault:
            break
    yield Seen("two free buddies are one chunk again, and so are they and theirs", largest, fault)


class _Trial:
    """An answer and ours; `used` maps the start of a chunk in use to its size."""

    def __init__(self, answer: Any, num_slots: int, chance: Chance) -> None:
        check_callable(answer, "num_slots")
        self.theirs, self.ours = answer(num_slots=num_slots), BuddyAllocator(num_slots)
        self.chance = chance
        self.used: dict[int, int] = {}

    def free(self) -> set[tuple[int, int]]:
        """(size, first slot) of the free chunks that the answer has."""
        try:
            return {(int(size), int(start)) for size, start in self.theirs.free}
        except (TypeError, ValueError):
            raise Wrong(f"free is {self.theirs.free!r:.60}; it is a set of (size, first slot).") from None

    def take(self) -> tuple[int | None, str]:
        """What a take of a random size returned, None if it was refused; and what is wrong with it."""
        slots = 1 + self.chance.below(1 + self.chance.below(24))
        said = f"take({slots}) with the free chunks (size, start) {_listed(self.free())}"
        before = self.free()
        try:
            start = self.theirs.take(slots)
        except OutOfBlocks:
            return None, self.refusal_fault(slots, said, before)
        except (ValueError, KeyError, IndexError) as raised:
            if self.ours.can_allocate(slots):
                raise
            return None, f"{said} raises {type(raised).__name__}; no chunk is large enough, so it raises OutOfBlocks."
        if not self.ours.can_allocate(slots):
            return start, f"{said} returns {start!r:.20}, and none of them is large enough; it raises OutOfBlocks."
        size, right = self.ours.chunk_size(slots), self.ours.allocate(slots)
        self.used[right] = size
        return start, self.start_fault(start, right, size, said) or self.free_fault(f"After {said}")

    def refusal_fault(self, slots: int, said: str, before: set[tuple[int, int]]) -> str:
        if self.ours.can_allocate(slots):
            return f"{said} raises OutOfBlocks, and one of them is large enough."
        return "" if self.free() == before else f"{said} is refused, and changes them to {_listed(self.free())}."

    def start_fault(self, start: object, right: int, size: int, said: str) -> str:
        if start == right:
            return ""
        return (
            f"{said} returns {start!r:.40}. The lowest of the smallest chunks that are large enough begins at {right}; "
            f"its first {size} slots are taken."
        )

    def give_back(self) -> str:
        start = list(self.used)[self.chance.below(len(self.used))]
        said = f"After give_back({start}), a chunk of {self.used.pop(start)}, with {_listed(self.free())} free,"
        self.theirs.give_back(start)
        self.ours.free(start)
        return self.free_fault(said)

    def free_fault(self, when: str) -> str:
        """What is wrong with the chunks that are free now, in words; "" if nothing is."""
        free, right = self.free(), {(size, start) for start, size in self.ours.free_chunks}
        used = dict(self.theirs.used)
        for size, start in sorted(free):
            if (size, start ^ size) in free:
                both = f"{start} and {start ^ size}"
                return f"{when} {both} begin free chunks of {size}, which are buddies: together one of {2 * size}."
            if start % size:
                lower = start - size // 2
                is_lost = _covers(right, lower) and not _covers(free, lower)
                why = "of two that join, the lower start is the new one" if is_lost else "it joins what were no buddies"
                return f"{when} a chunk of {size} begins at {start}, which is no multiple of {size}: {why}."
        if used != self.used:
            return f"{when} used is {used!r:.60}; it is {self.used!r:.60}: first slot and size of each chunk in use."
        if free != right:
            return f"{when} there are free chunks (size, start) {_listed(free)}; there should be {_listed(right)}."
        return ""


def _covers(chunks: set[tuple[int, int]], slot: int) -> bool:
    return any(start <= slot < start + size for size, start in chunks)


def _listed(chunks: set[tuple[int, int]]) -> str:
    return ", ".join(map(str, sorted(chunks, key=lambda chunk: chunk[1]))) or "none"
