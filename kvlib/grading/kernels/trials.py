"""One run of a learner's kernel on a problem full of poison, watched and compared row by row with float64."""

import math
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from kvlib.bench.kernels.problems import BOUNDS, Case, Problem, error
from kvlib.grading.exercise import Wrong
from kvlib.grading.kernels.faults import row_of
from kvlib.grading.kernels.hardened import hardened
from kvlib.grading.kernels.loops import changes_type
from kvlib.grading.kernels.misread import misread, read_twice, readings
from kvlib.grading.kernels.raised import described, uncallable
from kvlib.grading.kernels.reasons import reason, unknown
from kvlib.grading.kernels.sources import badly_handed_over
from kvlib.grading.kernels.watched import Watch
from kvlib.grading.place import device

Answer = Callable[..., object]
"""A learner's function. It is called with the names of its arguments, `output` among them, which it fills."""


class Trial(NamedTuple):
    """A problem, what a kernel made of it, and what was seen of it."""

    problem: Problem
    output: Tensor
    watch: Watch


def attend(
    attention: Answer,
    case: Case,
    options: Mapping[str, int] | None = None,
    *,
    sharp: Collection[int] = (),
    low: Collection[int] = (),
    split_len: int = 0,
) -> Trial:
    """Run `attention` on the problem of `case`; raises Wrong unless every row is right and nothing else is touched.

    options: further arguments of `attention`. sharp, low: sequences with scores too large for float32, and with scores
    that are all far below zero. split_len: tokens of a split, to find what went wrong.
    """
    problem = hardened(case, sharp, low)
    output = torch.full_like(problem.query, math.nan)
    inputs = {
        "query": problem.query,
        "key_cache": problem.key_cache,
        "value_cache": problem.value_cache,
        "block_tables": problem.tables["block_tables"],
        "context_lens": problem.tables["context_lens"],
    }
    trial = Trial(problem, output, run(attention, inputs, output, scale=problem.scale, **(options or {})))
    num_seqs, num_heads, _ = output.shape
    for sequence in range(num_seqs):
        for head in range(num_heads):
            if error(output[sequence, head][None], problem.expected[sequence, head][None]) > BOUNDS[case.dtype]:
                place = f"Head {head} of sequence {sequence} {_described(case, sequence)}"
                raise Wrong(f"{place} {_why(trial, sequence, head, split_len)}.")
    return trial


def run(answer: Answer, inputs: dict[str, Tensor], output: Tensor, **options: object) -> Watch:
    """Call `answer` with its inputs, output and options, watched; raises Wrong where it fails, or misuses memory."""
    here = {name: tensor.to(device()) for name, tensor in inputs.items()}
    there = output.to(device())
    fault = uncallable(answer, [*here, "output", *options])
    if fault:
        raise Wrong(f"{fault}.")
    try:
        with Watch() as watch, _empty_is_nan(), np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            answer(**here, output=there, **options)
        output.copy_(there)  # waits for a GPU
    except Exception as raised:
        raise Wrong(described(raised, watch.outside)) from raised
    if watch.sees:
        _check_memory(watch, here, there)
    return watch


@contextmanager
def _empty_is_nan() -> Iterator[None]:
    """torch.empty fills what it makes with NaN, so that what nobody wrote shows."""
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)


def _check_memory(watch: Watch, inputs: dict[str, Tensor], output: Tensor) -> None:
    if not watch.launches:
        raise Wrong("No kernel was launched; the numbers have to come from one.")
    for launch in watch.launches:
        name = changes_type(launch.function)
        if name:
            raise Wrong(
                f"{name} of {launch.kernel} is an int before the loop and a float in it; a GPU's compiler refuses "
                f"that, so begin with {name} = 0.0."
            )
    for name, tensor in inputs.items():
        if watch.writes(tensor).any():
            raise Wrong(f"The kernel writes into {name}; it may only write into output.")
    writes = watch.writes(output).reshape(-1, output.shape[-1])  # [rows, head_size]
    for row, counts in enumerate(writes):
        sequence, head = divmod(row, output.shape[1])
        if not counts.all():
            extent = "in full" if counts.any() else "at all"
            raise Wrong(
                f"Head {head} of sequence {sequence} is not written {extent}; each row must be written once, in full."
            )
        if counts.max() > 1:
            raise Wrong(
                f"Head {head} of sequence {sequence} is written {counts.max()} times; write each row once, after the "
                "last turn, in one program."
            )


def _why(trial: Trial, sequence: int, head: int, split_len: int) -> str:
    """What is wrong with a row, as the end of a sentence."""
    problem, output, watch = trial
    got, expected = output[sequence, head], problem.expected[sequence, head]
    is_finite = bool(got.isfinite().all())
    if watch.sees:
        given = (problem.query, problem.key_cache, problem.value_cache, output, *problem.tables.values())
        fault = badly_handed_over(watch, given)
        if fault:
            return f"is wrong: {fault}"
    for other, row in enumerate(problem.expected.flatten(0, 1)):
        place = divmod(other, problem.expected.shape[1])
        is_near = float((got.double() - row).norm()) < 0.01 * float(row.norm())
        if is_near and row.any() and place != (sequence, head):
            return f"has the row of head {place[1]} of sequence {place[0]}"
    found = readings(problem, watch, output, sequence, head) if watch.sees else []
    by_numbers = reason(got, expected, row_of(problem, sequence, head, split_len=split_len), only_tokens=watch.sees)
    twice = next(filter(None, map(read_twice, found)), "")
    read = ": all tokens were read, once each; look at the weights, the sums and their axes" if found else ""
    return misread(found, is_finite) or by_numbers or twice or unknown(got, expected) + read


def _described(case: Case, sequence: int) -> str:
    context_len, size = case.sequences[sequence][1], case.block_size
    blocks = -(-context_len // size)
    return (
        f"({context_len} tokens in {blocks} block{'' if blocks == 1 else 's'} of {size})"
        if context_len
        else "(no token)"
    )
