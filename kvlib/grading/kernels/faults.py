"""The well-known faults of attention kernels: what each is called in words, and what a kernel has it."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from kvlib.bench.kernels.problems import Problem

SHARP_SCORE = 50
"""The size of scores from which on e to the difference of two may be 0 in float32."""


class Row(NamedTuple):
    """One query head of one sequence and all that it may read, in float64.

    query [head_size]; key, value [context_len, num_kv_heads, head_size]; tile: the tokens of a turn; split_len: those
    of a split, 0 where contexts are not split.
    """

    query: Tensor
    key: Tensor
    value: Tensor
    kv_head: int
    scale: float
    block_size: int
    tile: int
    split_len: int

    @property
    def score(self) -> Tensor:
        return self.key[:, self.kv_head] @ self.query * self.scale  # [context_len]

    @property
    def values(self) -> Tensor:
        return self.value[:, self.kv_head]  # [context_len, head_size]


def row_of(problem: Problem, sequence: int, head: int, tile: int = 16, split_len: int = 0) -> Row:
    """The row that query head `head` of `sequence` reads, found through its block table."""
    block_size, num_kv_heads = problem.key_cache.shape[1:3]
    context_len = int(problem.tables["context_lens"][sequence])
    blocks = problem.tables["block_tables"][sequence, : -(-context_len // block_size)].long()
    key, value = (cache[blocks].flatten(0, 1)[:context_len] for cache in (problem.key_cache, problem.value_cache))
    query = problem.query[sequence, head].double()
    kv_head = head * num_kv_heads // problem.query.shape[1]
    return Row(query, key.double(), value.double(), kv_head, problem.scale, block_size, tile, split_len)


def faults(row: Row) -> Iterator[tuple[str, Tensor]]:
    """Each fault in words, and what a kernel has it."""
    score, values, num_tokens = row.score, row.values, len(row.score)
    if num_tokens == 0:
        return
    yield "the scale is left out; each score is scale * (query . key)", _mean(score / row.scale, values)
    weights = score.exp()
    yield "the weights are not divided by their sum", weights @ values
    yield "the scores themselves are the weights; a weight is e to a score", score @ values / score.sum()
    shifted = (score - score.max()).exp()
    yield "the weights are not divided by their sum", shifted @ values
    for kv_head in range(row.key.shape[1]):
        if kv_head != row.kv_head:
            other = row._replace(kv_head=kv_head)
            yield (
                f"KV head {kv_head} is read; it belongs to KV head {row.kv_head}, head // GROUP",
                _mean(other.score, other.values),
            )
    yield (
        "slots without a token weigh too: their score has to be -inf, or their weight 0",
        _mean(torch.cat([score, score.new_zeros(-num_tokens % row.tile)]), values),
    )
    yield "tl.exp2 stands for tl.exp: 2 to a score is not e to it", _mean(score * math.log(2), values)
    yield from _left_out(row, {1, row.block_size, row.tile, row.split_len} - {0})
    yield from _not_rescaled(row)
    if row.split_len:
        yield from _badly_split(row)
    if score.abs().max() > SHARP_SCORE:
        words = "no token has any weight: e to a score far below the maximum is 0; each head needs a maximum of its own"
        yield words, torch.zeros_like(row.query)


def _left_out(row: Row, widths: set[int]) -> Iterator[tuple[str, Tensor]]:
    """Runs of tokens that count never or twice."""
    score, values, num_tokens = row.score, row.values, len(row.score)
    for width in sorted(widths):
        full = num_tokens // width * width
        if full < num_tokens:
            tokens = f"last {num_tokens - full} tokens are" if num_tokens - full > 1 else "last token is"
            yield f"the {tokens} left out; round the number of turns up", _mean(score[:full], values[:full])
        for begin in range(0, num_tokens, width) if width > 1 else [num_tokens - 1]:
            here = torch.zeros(num_tokens, dtype=torch.bool)
            here[begin : begin + width] = True
            name = f"token {begin} is" if width == 1 else f"tokens {begin} to {min(begin + width, num_tokens) - 1} are"
            yield f"{name} left out", _mean(score.masked_fill(here, -math.inf), values)
            yield (
                f"of all tokens only {begin} to {min(begin + width, num_tokens) - 1} count",
                _mean(score.masked_fill(~here, -math.inf), values),
            )


def _not_rescaled(row: Row) -> Iterator[tuple[str, Tensor]]:
    """The softmax in pieces, with a step left out when the maximum grows."""
    for tile in {row.tile, row.block_size}:
        for forgotten in ("weighted values are", "total is", "weighted values and the total are"):
            weighted, total, maximum = torch.zeros_like(row.query), row.score.new_zeros(()), row.score[0] - 1e9
            for score, values in zip(row.score.split(tile), row.values.split(tile)):
                new_maximum = torch.maximum(maximum, score.max())
                rescale = (maximum - new_maximum).exp()
                weight = (score - new_maximum).exp()
                total = total * (1 if "total" in forgotten else rescale) + weight.sum()
                weighted = weighted * (1 if "values" in forgotten else rescale) + weight @ values
                maximum = new_maximum
            yield (
                f"the {forgotten} not rescaled where a turn brings a larger maximum",
                weighted / total,
            )


def _badly_split(row: Row) -> Iterator[tuple[str, Tensor]]:
    """Splits that overlap, and splits that are put together with the wrong weights."""
    position = torch.arange(len(row.score))
    in_split = position % row.split_len
    times = position // row.split_len + 1  # how often a token counts
    words = "a split reads on to the end of the context; it ends where the next begins"
    yield words, _mean(row.score + times.log(), row.values)
    times = 1 + (in_split < -row.split_len % row.tile) * (position >= row.split_len)
    words = "the last tile of a split reads into the next one; a token is seen before the split's end"
    yield words, _mean(row.score + times.log(), row.values)
    scores, values = row.score.split(row.split_len), row.values.split(row.split_len)
    parts = torch.stack([_mean(score, value) for score, value in zip(scores, values)])
    maxima = torch.stack([score.max() for score in scores])
    totals = torch.stack([(score - score.max()).exp().sum() for score in scores])
    yield "a log sum is log(total) alone; add the maximum", totals @ parts / totals.sum()
    weights = (maxima - maxima.max()).exp()
    yield "a log sum is the maximum alone; add log(total)", weights @ parts / weights.sum()
    words = "the parts are not divided by their totals"
    yield words, _mean(maxima + totals.log(), parts * totals[:, None])


def _mean(score: Tensor, values: Tensor) -> Tensor:
    """The mean of the values by the softmax of their scores, zero if all are -inf; further scores are of zeros."""
    if not (score > -math.inf).any():
        return torch.zeros(values.shape[1:], dtype=torch.float64)
    return score.softmax(0)[: len(values)] @ values
