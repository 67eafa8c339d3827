import math

import pytest
import torch

from kvlib.attention import Batch, attend, attend_batch
from kvlib.attention.gather import decode_groups
from kvlib.bench.kernels.grid import batches
from kvlib.bench.kernels.layouts import LAYOUTS
from kvlib.bench.kernels.problems import BOUNDS, Case, build, error

from .cases import BACKENDS_HERE

each_backend = pytest.mark.parametrize("backend", BACKENDS_HERE)


def solve(case: Case, backend: str) -> float:
    problem = build(case)
    output = attend(*problem[:3], **problem.tables, scale=problem.scale, backend=backend)
    return error(output, problem.expected)


@each_backend
def test_a_context_of_0_gives_zero_rows_beside_live_ones(backend: str):
    problem = build(Case(((1, 0), (1, 20), (0, 0), (3, 20), (1, 0)), 4, 2, 3, 64))
    output = attend(*problem[:3], **problem.tables, scale=problem.scale, backend=backend)
    assert output[0].eq(0).all()
    assert output[-1].eq(0).all()
    assert output[1:-1].ne(0).all()


@each_backend
@pytest.mark.parametrize("sequences", [(), ((1, 0),), ((0, 0), (0, 9))], ids=["none", "no context", "no rows"])
def test_a_batch_that_sees_nothing_gives_zeros(sequences: tuple[tuple[int, int], ...], backend: str):
    assert solve(Case(sequences, 4, 2, 3, 64), backend) == 0


@each_backend
@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_input_is_changed(layout: str, backend: str):
    case = Case(batches(16)["mixed"], 16, 2, 3, 64, layout=layout)
    problem = build(case)
    before = [tensor.clone() for tensor in (*problem[:3], *problem.tables.values())]
    attend(*problem[:3], **problem.tables, scale=problem.scale, backend=backend)
    for was, tensor in zip(before, (*problem[:3], *problem.tables.values())):
        assert torch.equal(was.view(torch.int32), tensor.view(torch.int32))


@each_backend
def test_an_output_does_not_depend_on_which_blocks_hold_the_context(backend: str):
    problem = build(Case(batches(3)["mixed"], 3, 2, 3, 64))
    others = torch.randperm(len(problem.key_cache) - 1, generator=torch.Generator().manual_seed(1)) + 1
    moved = torch.cat([torch.zeros(1, dtype=torch.int64), others])  # block b now lies at moved[b]
    key_cache, value_cache = problem.key_cache.clone(), problem.value_cache.clone()
    key_cache[moved], value_cache[moved] = problem.key_cache, problem.value_cache
    table = problem.tables["block_tables"]
    used = table < len(moved)
    tables = problem.tables | {"block_tables": torch.where(used, moved[table.where(used, 0)], table)}
    there = attend(problem.query, key_cache, value_cache, **tables, scale=problem.scale, backend=backend)
    here = attend(*problem[:3], **problem.tables, scale=problem.scale, backend=backend)
    assert torch.equal(here, there)


@each_backend
def test_two_sequences_may_read_the_same_blocks(backend: str):
    problem = build(Case(((1, 10), (1, 10)), 4, 2, 3, 64))
    tables = problem.tables | {"block_tables": problem.tables["block_tables"][[0, 0]]}
    query = problem.query[[0, 0]]
    output = attend(query, *problem[1:3], **tables, scale=problem.scale, backend=backend)
    assert error(output, problem.expected[[0, 0]]) <= BOUNDS[torch.float32]


@each_backend
def test_scores_far_beyond_the_range_of_exp_give_finite_rows(backend: str):
    problem = build(Case(((1, 40), (8, 33)), 4, 2, 3, 64))
    output = attend(*problem[:3], **problem.tables, scale=1e3, backend=backend)
    assert output.isfinite().all()
    peaks = attend(*problem[:3], **problem.tables, scale=1e4, backend=backend)
    assert torch.allclose(output, peaks, atol=1e-6)  # both are the value of the highest score


def test_long_and_uneven_decode_contexts_are_solved_in_several_groups():
    case = Case(tuple((1, context_len) for context_len in (1500, 70, 1490, 60, 699, 698, 697, 696, 8)), 16, 1, 3, 40)
    batch = Batch(*build(case).tables.values(), block_size=16)
    assert [group.rows.tolist() for group in decode_groups(batch)] == [[0], [2], [4, 5], [6, 7], [1, 3], [8]]
    for backend in BACKENDS_HERE:
        assert solve(case, backend) <= BOUNDS[torch.float32]


@each_backend
def test_a_batch_built_once_serves_every_layer(backend: str):
    problem = build(Case(batches(16)["mixed"], 16, 2, 3, 64))
    batch = Batch(*problem.tables.values(), block_size=16)
    for layer in range(1, 4):
        value_cache = problem.value_cache * layer
        output = attend_batch(
            problem.query, problem.key_cache, value_cache, batch, scale=problem.scale, backend=backend
        )
        assert error(output, problem.expected * layer) <= BOUNDS[torch.float32]


def test_the_measure_of_error_is_infinite_for_nan_and_for_a_row_that_should_be_zero():
    problem = build(Case(((1, 5),), 4, 1, 1, 64))
    assert error(torch.full_like(problem.query, math.nan), problem.expected) == math.inf
    assert error(torch.zeros_like(problem.query), torch.zeros_like(problem.expected)) == 0
    assert error(torch.ones_like(problem.query), torch.zeros_like(problem.expected)) == math.inf
