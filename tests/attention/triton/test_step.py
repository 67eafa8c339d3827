"""What no kernel writes is zero, whatever lay in the memory before."""

import pytest
import torch

from kvlib.attention import attend
from kvlib.attention.triton import Tiles, naive, paged_decode, paged_prefill
from kvlib.bench.kernels.problems import BOUNDS, Case, Problem, build, error


@pytest.fixture(autouse=True)
def memory_is_full_of_nan():
    """torch.empty gives NaN."""
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


@pytest.fixture
def problem() -> Problem:
    """A row without a context between two prompts, so that no sequence decodes."""
    return build(Case(((5, 5), (1, 0), (3, 9)), 4, 2, 3, 32))


def test_the_fixture_of_these_tests_fills_memory():
    assert torch.empty(8).isnan().all()


def test_a_row_without_a_context_is_zero_though_nothing_decodes(problem: Problem):
    output = attend(*problem[:3], **problem.options, backend="triton")
    assert error(output, problem.expected) <= BOUNDS[torch.float32]
    assert (output[5] == 0).all()


@pytest.mark.parametrize("num_splits", [1, 3])
def test_rows_that_a_kernel_leaves_alone_are_zero_in_an_output_of_its_own(problem: Problem, num_splits: int):
    decoded = paged_decode(*problem[:3], **problem.options, max_context_len=9, num_splits=num_splits)
    assert (decoded == 0).all()
    prefilled = paged_prefill(*problem[:3], **problem.options, max_query_len=5, least_queries=2)
    assert error(prefilled, problem.expected) <= BOUNDS[torch.float32]


def test_rows_that_a_kernel_leaves_alone_stay_as_they_are_in_a_given_output(problem: Problem):
    output = torch.full_like(problem.query, 7.0)
    paged_decode(*problem[:3], **problem.options, max_context_len=9, output=output)
    assert (output[:5] == 7).all()
    assert (output[5] == 0).all()
    assert (output[6:] == 7).all()


def test_the_longest_of_the_rows_that_decode_is_read_to_its_end_wherever_it_stands():
    problem = build(Case(((1, 70), (3, 9), (1, 5)), 4, 1, 2, 32))
    output = attend(*problem[:3], **problem.options, backend="triton")
    assert error(output, problem.expected) <= BOUNDS[torch.float32]


def test_tables_that_lie_in_columns_are_read_too(problem: Problem):
    columns = problem.options["block_tables"].T.contiguous().T
    output = attend(*problem[:3], **{**problem.options, "block_tables": columns}, backend="triton")
    assert error(output, problem.expected) <= BOUNDS[torch.float32]


@pytest.mark.parametrize("kernel", [{"num_splits": 1}, {"num_splits": 20}, {"first": True}, {"rows": 4}])
def test_scores_far_below_zero_weigh_as_any_others(kernel: dict[str, int]):
    cache = torch.ones(21, 16, 1, 32)
    value = torch.randn(cache.shape, generator=torch.Generator().manual_seed(0))
    rows = kernel.get("rows", 1)
    query = torch.full((rows, 2, 32), -20.0)  # each score is -640, and e to it is 0 in float32
    tables = {"block_tables": torch.arange(1, 21)[None], "context_lens": torch.tensor([320]), "scale": 1.0}
    if kernel.get("first"):
        output = naive(query, cache, value, **tables)
    elif "rows" in kernel:
        starts = torch.tensor([0, rows])
        output = paged_prefill(query, cache, value, **tables, query_start_loc=starts, max_query_len=rows)
    else:
        tiles = Tiles(2, 16, 4, 2)
        output = paged_decode(query, cache, value, **tables, max_context_len=320, tiles=tiles, **kernel)
    torch.testing.assert_close(output[-1, 0], value[1:, :, 0].mean((0, 1)))


def test_a_launch_has_the_tiles_that_it_was_given(problem: Problem, monkeypatch: pytest.MonkeyPatch):
    launches = []

    class Recorder:
        def __getitem__(self, grid: tuple[int, ...]):
            return lambda **given: launches.append((grid, given))

    monkeypatch.setattr("kvlib.attention.triton.launch.decode_kernel", Recorder())
    tiles = Tiles(rows=4, tokens=32, num_warps=8, num_stages=3)
    paged_decode(*problem[:3], **problem.options, max_context_len=9, tiles=tiles)
    [(grid, given)] = launches
    assert grid == (2, 3, 1)
    assert [given[name] for name in ("ROWS", "TOKENS", "num_warps", "num_stages")] == [4, 32, 8, 3]
