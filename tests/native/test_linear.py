"""The product in C: the bits of a row depend on the row alone. Collected where there is a C compiler."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from kvlib.errors import BadInput
from kvlib.models.linear import NativeLinear

SIZES = st.integers(1, 130)


def problem(rows: int, inputs: int, outputs: int) -> tuple[Tensor, Tensor, Tensor]:
    random = torch.Generator().manual_seed(rows + 1000 * inputs + outputs)
    x, weight, bias = (
        torch.randn(shape, generator=random) for shape in ((rows, inputs), (outputs, inputs), (outputs,))
    )
    return x, weight, bias


@settings(max_examples=30, deadline=None)
@given(rows=st.integers(1, 70), inputs=SIZES, outputs=SIZES)
def test_a_row_has_the_same_bits_alone_and_in_any_batch(rows: int, inputs: int, outputs: int):
    x, weight, bias = problem(rows, inputs, outputs)
    linear = NativeLinear(weight, bias)
    together = linear(x)
    assert torch.equal(torch.cat([linear(row[None]) for row in x]), together)
    assert torch.equal(linear(x[rows // 2 :]), together[rows // 2 :])


@pytest.mark.parametrize("num_threads", [1, 2, 7])
def test_threads_change_no_bit(num_threads: int):
    x, weight, bias = problem(13, 64, 500)
    linear = NativeLinear(weight, bias)
    alone = linear(x)
    torch.set_num_threads(num_threads)
    try:
        assert torch.equal(linear(x), alone)
    finally:
        torch.set_num_threads(1)


WRONG_WEIGHTS = {
    "double": ({"weight": torch.ones(2, 3).double()}, "weight is torch.float64 on cpu"),
    "half bias": ({"weight": torch.ones(2, 3), "bias": torch.ones(2).half()}, "bias is torch.float16 on cpu"),
    "no storage": ({"weight": torch.ones(2, 3, device="meta")}, "weight is torch.float32 on meta"),
}
WRONG_INPUTS = {
    "double": (torch.ones(4, 3).double(), r"x is torch.float64 \[4, 3\] on cpu"),
    "too wide": (torch.ones(4, 5), r"x is torch.float32 \[4, 5\] on cpu; expected torch.float32 \[T, 3\]"),
    "rank 1": (torch.ones(3), r"x is torch.float32 \[3\]"),
    "rank 3": (torch.ones(1, 4, 3), r"x is torch.float32 \[1, 4, 3\]"),
}


@pytest.mark.parametrize("name", WRONG_WEIGHTS)
def test_it_refuses_weights_that_are_not_float32_on_the_cpu(name: str):
    given, message = WRONG_WEIGHTS[name]
    with pytest.raises(BadInput, match=message):
        NativeLinear(**given)


@pytest.mark.parametrize("name", WRONG_INPUTS)
def test_it_refuses_inputs_that_do_not_fit(name: str):
    x, message = WRONG_INPUTS[name]
    with pytest.raises(BadInput, match=message):
        NativeLinear(torch.ones(2, 3))(x)
