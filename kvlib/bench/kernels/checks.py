"""The few checks that catch every known fault of the kernels: each a name, and whether the kernels pass it."""

import math
from collections.abc import Callable
from functools import partial

import torch

from kvlib.attention.triton import paged_decode, paged_prefill
from kvlib.bench.kernels.fences import far_blocks, far_heads, fenced, fenced_problem, spread, writes_far
from kvlib.bench.kernels.kernel_grid import CORE, E4M3, FP16, FP32, INT8
from kvlib.bench.kernels.problems import BOUNDS, Case, Problem, build, error
from kvlib.bench.kernels.storing import Store, copies_alike, writes_alike
from kvlib.bench.kernels.trials import Trial, outcome, solve

RIGHT, WRONG, NOT_FINITE = "right", "wrong", "not finite"

ONE_EACH, CHUNKS = ((1, 17), (1, 0), (1, 50)), ((5, 20), (0, 7), (1, 50))
IDLE = ((1, 50), (0, 9), (1, 48), (1, 2), (0, 3))
FAR = Case(ONE_EACH, 16, 3, 4, 64, FP16, index_dtype=torch.int32, quantised=E4M3)
FENCED = Case(ONE_EACH, 3, 2, 3, 80, FP32, "unlike")

STORES = {
    "write e4m3": Store((FP32, E4M3), "interleaved", 24, 80),
    "write e4m3 from halves": Store((FP16, E4M3), "heads_first", 1, 128),
    "write int8": Store((FP32, INT8), "padded", 16, 80),
    "write float16": Store((FP16, None), "padded", 24, 80),
}
ATTENTION = {
    "decode": Trial("decode", FAR, "decode", 2, 16),
    "idle": Trial("idle", FAR._replace(sequences=IDLE), "decode", 2, 16),
    "prefill": Trial("prefill", FAR._replace(sequences=CHUNKS), "prefill", tokens=16),
    "first kernel": Trial("first kernel", FAR._replace(quantised=None), "naive"),
}


def fence(trial: Trial, behind: bool) -> str:
    """The trial's kernel with a fence behind, or before, each tensor that it is given."""
    problem = fenced_problem(build(trial.case), behind)
    output = fenced(torch.full(problem.query.shape, math.nan, dtype=problem.query.dtype), behind)
    return verdict(error(solve(trial, problem, output), problem.expected), trial)


def far(trial: Trial, apart: Callable[[Problem], Problem]) -> str:
    """The trial's kernel with more than 2^31 numbers between parts of its tensors, as `apart` has them."""
    problem = apart(build(trial.case))
    output = spread(torch.full(problem.query.shape, math.nan, dtype=problem.query.dtype), int(apart is far_heads))
    return verdict(error(solve(trial, problem, output), problem.expected), trial)


def one_tile() -> str:
    """The prefill kernel launched for the first tile of tokens only: it has to leave all other rows alone."""
    problem = build(Case(((17, 17),), 16, 2, 3, 40, FP32))
    tokens_in_tile = 5  # of 16 rows, 3 for each token
    output = torch.full_like(problem.query, math.nan)
    paged_prefill(*problem[:3], **problem.options, max_query_len=tokens_in_tile, output=output)
    written, rest = output.split([tokens_in_tile, 12])
    right = error(written, problem.expected[:tokens_in_tile]) <= BOUNDS[FP32]
    return RIGHT if right and rest.isnan().all() else WRONG


def nan_in_use() -> str:
    """NaN as one number of one key: the rows that see it are NaN, and no others."""
    problem = build(Case(((1, 20), (1, 20)), 16, 2, 3, 40, FP16, quantised=E4M3))
    key_cache = problem.key_cache.clone()
    key_cache[problem.tables["block_tables"][1, 0], 7, 1, 0] = math.nan
    arguments = {name: value for name, value in problem.options.items() if name != "query_start_loc"}
    output = paged_decode(problem.query, key_cache, problem.value_cache, **arguments, max_context_len=20)
    expected = problem.expected.clone()
    expected[1, 3:] = math.nan
    return RIGHT if torch.equal(output.isnan(), expected.isnan()) else WRONG


def verdict(wrong: float, trial: Trial) -> str:
    """RIGHT, WRONG or NOT_FINITE for the error of a trial's output."""
    if wrong <= BOUNDS[trial.case.dtype]:
        return RIGHT
    return WRONG if math.isfinite(wrong) else NOT_FINITE


def _core(trial: Trial) -> str:
    return verdict(outcome(trial), trial)


def _same(check: Callable[[], bool]) -> str:
    return RIGHT if check() else WRONG


CHECKS: dict[str, Callable[[], str]] = {
    **{name: partial(_core, trial) for name, trial in CORE.items()},
    "rows of one tile": one_tile,
    "NaN in use": nan_in_use,
    **{name: partial(_same, partial(writes_alike, store)) for name, store in STORES.items()},
    "copy": partial(_same, partial(copies_alike, STORES["write float16"])),
    **{
        f"{name}, {what}": partial(far, trial, apart)
        for what, apart in (("far blocks", far_blocks), ("far heads", far_heads))
        for name, trial in ATTENTION.items()
    },
    "write, far blocks": partial(_same, writes_far),
    **{
        f"{name}, fence {'behind' if behind else 'before'}": partial(
            fence, trial._replace(case=FENCED._replace(sequences=trial.case.sequences)), behind
        )
        for name, trial in ATTENTION.items()
        for behind in (True, False)
    },
}
FATAL = [name for name in CHECKS if "," in name]
"""Checks that may end the process where a kernel is wrong: `kvlib.bench.kernels.apart` runs them in one of its own."""
