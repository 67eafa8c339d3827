"""What no kernel writes is zero, whatever lay in the memory before."""

import pytest
import torch

from kvlib.attention import attend
from kvlib.attention.triton import paged_decode, paged_prefill
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
