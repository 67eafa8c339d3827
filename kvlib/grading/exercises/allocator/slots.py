"""What is seen of a slot mapping: what it says of block tables that are made up."""

from collections.abc import Iterator
from typing import Any, SupportsIndex

from kvlib.chance import Chance
from kvlib.grading.exercise import Score, Seen, Wrong, check_callable
from kvlib.grading.exercises.allocator.calls import called, whole_numbers
from kvlib.memory import BlockTable

SIZES = (4, 5, 8, 16, 1)  # tokens a block


class CountedTable(list):
    """A block table that counts in `num_read` how many entries are looked up; a copy looks up all of them."""

    num_read = 0

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        self.num_read += len(found) if isinstance(place, slice) else 1
        return found

    def __iter__(self) -> Iterator[int]:
        for block in super().__iter__():
            self.num_read += 1
            yield block

    def __reversed__(self) -> Iterator[int]:
        return reversed(self.copy())

    def copy(self) -> list[int]:
        return self[:]

    def __add__(self, other: Any) -> Any:
        return self.copy() + other

    def __radd__(self, other: list[int]) -> list[int]:
        return other + self.copy()

    def __mul__(self, times: SupportsIndex) -> list[int]:
        return self.copy() * times

    __rmul__ = __mul__


def shuffled(numbers: range, chance: Chance) -> list[int]:
    """The numbers in an order that chance decides."""
    return sorted(numbers, key=lambda _: chance.bits())


def slots(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    """Ranges of positions in tables of several block sizes, from one position to the whole sequence."""
    check_callable(answer, "block_table", "start", "stop", "block_size")
    sums, left, num_read, fewest, fault, changed = [], [], 0, 0, "", ""
    for blocks, start, stop, size in _ranges(chance):
        table = CountedTable(blocks)
        case = f"The table {blocks}, blocks of {size}, positions {start} to {stop - 1}"
        given = called(case, answer, block_table=table, start=start, stop=stop, block_size=size)
        numbers = whole_numbers(given)
        if numbers is None:
            raise Wrong(f"{case}: it returns {given!r:.60}, not a list of slots.")
        num_read += table.num_read
        fewest += (stop - 1) // size - start // size + 1
        sums.append(sum(place * slot for place, slot in enumerate(numbers, 1)))
        left.append(list(table))
        fault = _slot_fault(case, numbers, blocks, start, stop, size)
        if left[-1] != blocks:
            changed = f"{case}: the table is {left[-1]} afterwards. It is the sequence's own; only read it."
        if fault or changed:
            break
    yield Seen("position p is in slot block_table[p // block_size] * block_size + p % block_size", sums, fault)
    yield Seen("a block table is read and not changed", left, changed)
    yield Score("entries read", num_read, fewest)


def _ranges(chance: Chance) -> Iterator[tuple[list[int], int, int, int]]:
    """Block tables, each with three ranges of its positions, from start to stop - 1, and its block size."""
    for size in SIZES:
        blocks = shuffled(range(1, 60), chance)[: 3 + chance.below(4)]
        num_tokens = (len(blocks) - 1) * size + 1 + chance.below(size)
        start = chance.below(num_tokens)
        for first, stop in ((0, num_tokens), (start, start + 1), (start, num_tokens)):
            yield blocks, first, stop, size


def _slot_fault(asked: str, numbers: list[int], blocks: list[int], start: int, stop: int, size: int) -> str:
    """What is wrong with the slots of positions `start` to `stop` - 1, in words; "" if nothing is."""
    right = BlockTable(size, blocks, len(blocks) * size).slots(start, stop)
    if numbers == right:
        return ""
    if len(numbers) != len(right):
        return f"{asked}: these are {len(right)} positions, and {len(numbers)} slots come back; stop is not among them."
    position = next(p for p, ours, theirs in zip(range(start, stop), right, numbers) if ours != theirs)
    block, offset = blocks[position // size], position % size
    if numbers == list(range(start, stop)):
        return f"{asked}: these are the positions again. The table says where each block lies: {block} for {position}."
    if numbers == [slot - size for slot in right]:
        return f"{asked}: all are {size} too low. Block 0 has slots, too: block 1 begins at slot {size}."
    if numbers == BlockTable(size, blocks, len(blocks) * size).slots(0, stop - start):
        return f"{asked}: these are the slots of positions 0 to {stop - start - 1}; begin at start."
    return (
        f"{asked}: position {position} is logical block {position // size}, which is block {block}, offset {offset}: "
        f"slot {block} * {size} + {offset} = {block * size + offset}. It says {numbers[position - start]}."
    )
