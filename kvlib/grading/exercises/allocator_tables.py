"""What is seen of a slot mapping and of an audit: what they say of block tables that are made up."""

from collections.abc import Iterator
from typing import Any

from kvlib.chance import Chance
from kvlib.grading.exercise import Score, Seen, Wrong
from kvlib.grading.exercises.allocator_pool import whole_numbers
from kvlib.grading.raised import uncallable
from kvlib.memory import BlockTable

SIZES = (1, 4, 5, 8, 16)  # tokens a block


class CountedTable(list):
    """A block table that counts in `num_read` how many entries are looked up."""

    num_read = 0

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        self.num_read += len(found) if isinstance(place, slice) else 1
        return found

    def __iter__(self) -> Iterator[int]:
        for block in super().__iter__():
            self.num_read += 1
            yield block


def shuffled(numbers: range, chance: Chance) -> list[int]:
    """The numbers in an order that chance decides."""
    return sorted(numbers, key=lambda _: chance.bits())


def slots(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    """Ranges of positions in tables of several block sizes, from one position to the whole sequence."""
    if complaint := uncallable(answer, ("block_table", "start", "stop", "block_size")):
        raise Wrong(f"{complaint}.")
    sums, num_read, fewest = [], 0, 0
    for size in SIZES:
        blocks = shuffled(range(1, 60), chance)[: 3 + chance.below(4)]
        num_tokens = (len(blocks) - 1) * size + 1 + chance.below(size)
        start = chance.below(num_tokens)
        for first, stop in ((0, num_tokens), (start, start + 1), (start, num_tokens)):
            table = CountedTable(blocks)
            given = answer(block_table=table, start=first, stop=stop, block_size=size)
            fault = _slot_fault(given, blocks, first, stop, size)
            numbers = whole_numbers(given) or []
            sums.append(sum(place * slot for place, slot in enumerate(numbers, 1)))
            num_read += table.num_read
            fewest += (stop - 1) // size - first // size + 1
            if fault:
                break
    yield Seen("position p is in slot block_table[p // block_size] * block_size + p % block_size", sums, fault)
    yield Score("entries read", num_read, fewest)


def _slot_fault(given: object, blocks: list[int], start: int, stop: int, size: int) -> str:
    """What is wrong with the slots of positions `start` to `stop` - 1, in words; "" if nothing is."""
    numbers = whole_numbers(given)
    asked = f"The table {blocks}, blocks of {size}, positions {start} to {stop - 1}"
    if numbers is None:
        return f"{asked}: it returns {given!r:.60}, not a list of slots."
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


def audit(answer: Any, chance: Chance) -> Iterator[Seen]:
    """Memories in order and out of it: a block lost, one shared, one twice in a table, one free and in use."""
    if complaint := uncallable(answer, ("tables", "free", "num_blocks")):
        raise Wrong(f"{complaint}.")
    for name, (law, value) in _LAWS.items():
        values: list[list[list[int]] | None] = []
        fault = ""
        for _ in range(3):
            num_blocks = 12 + chance.below(9)
            tables, free = _spoilt(name, num_blocks, chance)
            given = answer(
                tables={seq: list(blocks) for seq, blocks in tables.items()}, free=list(free), num_blocks=num_blocks
            )
            pair = _sets(given)
            fault = fault or _audit_fault(pair, given, tables, free, num_blocks, value)
            values += [[sorted(each) for each in pair]] if pair else [None]
        yield Seen(law, values, fault)


_LAWS = {
    "in order": ("of a memory in order nothing is said", "Here each block is in one place"),
    "lost": ("a block in no table that is not free either is lost", "A lost block serves nobody"),
    "shared": ("a block in two tables has two owners", "Two sequences write into one block"),
    "twice": ("a block twice in one table is in two places", "Its sequence would write over its own tokens"),
    "in use": ("a block in a table and free is in two places", "It may be handed out to another any moment"),
    "free twice": ("a block that is free twice is in two places", "It can be handed out to two"),
    "both": (
        "a lost block and a shared one do not cancel out",
        "There are as many places as blocks here, and yet one is lost",
    ),
}


def _spoilt(name: str, num_blocks: int, chance: Chance) -> tuple[dict[str, list[int]], list[int]]:
    """The tables and the free blocks of a memory with the fault of this name."""
    blocks = shuffled(range(1, num_blocks + 1), chance)
    cuts = 3 + chance.below(3), 6 + chance.below(3)
    tables = {"A": blocks[: cuts[0]], "B": blocks[cuts[0] : cuts[1]]}
    free = blocks[cuts[1] :]
    if name in ("lost", "both"):
        (free if chance.below(2) else tables["A"]).pop()
    if name in ("shared", "both"):
        tables["B"].append(tables["A"][0])
    if name == "twice":
        tables["A"].append(tables["A"][1])
    if name == "in use":
        free.append(tables["B"][0])
    if name == "free twice":
        free.append(free[0])
    return tables, free


def _sets(given: object) -> tuple[set[int], set[int]] | None:
    if not isinstance(given, tuple | list) or len(given) != 2:
        return None
    lost, doubled = map(whole_numbers, given)
    return None if lost is None or doubled is None else (set(lost), set(doubled))


def _audit_fault(
    pair: tuple[set[int], set[int]] | None, given: object, tables: dict, free: list[int], num_blocks: int, why: str
) -> str:
    if pair is None:
        return f"It returns {given!r:.60}; it returns two sets: the blocks in no place, those in more than one."
    places = [*free, *(block for blocks in tables.values() for block in blocks)]
    right = set(range(1, num_blocks + 1)).difference(places), {block for block in places if places.count(block) > 1}
    memory = f"{num_blocks} blocks, A has {tables['A']}, B has {tables['B']}, free are {free}"
    for ours, theirs, words in zip(right, pair, ("in no place", "in more than one")):
        if ours != theirs:
            said = f"{words}: {sorted(ours) or 'none'}. It says {sorted(theirs) or 'none'}"
            return f"{memory}. Blocks {said}. {why}."
    return ""
