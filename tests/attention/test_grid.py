import pytest

from kvlib.attention import attend
from kvlib.bench.kernels.layouts import LAYOUTS
from kvlib.bench.kernels.problems import BOUNDS, Case, build, error

from .cases import GRID, MASKED_GRID, QUANTISED_GRID, backends_for

ALL = GRID | QUANTISED_GRID | MASKED_GRID


@pytest.mark.parametrize(
    ("case", "backend"),
    [
        pytest.param(case, backend, id=f"{name}-{backend}")
        for name, case in ALL.items()
        for backend in backends_for(case)
    ],
)
def test_every_backend_is_dense_attention_within_the_bound_of_its_dtype(case: Case, backend: str):
    problem = build(case)
    output = attend(*problem[:3], **problem.options, backend=backend)
    assert output.dtype == case.dtype
    assert error(output, problem.expected) <= BOUNDS[case.dtype]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_problem_moved_to_a_device_keeps_its_strides_and_its_poison(layout: str):
    problem = build(Case(((1, 5), (3, 9)), 4, 2, 3, 40, layout=layout))
    moved = problem.to("meta")
    for tensor, there in zip(problem[:3], moved[:3]):
        assert (there.shape, there.stride()) == (tensor.shape, tensor.stride())
        assert there.untyped_storage().nbytes() == tensor.untyped_storage().nbytes()
