"""The checks of lab 6: how cached blocks are named, found and given up."""

from collections.abc import Iterator
from typing import Any

from kvlib.chance import Chance, mix
from kvlib.grading.exercise import Exercise, Exercises, Score, Seen, check_callable
from kvlib.grading.exercises.broken import seen
from kvlib.grading.exercises.prefixes.keys import key, root
from kvlib.grading.exercises.prefixes.queue import evict
from kvlib.grading.exercises.prefixes.salts import salts

FULL = "each full block has a key, and no other has"
LINKED = "a key is made from the key before it and the tokens of its own block"
LONGEST = "what is found is the longest run of held blocks from the start that leaves a token to compute"


def _chain(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    check_callable(answer, "root", "token_ids", "block_size", "key_of")
    counts, lasts, fault = [], [], ("", "")
    for number in range(8):
        size = 2 + chance.below(5)
        num_full = 1 + chance.below(5) if number < 7 else 0  # the last one is shorter than a block
        tokens = [chance.below(50_000) for _ in range(size * num_full + (number % 2) * chance.below(size))]
        calls: dict[int, tuple[Any, list]] = {}
        first = chance.below(1000)

        def key_of(parent: Any, token_ids: Any, calls: dict = calls) -> int:
            made = parent if isinstance(parent, int) else 0
            for token in token_ids:
                made = mix(made, token, len(token_ids))
            calls[made] = parent, list(token_ids)
            return made

        given = answer(root=first, token_ids=list(tokens), block_size=size, key_of=key_of)
        keys = list(given) if isinstance(given, list | tuple) else []
        fault = fault if fault[1] else _unchained(given, first, tokens, size, calls)
        counts.append(len(keys))
        lasts.append(keys[-1] if keys else 0)
    yield seen(FULL, counts, fault[1] if fault[0] == FULL else "")
    yield seen(LINKED, lasts, fault[1])


def _unchained(given: Any, root: int, tokens: list[int], size: int, calls: dict) -> tuple[str, str]:
    case, full = f"{len(tokens)} tokens, blocks of {size}:", len(tokens) // size
    if not isinstance(given, list | tuple):
        return FULL, f"{case} chain returns {given!r:.60}; expected a list of keys."
    if len(given) > full:
        return FULL, (
            f"{case} {len(given)} keys, and {full} blocks are full. A block that is not will still get tokens, and its "
            "key would stand for others than it then holds."
        )
    if len(given) < full:
        return FULL, f"{case} {len(given)} keys, and {full} blocks are full."
    before = root
    for index, made in enumerate(given):
        own = tokens[index * size : (index + 1) * size]
        if not isinstance(made, int) or made not in calls:
            return LINKED, f"{case} key {index} is {made!r:.40}, which key_of has not made."
        parent, of = calls[made]
        if of != own:
            more = " What came before is in the key before." if of == tokens[: (index + 1) * size] else ""
            return LINKED, f"{case} key {index} was made from the tokens {of}; its block holds {own}.{more}"
        if parent != before:
            why = "the root" if parent == root else f"{parent!r:.40}"
            return LINKED, (
                f"{case} key {index} was made from {why}, not from the key before it: the same tokens after another "
                "beginning would have this key as well, and other keys and values."
            )
        before = made
    return "", ""


def _find(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    check_callable(answer, "keys", "holder", "num_tokens", "block_size")
    found, fault = [], ""
    for number in range(12):
        size, num_full = 2 + chance.below(6), 3 + chance.below(5) if number != 10 else 0
        num_tokens = size * num_full + (0 if number % 3 == 0 else 1 + chance.below(size - 1))
        keys = [f"key {chance.below(10**9)}" for _ in range(num_full)]
        gap = num_full if number % 3 < 2 else chance.below(num_full - 1)
        held = [place for place in range(num_full) if place != gap]
        holder = {keys[place]: 10 + chance.below(10**6) if number else place for place in held}
        before = dict(holder)
        given = answer(keys=list(keys), holder=holder, num_tokens=num_tokens, block_size=size)
        blocks = list(given) if isinstance(given, list | tuple) else given
        found.append(blocks)
        right = [before[key] for key in keys[: min(gap, (num_tokens - 1) // size)]]
        if fault or blocks == right:
            fault = fault or ("" if holder == before else "find has changed what is held. A lookup changes nothing.")
            continue
        said = ["yes" if key in before else "no" for key in keys]
        case = f"{num_tokens} tokens in blocks of {size}, held: {', '.join(said) or 'nothing'}."
        fault = f"{case} {_misfound(blocks, right, gap < num_full, num_tokens, size)}"
    yield seen(LONGEST, found, fault)


def _misfound(blocks: Any, right: list[int], has_gap: bool, num_tokens: int, size: int) -> str:
    if not isinstance(blocks, list):
        return f"find returns {blocks!r:.60}; expected a list of blocks."
    if blocks[: len(right)] == right and len(blocks) > len(right):
        if len(blocks) * size >= num_tokens:
            return (
                "All of the tokens were found, and none is left to compute: without its last token's query there are "
                "no logits, and no first token."
            )
        if has_gap:
            return (
                f"{len(blocks)} blocks were found; the one behind the gap would stand in the table where the missing "
                "one belongs. The run ends at the first that nobody holds."
            )
    if right[: len(blocks)] == blocks:
        return f"{len(blocks)} blocks were found, and {len(right)} could have been."
    return f"{blocks} were found, and {right} are the longest run."


EXERCISES = Exercises(
    {
        "chain": Exercise(_chain, "A key for each full block, each with all before it in it."),
        "find": Exercise(_find, "The longest run from the start, and always a token left to compute."),
        "evict": Exercise(evict, "Hits are safe, the oldest go first, of one request the deepest."),
        "key": Exercise(key, "No attack of ours makes two blocks one."),
        "root": Exercise(root, "No two ways to be different look the same."),
        "salts": Exercise(salts, "No tenant learns what another has asked."),
    }
)
check, observe = EXERCISES.check, EXERCISES.observe
