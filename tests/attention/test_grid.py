import pytest

from kvlib.attention import BACKENDS, attend

from .cases import BOUNDS, GRID, Case, build, error


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", GRID.values(), ids=GRID)
def test_every_backend_is_dense_attention_within_the_bound_of_its_dtype(case: Case, backend: str):
    problem = build(case)
    output = attend(*problem[:3], **problem.tables, scale=problem.scale, backend=backend)
    assert output.dtype == case.dtype
    assert error(output, problem.expected) <= BOUNDS[case.dtype]
