"""The kernels in Triton's interpreter, held against float64 over poisoned caches."""

from itertools import combinations

import pytest

from kvlib.bench.kernels.apart import run_apart
from kvlib.bench.kernels.checks import CHECKS, FATAL, RIGHT
from kvlib.bench.kernels.kernel_grid import trials
from kvlib.bench.kernels.problems import BOUNDS
from kvlib.bench.kernels.trials import Trial, outcome

GRID = trials()


@pytest.mark.parametrize("trial", GRID, ids=[trial.name for trial in GRID])
def test_a_kernel_is_dense_attention_within_the_bound_of_its_dtype(trial: Trial):
    assert outcome(trial) <= BOUNDS[trial.case.dtype]


@pytest.mark.parametrize("name", [name for name in CHECKS if name not in FATAL])
def test_the_kernels_pass_the_checks_that_catch_the_planted_faults(name: str):
    assert CHECKS[name]() == RIGHT


def test_no_kernel_touches_what_is_not_its_tensor_or_counts_numbers_in_32_bits():
    assert run_apart(FATAL) == dict.fromkeys(FATAL, RIGHT)


@pytest.mark.parametrize("kernel", ["decode", "attend", "naive"])
def test_any_two_sizes_layouts_and_masks_meet_in_a_trial_of_each_kernel(kernel: str):
    kinds = {"decode": ("decode",), "attend": ("attend", "prefill"), "naive": ("naive",)}[kernel]
    cases = [trial.case for trial in GRID if trial.kernel in kinds]
    fields = ("block_size", "head_size", "group_size", "layout", "window", "softcap", "quantised")
    for one, other in combinations(fields, 2):
        met = {(getattr(case, one), getattr(case, other)) for case in cases}
        apart = {(getattr(case, one), getattr(these, other)) for case in cases for these in cases}
        assert met == apart, f"{one} and {other}"
