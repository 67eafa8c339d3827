"""Blocks and their tables: the exercises of chapters 1, 6, 7, 8 and 9."""

from math import ceil

from kvlib.chance import Chance
from kvlib.grading.exercises.chapters.lists import Drawn, lists
from kvlib.grading.exercises.sums import Case, sums
from kvlib.memory import BlockManager, BlockTable


def _filled(chance: Chance, number: int) -> Case:
    size = 2 + chance.below(7)
    lengths = [size * (1 + chance.below(4)) + (chance.below(size) if place else 0) for place in range(3 + number % 3)]
    tokens, blocks = sum(lengths), [ceil(length / size) for length in lengths]
    mistakes = {
        "The empty slots of a last block are given, too: round up to whole blocks.": 1.0,
        "A block that is begun is given whole: round up, not down.": tokens / sum(n // size * size for n in lengths),
        "A text that ends with its block needs no further one.": tokens / sum((n // size + 1) * size for n in lengths),
        "Each text has blocks of its own: round up text by text, not all tokens together.": tokens
        / (ceil(tokens / size) * size),
        "That is the mean of the shares; add up tokens and slots first.": sum(
            length / (count * size) for length, count in zip(lengths, blocks)
        )
        / len(lengths),
        "That is tokens a block; a block has block_size slots.": tokens / sum(blocks),
    }
    return Case({"lengths": lengths, "block_size": size}, tokens / (sum(blocks) * size), mistakes)


def _tables(chance: Chance) -> dict[str, list[int]]:
    """Block tables of three texts that lie among each other in a memory."""
    places = sorted(range(1, 12), key=lambda block: chance.bits())
    counts = [2 + chance.below(2) for _ in range(3)]
    return {name: [places.pop() for _ in range(count)] for name, count in zip("ABC", counts)}


def _whose(chance: Chance, number: int) -> Drawn:
    size = 3 + chance.below(6)
    tables = _tables(chance)
    offset = 1 + chance.below(size - 1)
    name = "" if number == 2 else "ABC"[chance.below(3)]
    block = tables[name][index := 1 + chance.below(len(tables[name]) - 1)] if name else _unnamed(tables)

    def held(position: int) -> tuple[str, int] | None:
        return (name, position) if name else None

    slot = block * size + offset
    mistakes = {
        "That is the slot; the position counts from the beginning of the text.": held(slot),
        "That is the place in the block; the blocks before it in the table count, too.": held(offset),
        "An entry stands for block_size positions.": held(index + offset) if name else None,
        "The place in the block is left out.": held(index * size) if name else None,
        "Entries are counted from zero.": held((index + 1) * size + offset) if name else None,
        "That is the physical block; give the position.": held(block),
    }
    right = held(index * size + offset) if name else None
    return Drawn({"tables": tables, "block_size": size, "slot": slot}, right, mistakes)


def _unnamed(tables: dict[str, list[int]]) -> int:
    return next(block for block in range(1, 13) if all(block not in blocks for blocks in tables.values()))


def _entries(chance: Chance, number: int) -> Drawn:
    size = 2 + chance.below(7)
    full, rest = 1 + chance.below(3), 0 if number % 3 == 0 else 1 + chance.below(size - 1)
    [blocks, *_] = _tables(chance).values()
    blocks = [*blocks, 13, 14][: full + (rest > 0)]
    table = BlockTable(size, blocks, full * size + rest)
    *others, last = blocks
    all_but_last = [(block, size) for block in others]
    mistakes = {
        "A last block that is full has block_size tokens, and the remainder says zero.": [*all_but_last, (last, rest)],
        "The last block need not be full.": [*all_but_last, (last, size)],
        "Those are the empty slots of the last block; give the filled ones.": [
            *all_but_last,
            (last, (size - rest) % size),
        ],
        "Those are all tokens up to the end of each block; give its own.": [
            (block, min((place + 1) * size, table.num_tokens)) for place, block in enumerate(blocks)
        ],
    }
    arguments = {"blocks": blocks, "num_tokens": table.num_tokens, "block_size": size}
    return Drawn(arguments, [tuple(entry) for entry in table.entries()], mistakes)


def _num_freed(chance: Chance, number: int) -> Case:
    prompt = list(range(1, 2 + chance.below(3)))
    pair = [10 + place for place in range(1 + chance.below(3))]
    own = {name: [20 + 10 * place + each for each in range(1 + chance.below(3))] for place, name in enumerate("ABC")}
    tables = {name: prompt + pair * (name != "C") + blocks for name, blocks in own.items()}
    leaving = list(("AB", "A", "ABC", "BC", "C", "AB")[number])
    named = [block for blocks in tables.values() for block in blocks]
    going = [block for name in leaving for block in tables[name]]
    staying = [block for name, blocks in tables.items() if name not in leaving for block in blocks]
    mistakes = {
        "A block that somebody else still names is not free.": len(set(going)),
        "A block that two name is one block.": len([block for block in going if block not in staying]),
        "Those are entries: a block that others name stays, and one that two name is one.": len(going),
        "What only those name that leave is free, too, however many they are.": sum(named.count(b) == 1 for b in going),
        "Those are the blocks that stay.": len(set(staying)),
    }
    return Case({"tables": tables, "leaving": leaving}, len(set(going) - set(staying)), mistakes)


def _steps_left(chance: Chance, number: int) -> Case:
    size, count = 3 + chance.below(6), 2 + chance.below(3)
    tokens = [1 + chance.below(5 * size) for _ in range(count)]
    if number % 2:
        tokens[0] = size * (1 + chance.below(4))
    free = chance.below(7)
    held = sum(ceil(each / size) for each in tokens)
    manager = BlockManager(num_blocks=held + free, block_size=size)
    for name, num_tokens in enumerate(tokens):
        manager.admit(name, num_tokens)
    steps = _grown(manager)
    room = sum(-each % size for each in tokens)
    mistakes = {
        "In that step somebody finds no block.": steps + 1,
        "The free blocks are not cut up: a block goes to one text, whole.": (free * size + room) // count,
        "A last block has room left, and a block goes to one text, whole.": free * size // count,
        "A last block has room left, which is filled first.": free // count * size,
        "Not every text wants a block in every step.": free // count,
    }
    return Case({"num_tokens": tokens, "num_free": free, "block_size": size}, steps, mistakes)


def _grown(manager: BlockManager) -> int:
    """Steps in which every sequence could be given room for one more token."""
    steps = 0
    while manager.can_append(manager.sequences):
        manager.append_each(manager.sequences)
        steps += 1
    return steps


FILLED = sums("tokens over the slots of whole blocks", _filled)
WHOSE = lists("a slot is found in one of the tables, or nobody's", _whose, "a name and a position, or None")
ENTRIES = lists(
    "the tokens in each block add up to those of the text",
    _entries,
    "a list of pairs, each a block and a whole number",
)
NUM_FREED = sums("a block is free when no table names it", _num_freed)
STEPS_LEFT = sums("steps until a text wants a block and none is free", _steps_left)
