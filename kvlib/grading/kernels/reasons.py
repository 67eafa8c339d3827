"""Why a row of attention is wrong, in words: each well-known fault is computed too, and the one that fits is named."""

import math

import torch
from torch import Tensor

from kvlib.grading.kernels.faults import Row, faults

NEAR = 0.01
"""Largest relative L2 distance at which a row is taken to be what a fault gives; the right row is twice as far."""


LOW_SCORE = -80
"""e to less is nothing beside e to 0, in float32."""


def reason(got: Tensor, expected: Tensor, row: Row, only_tokens: bool = False) -> str:
    """What `got` [head_size] has instead of `expected`, as the end of a sentence that names the row; "" if not known.

    got: what was computed. expected: float64, the right row. only_tokens: whether it is known that no slot was read for
    it but those of its tokens.
    """
    got = got.double()
    if not got.isfinite().all():
        return _not_finite(row, only_tokens)
    if len(row.score) == 0:
        return "is not zero, though the sequence has no token"
    if not got.any() and row.score.max() < LOW_SCORE:
        return f"is zero: its largest score is {row.score.max():.0f}; begin the maximum at -inf"
    for words, faulty in faults(row):
        if _fits(got, faulty, expected):
            return f"is what comes out when {words}"
    times = float(got @ expected / (expected @ expected))
    if _distance(got, times * expected) < NEAR:
        return f"is {times:.2g} times the right row: it is not divided by the sum of its own weights"
    return ""


def unknown(got: Tensor, expected: Tensor) -> str:
    """That nothing is known but how far `got` is from `expected`."""
    return f"differs from the right row by {_distance(got.double(), expected):.0%}, by no fault that is known here"


def combine_reason(got: Tensor, expected: Tensor, parts: Tensor, log_sums: Tensor) -> str:
    """What `got` [head_size] has instead of the combined row, as the end of a sentence.

    parts [num_splits, head_size]: the means of the splits. log_sums [num_splits]: -inf for a split without a token.
    """
    got, parts, log_sums = got.double(), parts.double(), log_sums.double()
    if not got.isfinite().all():
        if log_sums.max() == -math.inf:
            return "is NaN: no split has a token, and -inf - -inf is NaN, as is 0 / 0; such a row is zero"
        return (
            f"is no number: e to a log sum of {log_sums.max():.0f} is infinite in float32; subtract the largest first"
        )
    weights = (log_sums - log_sums.max()).exp().nan_to_num(0)
    past = 2 ** math.ceil(math.log2(len(parts))) - len(parts)
    for words, faulty in (
        ("every split has the same weight; a split weighs e to its log sum", parts.mean(0)),
        ("the parts are added up; a split weighs e to its log sum", parts.sum(0)),
        ("the weights are not divided by their sum", weights @ parts),
        ("the log sums are the weights; a split weighs e to its log sum", _by(log_sums, parts)),
        ("only the first split counts", parts[0]),
        (
            "places past the last split weigh too: load their log sums as -inf, other=float('-inf')",
            weights @ parts / (weights.sum() + past * (-log_sums.max()).exp()),
        ),
    ):
        if _fits(got, faulty, expected):
            return f"is what comes out when {words}"
    return unknown(got, expected)


def _by(weights: Tensor, parts: Tensor) -> Tensor:
    finite = torch.where(weights.isfinite(), weights, 0)
    return finite @ parts / finite.sum()


def _fits(got: Tensor, faulty: Tensor, expected: Tensor) -> bool:
    return _distance(got, faulty) < min(NEAR, _distance(got, expected) / 2)


def _distance(one: Tensor, other: Tensor) -> float:
    return float((one - other).norm() / other.norm().clamp(min=1e-30))


def _not_finite(row: Row, only_tokens: bool) -> str:
    if len(row.score) == 0:
        return "is NaN: the sequence has no token, so the sum of its weights is 0; divide by 1 instead"
    largest = row.score.max()
    if largest > 88:
        return (
            f"is no number: its largest score is {largest:.0f}, and e to more than 88 is infinite in float32; "
            "subtract the largest score before tl.exp"
        )
    if largest < LOW_SCORE:
        return f"is NaN: its largest score is {largest:.0f}, so no token has any weight; begin the maximum at -inf"
    infinite = (
        "inf * 0 is NaN; rescale is e to (old maximum - new maximum), where the old one is -inf at first, and weights "
        "use the new one"
    )
    if only_tokens:
        return f"is NaN, though no slot was read but those of its tokens: {infinite}"
    return f"is NaN: either a slot that holds no token was read, so mask the loads of keys and values, or {infinite}"
