import pytest

from kvlib.attention import attend

from .cases import BOUNDS, GRID, QUANTISED_BACKENDS, QUANTISED_GRID, Case, backends_for, build, error


@pytest.mark.parametrize(
    ("case", "backend"),
    [
        pytest.param(case, backend, id=f"{name}-{backend}")
        for name, case in GRID.items()
        for backend in backends_for(case)
    ],
)
def test_every_backend_is_dense_attention_within_the_bound_of_its_dtype(case: Case, backend: str):
    problem = build(case)
    output = attend(*problem[:3], **problem.tables, scale=problem.scale, backend=backend)
    assert output.dtype == case.dtype
    assert error(output, problem.expected) <= BOUNDS[case.dtype]


@pytest.mark.parametrize("backend", QUANTISED_BACKENDS)
@pytest.mark.parametrize("case", QUANTISED_GRID.values(), ids=QUANTISED_GRID)
def test_over_a_quantised_cache_it_is_dense_attention_over_what_the_codes_stand_for(case: Case, backend: str):
    problem = build(case)
    output = attend(*problem[:3], **problem.tables, **problem.scales, scale=problem.scale, backend=backend)
    assert output.dtype == case.dtype
    assert error(output, problem.expected) <= BOUNDS[case.dtype]
