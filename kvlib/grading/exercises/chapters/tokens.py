"""What a token costs, and which ones need not be computed: the exercises of chapters 2, 3, 4 and 11."""

from itertools import takewhile

from kvlib.chance import Chance
from kvlib.grading.exercises.chapters.lists import Drawn, lists
from kvlib.grading.exercises.sums import Case, sums
from kvlib.memory.buddy import BuddyAllocator, next_power_of_two


def _scores(chance: Chance, number: int) -> Case:
    prompt, answer = 2 + chance.below(40), 2 + chance.below(40)
    fed = prompt + answer - 1
    mistakes = {
        "The last token of the answer is never fed in.": _up_to(fed + 1),
        "A token looks at itself, too.": _up_to(fed - 1),
        "A token of the prompt looks only back, at none that comes after it.": (
            prompt * prompt + _up_to(fed) - _up_to(prompt)
        ),
        "The tokens of the prompt look back, too, in their one pass.": _up_to(fed) - _up_to(prompt),
        "A token looks only back: that is every token at every other.": fed * fed,
        "That is without a cache, with all scores anew in each pass.": sum(map(_up_to, range(prompt, fed + 1))),
    }
    return Case({"num_prompt_tokens": prompt, "num_answer_tokens": answer}, _up_to(fed), mistakes)


def _up_to(last: int) -> int:
    return last * (last + 1) // 2


def _token_bytes(chance: Chance, number: int) -> Case:
    layers, size, width = 10 + chance.below(80), 16 * (2 + chance.below(8)), 1 + chance.below(2)
    few, many = 2 ** chance.below(4), 2 ** (2 + chance.below(4))
    heads, gpus = (few, few * many) if number % 2 else (many * few, few)
    a_head = 2 * layers * size * width
    mistakes = {
        "The heads are shared out; that is all of them.": a_head * heads,
        "Where heads are fewer than GPUs, each GPU has one: it is not nothing.": a_head * (heads // gpus),
        "No head is cut: where heads are fewer than GPUs, each GPU has one.": a_head * heads // gpus,
        "A head has a key and a value.": a_head * max(1, heads // gpus) // 2,
    }
    arguments = {"num_layers": layers, "num_kv_heads": heads, "head_size": size, "number_bytes": width}
    return Case(arguments | {"num_gpus": gpus}, a_head * max(1, heads // gpus), mistakes)


def _first_chunks(chance: Chance, number: int) -> Drawn:
    slots = 2 ** (3 + chance.below(8)) if number == 0 else 9 + chance.below(5000)
    chunks = _chunks(slots)
    largest = max(chunks)
    mistakes = {
        "One chunk cannot have more slots than there are.": [next_power_of_two(slots)],
        "The rest is not lost: it becomes smaller chunks.": [largest],
        "Those are the exponents; give the sizes.": [size.bit_length() - 1 for size in chunks],
        "One slot is left over: a chunk may be as large as all that is left.": _chunks(slots - 1),
        "Not every power is there: those that are add up to num_slots.": _chunks(2 * largest - 1),
    }
    return Drawn({"num_slots": slots}, chunks, mistakes)


def _chunks(slots: int) -> list[int]:
    return [size for _, size in BuddyAllocator(slots).free_chunks]


def _num_found(chance: Chance, number: int) -> Case:
    size = 2 + chance.below(4)
    prompt = [chance.below(90) for _ in range(size * 3 + number % 2 * chance.below(size))]
    kept = (len(prompt), size + chance.below(2 * size), chance.below(size))[number % 3]
    earlier = [_parting(prompt, each, 90 + chance.below(9)) for each in (kept, chance.below(size))]
    if number < 3:
        earlier.reverse()
    common = [sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(prompt, text))) for text in earlier]
    most = max(common)
    right = min(most, len(prompt) - 1) // size * size
    mistakes = {
        "The last token of a prompt is computed even so, and its block with it.": most // size * size,
        "Only full blocks can be found.": min(most, len(prompt) - 1),
        "Only full blocks can be found, and never the last token's.": most,
        "The texts are not added up: take the one with which most is in common.": sum(
            min(each, len(prompt) - 1) // size * size for each in common
        ),
        "Any of the earlier texts will do, not only the last.": min(common[-1], len(prompt) - 1) // size * size,
        "Any of the earlier texts will do, not only the first.": min(common[0], len(prompt) - 1) // size * size,
        "Equal words are not shared, equal beginnings are: stop at the first difference.": _anywhere(
            prompt, earlier, size
        ),
    }
    return Case({"prompt": prompt, "earlier": earlier, "block_size": size}, right, mistakes)


def _parting(prompt: list[int], kept: int, token: int) -> list[int]:
    """The prompt with another token after the first `kept`, and with the same ones behind it."""
    return [*prompt[:kept], token, *prompt[kept + 1 :]] if kept < len(prompt) else prompt


def _anywhere(prompt: list[int], earlier: list[list[int]], size: int) -> int:
    """The tokens of full blocks that some earlier text has at the same place."""
    starts = range(0, len(prompt) - size, size)
    return size * sum(any(text[at : at + size] == prompt[at : at + size] for text in earlier) for at in starts)


SCORES = sums("a token that is fed in has a score with itself and each before it", _scores)
TOKEN_BYTES = sums("heads are shared out among GPUs, and each GPU has one at least", _token_bytes)
FIRST_CHUNKS = lists(
    "different powers of two that add up to the slots",
    _first_chunks,
    "a list of whole numbers",
    lambda sizes: tuple(sorted(sizes)),
)
NUM_FOUND = sums("full blocks of the longest common beginning, without the last token's", _num_found)
