"""The check of copy-on-write: an answer's append beside that of kvlib's manager, state by state."""

from collections.abc import Callable, Iterator
from typing import Any

from kvlib.chance import Chance
from kvlib.grading.exercise import Score, Seen, check_callable
from kvlib.grading.exercises.broken import Broken
from kvlib.grading.exercises.sharing.laws import COUNTS, FREE, check_counts
from kvlib.grading.exercises.sharing.memory import Memory
from kvlib.memory import BlockManager

COPY = "who writes into a block is the only one that names it"
SPARE = "a block that is full, or has one owner, is not copied"
OTHERS = "no table changes but that of the sequence that grows"


def append(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    """The probe: sequences are admitted, forked and freed by kvlib's manager, and grow by the answer."""
    check_callable(answer, "memory", "seq")
    seen: dict[str, list] = {COPY: [], SPARE: [], OTHERS: [], COUNTS: [], FREE: []}
    try:
        for number in range(9):
            manager = _family(chance, number)
            for turn in range(8):
                seqs = list(map(str, manager.sequences))
                seq = seqs[chance.below(len(seqs))]
                if turn == 4 and len(seqs) > 1:
                    manager.free(seq)
                    continue
                memory = as_memory(manager)
                seen[COPY].append(int(_grow(memory, answer, seq)))
                seen[SPARE].append(len(memory.tables[seq]))
                seen[OTHERS].append(sum(memory.num_tokens.values()))
                seen[COUNTS].append(max(memory.counts))
                seen[FREE].append(len(memory.free_blocks))
                manager.append(seq)
    except Broken as broken:
        yield broken.seen
        return
    yield from (Seen(law, values) for law, values in seen.items())


def _family(chance: Chance, number: int) -> BlockManager:
    """A prompt, whose last block is full in every third family, and the sequences that were forked from it."""
    manager = BlockManager(40, 3 + chance.below(4) if number != 6 else 1)
    rest = 1 + chance.below(manager.block_size - 1) if number % 3 else 0
    manager.admit("0", manager.block_size * (1 + chance.below(3)) + rest)
    for child in range(1, 2 + chance.below(3)):
        manager.fork("0", str(child))
    return manager


def as_memory(manager: BlockManager) -> Memory:
    """A memory with the tables of `manager`, whose ids are texts, and the same counts and free blocks."""
    memory = Memory(manager.pool.num_blocks, manager.block_size)
    memory.counts = list(manager.pool.ref_counts)
    memory.free_blocks = [block for block in memory.free_blocks if not memory.counts[block]]
    for seq in map(str, manager.sequences):
        memory.tables[seq] = list(manager.table(seq).blocks)
        memory.num_tokens[seq] = manager.table(seq).num_tokens
    return memory


def _grow(memory: Memory, answer: Callable, seq: str) -> bool:
    """Let the answer make room for a token of `seq`; returns whether a block was copied. Raises Broken if wrongly."""
    tables = {name: list(table) for name, table in memory.tables.items()}
    old, num_tokens, free = tables[seq], memory.num_tokens[seq], set(memory.free_blocks)
    filled = num_tokens % memory.block_size
    others = [name for name, table in tables.items() if name != seq and old[-1] in table]
    got = answer(memory=memory, seq=seq)
    new = list(memory.tables[seq])
    case = f"append(memory, {seq!r}), with {num_tokens} tokens in blocks {old} of {memory.block_size},"
    if memory.num_tokens[seq] != num_tokens + 1:
        raise Broken(OTHERS, f"{case} leaves memory.num_tokens at {memory.num_tokens[seq]}; one more is stored now.")
    for name, table in tables.items():
        if name != seq and memory.tables.get(name) != table:
            raise Broken(OTHERS, f"{case} changes the table of {name!r} to {memory.tables.get(name)}; that must stay.")
    if filled == 0:
        _check_full(case, old, new, free)
    elif others:
        _check_shared(case, old, new, free, others[0])
        if memory.counts[old[-1]] == len(others) + 1:
            raise Broken(
                COUNTS, f"{case} goes on in a copy, and the count of block {old[-1]} is still {len(others) + 1}: one "
                "table less names it."
            )  # fmt: skip
    elif new != old:
        raise Broken(
            SPARE, f"{case} makes the table {new}. Nobody else names block {old[-1]} and it has room: write into it."
        )
    copied = filled > 0 and bool(others)
    _check_returned(case, got, (old[-1], new[-1]) if copied else None)
    check_counts(memory, case.rstrip(","))
    return copied


def _check_full(case: str, old: list[int], new: list[int], free: set[int]) -> None:
    if new[:-1] != old or new[-1] not in free:
        hint = " A full block is never written into again, so it is never copied." if len(new) == len(old) else ""
        raise Broken(SPARE, f"{case} makes the table {new}; the last block is full, so one more was needed.{hint}")


def _check_shared(case: str, old: list[int], new: list[int], free: set[int], other: str) -> None:
    if new == old:
        raise Broken(
            COPY, f"{case} writes into block {old[-1]}, which {other!r} reads as well: it would read this token too."
        )
    if len(new) > len(old):
        raise Broken(
            COPY, f"{case} makes the table {new}. The token belongs into the last block, beside those before it: a "
            "table has no gaps. Put a copy in the block's place."
        )  # fmt: skip
    if new[:-1] != old[:-1] or new[-1] not in free:
        raise Broken(COPY, f"{case} makes the table {new}; expected {old[:-1]} and a block that was free.")


def _check_returned(case: str, got: Any, expected: tuple[int, int] | None) -> None:
    given = tuple(got) if isinstance(got, list | tuple) else got
    if given == expected:
        return
    if expected is not None and given == expected[::-1]:
        raise Broken(COPY, f"{case} returns {got!r}; the block to copy from comes first, then the one to copy to.")
    raise Broken(COPY, f"{case} returns {got!r}, and was to return {expected!r}.")
