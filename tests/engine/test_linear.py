"""The linear layers: every form that this machine has computes the product, and says where it cannot."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from kvlib import native
from kvlib.errors import BadConfig
from kvlib.models.linear import FORMS, Fp16Linear, NativeLinear, choose, why_not

HERE = [form for form in FORMS if not why_not(form)]
EXACT = [form for form in HERE if form != "fp16"]
SIZES = st.integers(1, 130)


def problem(rows: int, inputs: int, outputs: int) -> tuple[Tensor, Tensor, Tensor]:
    random = torch.Generator().manual_seed(rows + 1000 * inputs + outputs)
    shapes = (rows, inputs), (outputs, inputs), (outputs,)
    x, weight, bias = (torch.randn(shape, generator=random) for shape in shapes)
    return x, weight, bias


@settings(max_examples=60, deadline=None)
@given(rows=st.integers(1, 70), inputs=SIZES, outputs=SIZES, with_bias=st.booleans())
def test_each_form_is_the_product_and_the_bias(rows: int, inputs: int, outputs: int, with_bias: bool):
    x, weight, bias = problem(rows, inputs, outputs)
    given_bias = bias if with_bias else None
    expected = F.linear(x.double(), weight.double(), bias.double() if with_bias else None)
    size = F.linear(x.abs(), weight.abs(), bias.abs())  # of the terms of each sum, which may cancel
    for form in HERE:
        y = FORMS[form](weight, given_bias)(x)
        assert y.shape == (rows, outputs)
        assert y.dtype == torch.float32
        assert ((y - expected).abs() <= (1e-5 if form in EXACT else 1e-3) * size).all(), form


@pytest.mark.parametrize("form", HERE)
def test_any_strides_will_do_and_no_input_is_changed(form: str):
    x, weight, bias = problem(9, 20, 33)
    wide = torch.cat([x, torch.full_like(x, torch.nan)], 1)
    linear = FORMS[form](weight.T.contiguous().T, bias)
    y = linear(wide[:, :20])
    assert torch.equal(y, FORMS[form](weight, bias)(x))
    assert torch.equal(wide[:, :20], x)


@pytest.mark.parametrize("form", HERE)
def test_no_rows_give_no_rows(form: str):
    _, weight, bias = problem(1, 20, 33)
    assert FORMS[form](weight, bias)(torch.empty(0, 20)).shape == (0, 33)


def test_auto_is_native_where_there_is_a_compiler_and_torch_elsewhere(monkeypatch: pytest.MonkeyPatch):
    assert choose("auto") == ("native" if native.library() else "torch")
    monkeypatch.setenv("KVLIB_NATIVE", "0")
    assert choose("auto") == "torch"


@pytest.mark.parametrize("form", HERE)
def test_a_form_that_is_named_is_taken(form: str):
    assert choose(form) == form


@pytest.mark.parametrize("form", ["int8", "", None, 3, ["torch"]])
def test_an_unknown_form_is_refused_with_the_known_ones(form: object):
    with pytest.raises(BadConfig, match=r"linear is .*; the known ones are auto, torch, fp16, native"):
        choose(form)


def test_a_form_that_cannot_be_had_is_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KVLIB_NATIVE", "0")
    with pytest.raises(BadConfig, match=r"linear is 'native', which cannot be had: .*KVLIB_NATIVE is 0; .*or take"):
        choose("native")
    with pytest.raises(BadConfig, match=r"linear is 'native', which cannot be had: .*KVLIB_NATIVE is 0"):
        NativeLinear(torch.ones(2, 2))


def test_a_torch_without_the_kernel_has_no_fp16_form(monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object) -> None:
        raise RuntimeError("Could not run 'quantized::linear_prepack_fp16'\nand a trace")

    monkeypatch.setattr("kvlib.models.linear.Fp16Linear", refuse)
    monkeypatch.setattr("kvlib.models.linear._why_no_fp16", why_not.__globals__["_why_no_fp16"].__wrapped__)
    with pytest.raises(BadConfig, match=r"'fp16', which cannot be had: .* \(Could not run 'quantized::.*'\); take"):
        choose("fp16")


def test_a_weight_beyond_float16_is_refused():
    with pytest.raises(BadConfig, match=r"a weight of the model is 70000; float16 ends at 65504: take 'torch'"):
        Fp16Linear(torch.tensor([[70000.0]]))
