"""One call of an attention kernel, held against float64."""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from kvlib.attention import attend
from kvlib.attention.triton import Tiles, Workspace, naive, paged_decode, paged_prefill
from kvlib.attention.triton.device import device_of
from kvlib.attention.triton.tiles import decode_tiles, prefill_tiles
from kvlib.bench.kernels.layouts import everything_of
from kvlib.bench.kernels.problems import Case, Problem, build, error


class Trial(NamedTuple):
    """One call of a kernel.

    kernel: "attend" for both kernels over a batch, "decode" for one new token of each sequence, "prefill" for any
    number, "naive" for the first kernel. num_splits: of "decode". tokens: at most so many in a tile.
    """

    name: str
    case: Case
    kernel: str
    num_splits: int = 1
    tokens: int = 64


def outcome(trial: Trial, device: torch.device | str = "cpu") -> float:
    """The error of the trial's output as `kvlib.bench.kernels.problems.error` has it; infinite where the kernel wrote
    beside the output."""
    problem = build(trial.case).to(device)
    query = problem.query
    everything = torch.full_like(everything_of(query), math.nan)
    output = everything.as_strided(query.shape, query.stride(), query.storage_offset())
    wrong = error(solve(trial, problem, output), problem.expected)
    beside = everything.isnan().logical_not().sum() - output.isnan().logical_not().sum()
    return math.inf if beside else wrong


def solve(trial: Trial, problem: Problem, output: Tensor) -> Tensor:
    """What the trial's kernel makes of a problem of its case: `output`, but for "attend", which makes its own."""
    query, key_cache, value_cache, tables, *_ = problem
    if trial.kernel == "attend":
        return attend(query, key_cache, value_cache, **problem.options, backend="triton")
    shared: dict[str, Any] = {name: tables[name] for name in ("block_tables", "context_lens")}
    shared |= {"scale": problem.scale, "output": output}
    if trial.kernel == "naive":
        return naive(query, key_cache, value_cache, **shared)
    shared |= {**problem.scales, **problem.masks, "tiles": _tiles(trial, query)}
    new, context_lens = zip(*trial.case.sequences)
    if trial.kernel == "prefill":
        starts = tables["query_start_loc"]
        return paged_prefill(query, key_cache, value_cache, **shared, query_start_loc=starts, max_query_len=max(new))
    workspace = Workspace(len(new), query.shape[1], trial.num_splits, query.shape[2], query.device)
    workspace.numbers.fill_(math.nan)
    return paged_decode(
        query,
        key_cache,
        value_cache,
        **shared,
        query_start_loc=None if set(new) == {1} else tables["query_start_loc"],
        max_context_len=max(context_lens),
        num_splits=trial.num_splits,
        workspace=workspace,
    )


def _tiles(trial: Trial, query: Tensor) -> Tiles:
    case, choose = trial.case, {"decode": decode_tiles, "prefill": prefill_tiles}[trial.kernel]
    tiles = choose(device_of(query), case.head_size, case.group_size, case.dtype, case.quantised or case.dtype)
    return tiles._replace(tokens=min(trial.tokens, tiles.tokens))
