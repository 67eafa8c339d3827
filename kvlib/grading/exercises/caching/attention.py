"""Attention of one token and of many: keys made so that each share is a whole number out of a known sum."""

from collections.abc import Iterator, Mapping, Sequence
from math import log, sqrt
from typing import Any

import torch
from torch import Tensor

from kvlib.chance import Chance
from kvlib.grading.exercise import Score, Seen, Wrong, check_callable

NEAR = 0.05  # of sums of whole numbers


def one_row(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    """`attend(query, keys, values)`: one token over all."""
    check_callable(answer, "query", "keys", "values")
    for shift in (0, 100):
        size, context_len = (4, 16, 64)[chance.below(3)], 3 + chance.below(7)
        weights = [1 + chance.below(6) for _ in range(context_len)]
        query, keys, values = _made(chance, size, weights, shift)
        output = _output(answer(query=query, keys=keys, values=values), [size])
        sums = output * sum(weights)
        fault = _fault_of_a_row(sums, weights, values, size)
        law = "the shares of the tokens follow from their scores" if not shift else "large scores do no harm"
        yield Seen(law, sums.round().int().tolist(), fault)


def rows(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    """`causal(queries, keys, values)`: the last tokens of a text over all of it."""
    check_callable(answer, "queries", "keys", "values")
    size = (4, 16, 64)[chance.below(3)]
    context_len = 6 + chance.below(5)
    weights = [1 + chance.below(4) for _ in range(context_len)]
    query, keys, values = _made(chance, size, weights)
    times = [1 + chance.below(2) for _ in range(context_len)]
    queries = torch.stack([query * factor for factor in times])
    for num_queries in (context_len, 3):
        first = context_len - num_queries
        output = _output(answer(queries=queries[first:], keys=keys, values=values), [num_queries, size])
        sums = []
        for row in range(num_queries):
            own = [weight ** times[first + row] for weight in weights]
            sums.append(output[row] * sum(own[: first + row + 1]))
            _check_row(sums[-1], own, values, first, row, num_queries)
        law = "a row reads its own token and all before it" + ("" if not first else ", where the cache holds more")
        yield Seen(law, torch.stack(sums).round().int().flatten().tolist())
    one = chance.below(context_len - 2) + 1
    alone = _output(answer(queries=queries[one : one + 1], keys=keys[: one + 1], values=values[: one + 1]), [1, size])
    same = alone[0] * sum(weight ** times[one] for weight in weights[: one + 1])
    own = [weight ** times[one] for weight in weights[: one + 1]]
    fault = "" if _is(same, own, values) else f"Row {one} comes out otherwise when it is computed alone."
    yield Seen("a row that is computed alone is that row of the whole", same.round().int().tolist(), fault)


def _check_row(sums: Tensor, weights: Sequence[int], values: Tensor, first: int, row: int, num_queries: int) -> None:
    """Raises Wrong unless `sums` is what the tokens up to first + row give together."""
    own = first + row
    visible = weights[: own + 1]
    if _is(sums, visible, values):
        return
    total = sum(visible)
    where = f"Of {first + num_queries} tokens, the last {num_queries} are queries. Row {row} is token {own}, and "
    if _is(sums * sum(weights) / total, weights, values):
        raise Wrong(f"{where}it reads all {len(weights)}; nothing that comes later may be read.")
    if _is(sums * sum(weights) / total, visible, values):
        raise Wrong(f"{where}its shares do not add up to one: hide what is later before the softmax, not after it.")
    if own and _is(sums * sum(weights[:own]) / total, weights[:own], values):
        raise Wrong(f"{where}it does not read itself; a token reads its own key and value as well.")
    if first and _is(sums * sum(weights[: row + 1]) / total, weights[: row + 1], values):
        raise Wrong(
            f"{where}it reads tokens 0 to {row}: the triangle lies at the left end. The queries are the last tokens, "
            f"so row r may read tokens 0 to {first} + r."
        )
    counted = [*visible, *[1] * (len(weights) - len(visible))]
    if _is(sums * sum(counted) / total, counted, values):
        raise Wrong(f"{where}a hidden token counts with the score 0, and e to 0 is one; what is hidden gets -inf.")
    if not sums.isfinite().all():
        raise Wrong(f"{where}its output is not finite; what is hidden gets the score -inf, and no row is hidden whole.")
    raise Wrong(f"{where}should be the mean of the values of tokens 0 to {own} by their shares, and is not.")


def _fault_of_a_row(sums: Tensor, weights: Sequence[int], values: Tensor, size: int) -> str:
    if _is(sums, weights, values):
        return ""
    if not sums.isfinite().all():
        return (
            "With scores above 100 the output is not finite: e to such a score is beyond float32. Subtract the largest "
            "score from all of them first, which changes no share; torch.softmax does."
        )
    total, root = sum(weights), sqrt(size)
    mistakes: Mapping[str, Sequence[float]] = {
        "The scores are not divided by the root of head_size.": [weight**root for weight in weights],
        "The scores are divided by head_size; it is its square root.": [weight ** (1 / root) for weight in weights],
        "Each token counts the same; the shares are the softmax of the scores over the tokens.": [1] * len(weights),
    }
    for words, wrong in mistakes.items():
        if _is(sums * sum(wrong) / total, wrong, values):
            return words
    if _is(sums / total, weights, values):
        return "The shares do not add up to one: divide by the sum of all e to the score."
    if _is(sums / total, [log(weight) for weight in weights], values):
        return "The values are added up by the scores themselves; turn the scores into shares first, with softmax."
    return "The output is not the mean of the values by their shares. Compare the shapes in each step."


def _is(sums: Tensor, weights: Sequence[float], values: Tensor) -> bool:
    """Whether `sums` are the first values, each as often as its weight says."""
    expected = torch.tensor(weights, dtype=torch.float64) @ values[: len(weights)].double()
    return bool(((sums.double() - expected).abs() <= NEAR * (1 + expected.abs() / 100)).all())


def _made(chance: Chance, size: int, weights: Sequence[int], shift: float = 0) -> tuple[Tensor, Tensor, Tensor]:
    """A query, keys whose scores are log(weight) + shift, and values that are whole numbers."""
    query = torch.tensor([(-1) ** chance.below(2) * (1 + chance.below(2)) for _ in range(size)], dtype=torch.float64)
    scores = torch.tensor([log(weight) + shift for weight in weights], dtype=torch.float64)
    keys = scores[:, None] * query * sqrt(size) / (query @ query)
    values = torch.tensor([[chance.below(19) - 9 for _ in range(size)] for _ in weights])
    return query.float(), keys.float(), values.float()


def _output(given: Any, shape: list[int]) -> Tensor:
    if not torch.is_tensor(given):
        raise Wrong(f"It returns {type(given).__name__}; expected a tensor {shape}.")
    if list(given.shape) != shape:
        raise Wrong(f"It returns a tensor of shape {list(given.shape)}; expected {shape}.")
    return given.detach().double()
