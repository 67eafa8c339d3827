"""What is seen of a classification of slots, beside that of kvlib's own memories."""

import operator
from collections.abc import Iterator
from typing import Any, NamedTuple

from kvlib.chance import Chance
from kvlib.grading.exercise import Seen, Wrong, check_callable
from kvlib.memory import ContiguousManager, Max, Oracle, Pow2
from kvlib.memory.allocator import Allocator
from kvlib.memory.buddy import BuddyAllocator
from kvlib.memory.first_fit import FirstFitAllocator

KINDS = ("stored", "reserved", "internal", "external", "free")


class Chunk(NamedTuple):
    """The chunk of one running sequence, in slots, each a part of the one before it: `size`, as the allocator cut it;
    `slots`, as the policy reserved; `length`, the tokens at its end; `stored`, the tokens it has now."""

    size: int
    slots: int
    length: int
    stored: int


def kinds(answer: Any, chance: Chance) -> Iterator[Seen]:
    """States of small memories under each policy, in buddy chunks and in exact ones."""
    check_callable(answer, "chunks", "gaps", "wanted")
    found: list[list[int | None]] = []
    for policy in (Max, Pow2, Oracle):
        for allocator in (BuddyAllocator, FirstFitAllocator):
            manager, next_slots = _state(policy(32), allocator, chance)
            chunks, gaps = chunks_in_use(manager), [size for _, size in manager.allocator.free_chunks]
            wanted = manager.allocator.chunk_size(next_slots)
            given = answer(chunks=list(chunks), gaps=list(gaps), wanted=wanted)
            if not isinstance(given, dict) or sorted(map(str, given)) != sorted(KINDS):
                raise Wrong(f"It returns {given!r:.80}; it returns a dict with {', '.join(KINDS)}.")
            ours = manager.split(next_slots=next_slots)._asdict()
            theirs = {kind: whole_number(given[kind]) for kind in KINDS}
            found.append(list(theirs.values()))
            fault = _kinds_fault(theirs, ours, chunks, gaps, wanted)
            if fault:
                yield Seen("each slot is of one kind", found, fault)
                return
    yield Seen("each slot is of one kind", found)


def _state(policy: Any, allocator: type[Allocator], chance: Chance) -> tuple[ContiguousManager, int]:
    """A memory some while after its start, and what the next request would reserve."""
    manager = ContiguousManager(96 + chance.below(60), policy, allocator)
    for number in range(14):
        lengths = 1 + chance.below(9), 4 + chance.below(14)
        if manager.can_admit(*lengths):
            manager.admit(number, *lengths)
        for seq in manager.sequences:
            if manager.split_of(seq).reserved == 0 or chance.below(9) == 0:
                manager.free(seq)
        manager.tick()
    return manager, policy.reserve(1 + chance.below(9), 4 + chance.below(14))


def chunks_in_use(manager: ContiguousManager) -> list[Chunk]:
    """The chunk of each sequence that `manager` serves."""
    found = []
    for seq in manager.sequences:
        now = manager.split_of(seq)
        length = now.stored + now.reserved
        found.append(Chunk(sum(now), length + now.internal, length, now.stored))
    return found


def _kinds_fault(theirs: dict, ours: dict[str, int], chunks: list[Chunk], gaps: list[int], wanted: int) -> str:
    if theirs == ours:
        return ""
    said = f"Chunks {', '.join(str(tuple(chunk)) for chunk in chunks)}, gaps {gaps}, wanted {wanted}: "
    rounding = sum(chunk.size - chunk.slots for chunk in chunks)
    kind = next(kind for kind in KINDS if theirs[kind] != ours[kind])
    said += f"{kind} is {theirs[kind]}, it should be {ours[kind]}. "
    if kind == "reserved" and theirs[kind] == ours["reserved"] + ours["internal"]:
        return f"{said}What will never be written is not reserved in this sense, it is internal."
    if kind == "reserved" and theirs[kind] == ours["reserved"] + ours["stored"]:
        return f"{said}A slot that holds its token already waits for none."
    if kind == "internal" and rounding and theirs[kind] == ours["internal"] + rounding:
        return f"{said}The paper counts what rounding adds to a chunk as external: no policy asked for it."
    if kind == "external" and theirs[kind] == rounding + sum(gaps) - sum(gap for gap in gaps if gap > wanted):
        return f"{said}A gap of just the size that is wanted will do."
    if kind == "external" and theirs[kind] == rounding + sum(gaps):
        return f"{said}A gap that is large enough is free."
    if kind == "external" and theirs[kind] == ours["external"] - rounding:
        return f"{said}What rounding adds to a chunk is external, too."
    return f"{said}A chunk is (size, slots, length, stored)."


def whole_number(value: Any) -> int | None:
    """`value` as an int if it is worth one, else None."""
    try:
        return operator.index(value)
    except TypeError:
        return None
