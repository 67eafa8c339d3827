"""A cache that grows: what it gives back, and how many numbers it writes for that."""

from collections.abc import Iterator
from typing import Any

import torch

from kvlib.chance import Chance
from kvlib.grading.exercise import Score, Seen, Wrong, check_callable
from kvlib.grading.exercises.caching.written import NumbersWritten


def cache(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    """`Cache`: a prompt in one piece, then a token at a time, through each layer."""
    layers, heads, size, steps = 2 + chance.below(2), 1 + chance.below(3), 2 + chance.below(4), 12
    passes = [3 + chance.below(6), *[1] * steps]
    most = sum(passes) + chance.below(9)
    check_callable(answer, "num_layers", "max_tokens", "num_kv_heads", "head_size")
    kept = answer(num_layers=layers, max_tokens=most, num_kv_heads=heads, head_size=size)
    if _number(kept) != 0:
        raise Wrong(f"num_tokens() of a new cache is {_number(kept)}; nothing is in it yet, so 0.")
    made = torch.tensor([chance.below(1999) - 999 for _ in range(2 * layers * sum(passes) * heads * size)])
    keys, values = made.float().view(2, layers, sum(passes), heads, size)
    seen: list[int] = []
    start = written = 0
    for count in passes:
        new = slice(start, start := start + count)
        for layer in range(layers):
            with NumbersWritten() as watch:
                returned = kept.append(layer, keys[layer, new], values[layer, new])
            written += watch.numbers
            _compare(returned, keys[layer, :start], values[layer, :start], layer, start, count)
            seen.append(int((returned[0] * 2 - returned[1]).sum()))
        if _number(kept) != start:
            raise Wrong(
                f"{start} tokens were given to each of {layers} layers, and num_tokens() is {_number(kept)}. Count "
                "each token once, not once a layer or once a pass."
            )
    yield Seen("each append returns the keys and values of all tokens of its layer, in order", seen)
    yield Seen("the cache knows how many tokens it holds", _number(kept))
    yield Score("numbers written", written, 2 * layers * sum(passes) * heads * size)


def _compare(returned: Any, keys: torch.Tensor, values: torch.Tensor, layer: int, known: int, new: int) -> None:
    """Raises Wrong unless `returned` is (keys, values), those of all `known` tokens of a layer."""
    if not isinstance(returned, tuple | list) or len(returned) != 2 or not all(map(torch.is_tensor, returned)):
        raise Wrong(f"append returned {type(returned).__name__}; it returns two tensors, keys and values.")
    for name, got, expected, other in (("keys", returned[0], keys, values), ("values", returned[1], values, keys)):
        if got.shape[1:] != expected.shape[1:] or got.dim() != 3:
            raise Wrong(
                f"The {name} that append returns have shape {list(got.shape)}; expected {list(expected.shape)}."
            )
        if len(got) != known:
            raise Wrong(
                f"Layer {layer} was given {known} tokens, the last {new} of them just now, and append returned the "
                f"{name} of {len(got)}; it returns those of all tokens so far, the new ones at the end."
            )
        if torch.equal(got.float(), expected):
            continue
        if torch.equal(got.float(), other):
            raise Wrong("append returns keys where values belong; it takes and returns keys first, then values.")
        if torch.equal(got.float(), torch.cat((expected[-new:], expected[:-new]))):
            raise Wrong("The new tokens stand before the old ones; tokens are kept in the order of the text.")
        wrong = (got.float() != expected).flatten(1).any(1).nonzero().flatten().tolist()
        raise Wrong(
            f"In layer {layer}, the {name} of token {wrong[0]} are not what was given for it. Are the layers kept "
            "apart, and is every token written to a place of its own?"
        )


def _number(kept: Any) -> int:
    number = kept.num_tokens()
    try:
        return int(number)
    except (TypeError, ValueError):
        raise Wrong(f"num_tokens() returns {type(number).__name__}; expected a whole number.") from None
