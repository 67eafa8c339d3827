"""What is seen of an audit: what it says of memories in order and out of it."""

from collections.abc import Iterator
from typing import Any

from kvlib.chance import Chance
from kvlib.grading.exercise import Seen, Wrong, check_callable
from kvlib.grading.exercises.allocator.calls import called, whole_numbers
from kvlib.grading.exercises.allocator.slots import shuffled


def audit(answer: Any, chance: Chance) -> Iterator[Seen]:
    """Memories in order and out of it: a block lost, one shared, one twice in a table, one free and in use."""
    check_callable(answer, "tables", "free", "num_blocks")
    left, changed = [], ""
    for name, (law, why) in _LAWS.items():
        values, fault = [], ""
        for _ in range(3):
            num_blocks = 12 + chance.below(9)
            tables, free = _spoilt(name, num_blocks, chance)
            owned = "".join(f"{seq} has {blocks}, " for seq, blocks in tables.items())
            memory = f"{num_blocks} blocks, {owned}free are {free}"
            lent = {seq: list(blocks) for seq, blocks in tables.items()}, list(free)
            pair = _sets(called(memory, answer, tables=lent[0], free=lent[1], num_blocks=num_blocks))
            if said := _misplaced(pair, tables, free, num_blocks, why):
                fault = fault or f"{memory}. {said}."
            if lent != (tables, free):
                changed = (
                    f"{memory}. Afterwards A has {lent[0].get('A')} and free are {lent[1]}: an audit changes nothing."
                )
            values.append([sorted(each) for each in pair])
            left.append(lent)
        yield Seen(law, values, fault)
    yield Seen("an audit changes nothing", left, changed)


_LAWS = {
    "in order": ("of a memory in order nothing is said", "Here each block is in one place"),
    "lost": ("a block in no table that is not free either is lost", "A lost block serves nobody"),
    "shared": ("a block in two tables has two owners", "Two sequences write into one block"),
    "twice": ("a block twice in one table is in two places", "Its sequence would write over its own tokens"),
    "in use": ("a block in a table and free is in two places", "It may be handed out to another any moment"),
    "free twice": ("a block that is free twice is in two places", "It can be handed out to two"),
    "thrice": ("a block in three places is in more than one", "Two places are one too many, and so are three"),
    "nobody": ("a memory of nobody has its blocks too", "There may be no table at all"),
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
    if name == "thrice":
        tables["C"] = [tables["A"][0]]
        free.append(tables["A"][0])
    if name == "nobody":
        return {}, blocks[1:]
    if name == "twice":
        tables["A"].append(tables["A"][1])
    if name == "in use":
        free.append(tables["B"][0])
    if name == "free twice":
        free.append(free[0])
    return tables, free


def _sets(given: object) -> tuple[set[int], set[int]]:
    """The two sets that are returned. Raises Wrong if these are not two sets of numbers, or lists of them."""
    lost, doubled = map(whole_numbers, given) if isinstance(given, tuple | list) and len(given) == 2 else (None, None)
    if lost is None or doubled is None:
        raise Wrong(f"It returns {given!r:.60}; two sets are wanted: the blocks in no place, those in more than one.")
    return set(lost), set(doubled)


def _misplaced(
    pair: tuple[set[int], set[int]], tables: dict[str, list[int]], free: list[int], num_blocks: int, why: str
) -> str:
    """Which blocks are in no place or in two, and what `pair` says, but for the last full stop; "" if it says so."""
    places = [*free, *(block for blocks in tables.values() for block in blocks)]
    right = set(range(1, num_blocks + 1)).difference(places), {block for block in places if places.count(block) > 1}
    if pair == right:
        return ""
    if pair == right[::-1]:
        return "The two sets are the wrong way round: first the blocks in no place, then those in more than one"
    if 0 in pair[0] | pair[1]:
        return f"It names block 0, the null block; the blocks of the memory are 1 to {num_blocks}"
    wrong = next(place for place in (0, 1) if pair[place] != right[place])
    words = ("in no place", "in more than one")[wrong]
    return f"Blocks {words}: {sorted(right[wrong]) or 'none'}. It says {sorted(pair[wrong]) or 'none'}. {why}"
