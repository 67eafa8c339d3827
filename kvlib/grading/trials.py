"""One run of a learner's kernel on a problem full of poison, watched and compared row by row with float64."""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from kvlib.bench.kernels.problems import BOUNDS, Case, Problem, answer, build, error
from kvlib.errors import OutsideMemory
from kvlib.grading.faults import row_of
from kvlib.grading.place import device
from kvlib.grading.reasons import reason
from kvlib.grading.watched import Watch

Answer = Callable[..., object]
"""A learner's function. It is called with the names of its arguments, `output` among them, which it fills."""

SHARP = 300
"""The factor on a query after which e to its scores, and to their differences, is infinite in float32."""


class Wrong(Exception):
    """What a kernel does not do, in words."""


class Trial(NamedTuple):
    """A problem that a kernel solved, and what was seen of it."""

    problem: Problem
    watch: Watch


def attend(
    attention: Answer, case: Case, options: Mapping[str, int] | None = None, *, sharp: bool = False, split_len: int = 0
) -> Trial:
    """Run `attention` on the problem of `case`; raises Wrong unless every row is right and nothing else is touched.

    options: further arguments of `attention`. sharp: with a query that makes scores too large for float32. split_len:
    tokens of a split, to find what went wrong.
    """
    problem = _problem(case, sharp)
    output = torch.full_like(problem.query, math.nan)
    inputs = {
        "query": problem.query,
        "key_cache": problem.key_cache,
        "value_cache": problem.value_cache,
        "block_tables": problem.tables["block_tables"],
        "context_lens": problem.tables["context_lens"],
    }
    watch = run(attention, inputs, output, scale=problem.scale, **(options or {}))
    num_seqs, num_heads, _ = output.shape
    for sequence in range(num_seqs):
        for head in range(num_heads):
            got, expected = output[sequence, head], problem.expected[sequence, head]
            if error(got[None], expected[None]) > BOUNDS[case.dtype]:
                place = f"Head {head} of sequence {sequence} {_described(case, sequence)}"
                raise Wrong(f"{place} {_why(got, problem, sequence, head, watch, split_len)}.")
    return Trial(problem, watch)


def run(answer: Answer, inputs: dict[str, Tensor], output: Tensor, **options: object) -> Watch:
    """Call `answer` with its inputs, output and options, watched; raises Wrong where it fails, or misuses memory."""
    here = {name: tensor.to(device()) for name, tensor in inputs.items()}
    there = output.to(device())
    try:
        with Watch() as watch, _empty_is_nan(), np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            answer(**here, output=there, **options)
        output.copy_(there)  # waits for a GPU
    except Exception as raised:
        raise Wrong(_raised(raised)) from raised
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


def _problem(case: Case, sharp: bool) -> Problem:
    """The problem, its tensors this trial's own, on the CPU."""
    problem = build(case)
    query, expected = problem.query.clone(), problem.expected
    if sharp:
        query *= SHARP
        rows = []
        for sequence in range(len(query)):
            row = row_of(problem, sequence, 0)
            blank = expected[sequence][None]
            rows.append(answer(query[sequence][None], row.key, row.value, problem.scale) if len(row.key) else blank)
        expected = torch.cat(rows)
    return problem._replace(
        query=query,
        key_cache=problem.key_cache.clone(),
        value_cache=problem.value_cache.clone(),
        tables={name: table.clone() for name, table in problem.tables.items()},
        expected=expected,
    )


def _check_memory(watch: Watch, inputs: dict[str, Tensor], output: Tensor) -> None:
    if not watch.launches:
        raise Wrong("No kernel was launched; the numbers have to come from one.")
    for name, tensor in inputs.items():
        if watch.writes(tensor).any():
            raise Wrong(f"The kernel writes into {name}; it may only write into output.")
    writes = watch.writes(output).reshape(-1, output.shape[-1])  # [rows, head_size]
    for row, counts in enumerate(writes):
        sequence, head = divmod(row, output.shape[1])
        if not counts.all():
            raise Wrong(f"Head {head} of sequence {sequence} is not written, or not whole; every row is, once.")
        if counts.max() > 1:
            raise Wrong(
                f"Head {head} of sequence {sequence} is written {counts.max()} times; write each row once, after the "
                "last turn, in one program."
            )


def _why(got: Tensor, problem: Problem, sequence: int, head: int, watch: Watch, split_len: int) -> str:
    """What is wrong with a row, as the end of a sentence."""
    if not got.isfinite().all() and watch.reads(problem.key_cache)[0].any():
        return "is NaN: block 0 was read, which belongs to nobody; the table has the physical block of a logical one"
    if not got.isfinite().all() and watch.unwritten():
        return f"is NaN: {watch.unwritten()} was read where nothing was written; a split without a token writes too"
    for other, row in enumerate(problem.expected.flatten(0, 1)):
        if row.any() and float((got.double() - row).norm()) < 0.01 * float(row.norm()):
            other_sequence, other_head = divmod(other, problem.expected.shape[1])
            return f"has the row of head {other_head} of sequence {other_sequence}"
    return reason(got, problem.expected[sequence, head], row_of(problem, sequence, head, split_len=split_len))


def _described(case: Case, sequence: int) -> str:
    context_len, size = case.sequences[sequence][1], case.block_size
    blocks = -(-context_len // size)
    return (
        f"({context_len} tokens in {blocks} block{'' if blocks == 1 else 's'} of {size})"
        if context_len
        else "(no token)"
    )


def _raised(raised: BaseException) -> str:
    """What an answer raised, in a line: the innermost cause, as Triton wraps what happens in a kernel."""
    cause = raised
    while cause.__cause__ is not None:
        cause = cause.__cause__
    if isinstance(cause, OutsideMemory):
        return (
            f"It leaves its memory: {cause}. Is every load and store masked, and does each block come from the row of "
            "its own sequence in the table?"
        )
    line = str(cause).strip().partition("\n")[0]
    return f"It raises {type(cause).__name__}: {line}"
