"""Why a row of attention is wrong, in words: each well-known fault is computed too, and the one that fits is named."""

import math

import torch
from torch import Tensor

from kvlib.grading.faults import Row, faults

NEAR = 0.01
"""Largest relative L2 distance at which a row is taken to be what a fault gives; the right row is twice as far."""


def reason(got: Tensor, expected: Tensor, row: Row) -> str:
    """What `got` [head_size] has instead of `expected`, as the end of a sentence that names the row.

    got: what was computed. expected: float64, the right row.
    """
    got = got.double()
    if not got.isfinite().all():
        return _not_finite(row)
    for words, faulty in faults(row):
        if _distance(got, faulty) < NEAR and _distance(faulty, expected) > 2 * NEAR:
            return f"is what comes out when {words}"
    if len(row.score) == 0:
        return "is not zero, though the sequence has no token"
    return f"is wrong by {_distance(got, expected):.0%} of its length, and by no fault that is known here"


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
    for words, faulty in (
        ("every split has the same weight; a split weighs e to its log sum", parts.mean(0)),
        ("the parts are added up; a split weighs e to its log sum", parts.sum(0)),
        ("the weights are not divided by their sum", weights @ parts),
        ("the log sums are the weights; a split weighs e to its log sum", _by(log_sums, parts)),
        ("only the first split counts", parts[0]),
    ):
        if _distance(got, faulty) < NEAR and _distance(faulty, expected) > 2 * NEAR:
            return f"is what comes out when {words}"
    return f"is wrong by {_distance(got, expected):.0%} of its length, and by no fault that is known here"


def _by(weights: Tensor, parts: Tensor) -> Tensor:
    finite = torch.where(weights.isfinite(), weights, 0)
    return finite @ parts / finite.sum()


def _distance(one: Tensor, other: Tensor) -> float:
    return float((one - other).norm() / other.norm().clamp(min=1e-30))


def _not_finite(row: Row) -> str:
    if len(row.score) == 0:
        return "is NaN: the sequence has no token, so the sum of its weights is 0; divide by 1 instead"
    if row.score.max() > 88:
        return (
            f"is no number: its largest score is {row.score.max():.0f}, and e to more than 88 is infinite in float32; "
            "subtract the largest score before tl.exp"
        )
    return (
        "is NaN, and so is every slot that holds no token: one was read, and even 0 * NaN is NaN; mask the loads of "
        "keys and values"
    )
