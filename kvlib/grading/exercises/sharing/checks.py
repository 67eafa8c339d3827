"""The checks of lab 5, but for its beams: forks, copy-on-write, and how many blocks answers to one prompt hold."""

from collections.abc import Callable, Iterator
from typing import Any

from kvlib.chance import Chance
from kvlib.grading.exercise import Exercise, Exercises, Score, Seen, check_all_callable, check_callable
from kvlib.grading.exercises.broken import Broken, seen
from kvlib.grading.exercises.sharing.append import append
from kvlib.grading.exercises.sharing.laws import COUNTS, FREE, check_counts
from kvlib.grading.exercises.sharing.memory import Memory
from kvlib.memory import BlockManager

FORK = "a fork takes no block: the child has a table of its own with the blocks of its parent"


def _share(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    fork, free = _functions(answer)
    found: dict[str, list] = {FORK: [], COUNTS: [], FREE: []}
    memory = Memory(60, 2 + chance.below(6))
    try:
        for number in range(24):
            seqs, is_ending = list(memory.tables), number >= 12
            if is_ending and not seqs:
                break
            choice = (0, 4, 4)[number] if number < 3 else chance.below(8)
            if is_ending or (choice > 5 and len(seqs) > 1):
                seq = seqs[chance.below(len(seqs))]
                what = f"free(memory, {seq!r})"
                _free(memory, free, seq)
            elif choice < 2 or not seqs:
                what = f"the admission of {number}"
                memory.admit(str(number), 1 + chance.below(4 * memory.block_size))
            else:
                parent, child = seqs[chance.below(len(seqs))], str(number)
                what = f"fork(memory, {parent!r}, {child!r})"
                _fork(memory, fork, parent, child)
            check_counts(memory, what)
            found[FORK].append(sum(map(len, memory.tables.values())))
            found[COUNTS].append(max(memory.counts))
            found[FREE].append(len(memory.free_blocks))
    except Broken as broken:
        yield broken.seen
        return
    yield from (Seen(law, values) for law, values in found.items())


def _functions(answer: Any) -> tuple[Callable, Callable]:
    check_all_callable(answer, "check('share', (fork, free))", ("memory", "parent", "child"), ("memory", "seq"))
    return answer


def _fork(memory: Memory, fork: Callable, parent: str, child: str) -> None:
    blocks, num_free = list(memory.tables[parent]), len(memory.free_blocks)
    what = f"fork(memory, {parent!r}, {child!r})"
    fork(memory=memory, parent=parent, child=child)
    if child not in memory.tables:
        raise Broken(FORK, f"After {what} there is no memory.tables[{child!r}].")
    if memory.tables[child] is memory.tables[parent]:
        raise Broken(
            FORK,
            f"After {what} both names stand for one and the same list: when the parent gets a block, the child's table "
            "has it too. Copy the list.",
        )
    if len(memory.free_blocks) != num_free:
        taken = num_free - len(memory.free_blocks)
        raise Broken(FORK, f"{what} took {taken} blocks. A fork takes none, it names them.")
    if memory.tables[child] != blocks or memory.tables[parent] != blocks:
        tables = f"{memory.tables[parent]} and {memory.tables[child]}"
        raise Broken(FORK, f"After {what} the tables are {tables}, and were to be {blocks} both.")
    if memory.num_tokens.get(child) != memory.num_tokens[parent]:
        raise Broken(
            FORK,
            f"After {what} the child stores {memory.num_tokens.get(child)} tokens, by memory.num_tokens, and its "
            f"parent {memory.num_tokens[parent]}.",
        )


def _free(memory: Memory, free: Callable, seq: str) -> None:
    free(memory=memory, seq=seq)
    for name in ("tables", "num_tokens"):
        if seq in getattr(memory, name):
            raise Broken(FREE, f"After free(memory, {seq!r}) memory.{name} still has {seq!r}.")


def _blocks(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    check_callable(answer, "num_prompt_tokens", "lengths", "block_size")
    found, fault = [], ""
    for number in range(12):
        block_size = 2 + chance.below(15) if number != 10 else 1
        num_full = 1 + chance.below(4) if number != 9 else 0
        prompt = block_size * num_full + (1 + chance.below(block_size - 1) if number % 2 else 0)
        lengths = [chance.below(3 * block_size) for _ in range(2 + chance.below(4) if number != 11 else 1)]
        if number % 3 == 0:
            lengths[chance.below(len(lengths))] = 0
        given = answer(num_prompt_tokens=prompt, lengths=list(lengths), block_size=block_size)
        found.append(given)
        fault = fault or _miscounted(given, prompt, lengths, block_size)
    yield seen("answers share the full blocks of their prompt, and no block that was written into", found, fault)


def _miscounted(given: Any, prompt: int, lengths: list[int], block_size: int) -> str:
    manager = BlockManager(1000, block_size)
    manager.admit(0, prompt)
    for seq in range(1, len(lengths)):
        manager.fork(0, seq)
    for seq, length in enumerate(lengths):
        for _ in range(length):
            manager.append(seq)
    right = manager.pool.num_blocks - manager.num_free_blocks
    if given == right:
        return ""
    asked = f"A prompt of {prompt} tokens, answers of {lengths}, blocks of {block_size}"
    case = f"{asked}: {given!r:.40} blocks, and the manager holds {right}."
    tables = [manager.table(seq).blocks for seq in manager.sequences]
    full, writers = prompt // block_size, sum(length > 0 for length in lengths)
    if given == sum(map(len, tables)):
        return f"{case} That is what the tables name; a block that several name is there once."
    if given == right + len(lengths) - writers and prompt % block_size:
        return f"{case} An answer that has written nothing has copied nothing."
    if given == right - 1 and prompt % block_size and writers < len(lengths):
        return f"{case} Who has not written yet still names the prompt's last, part-filled block."
    if given == right + 1 and prompt % block_size and writers == len(lengths):
        return f"{case} The last that writes into the prompt's part-filled block does not copy it, and nobody is left."
    if given == full + bool(prompt % block_size) + sum(-(-length // block_size) for length in lengths):
        return f"{case} Answers do not begin in a new block, they go on in the prompt's last one."
    return f"{case} Count the prompt's full blocks once, and for each answer the rest of its table."


EXERCISES = Exercises(
    {
        "share": Exercise(_share, "A fork takes nothing, and a block is free when its last owner has gone."),
        "append": Exercise(append, "A block is copied when others name it and it has room, and never else."),
        "blocks": Exercise(_blocks, "36 requests hold what the manager holds."),
    }
)
check, observe = EXERCISES.check, EXERCISES.observe
