"""The linear layers behind one small interface, in three forms; the engine takes one and says which.

"torch" is always there, and the only one on a GPU. "native", of `kvlib.native`, is as exact and faster, and gives a row
the same bits in any company; it needs a C compiler. "fp16" keeps the weights in half the bytes, at their precision,
where torch can.
"""

from collections.abc import Callable
from functools import lru_cache

import torch
import torch.nn.functional as F
from torch import Tensor

from kvlib import native
from kvlib.errors import BadConfig, BadInput
from kvlib.models.placement import ON_CPU
from kvlib.native.kernels import constant

Linear = Callable[[Tensor], Tensor]
"""linear(x [T, inputs]) -> [T, outputs], of x's dtype: float32, or on a GPU what its weights have."""

Form = Callable[[Tensor, Tensor | None], Linear]
"""form(weight [outputs, inputs], bias [outputs] or None) -> a Linear that computes with them."""

LARGEST_FP16 = torch.finfo(torch.float16).max


class TorchLinear:
    """torch's own product, exact in float32: x times `weight` [outputs, inputs] transposed, plus `bias` [outputs]."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self.weight = weight
        self.bias = bias

    def __call__(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)


class Fp16Linear:
    """torch's product of float32 inputs with weights rounded to float16 (FBGEMM, or what torch has in its place).

    Raises BadConfig for a weight beyond float16's range.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        largest = float(weight.abs().max())
        if not largest <= LARGEST_FP16:
            raise BadConfig(
                f"linear is 'fp16' and a weight of the model is {largest:g}; float16 ends at {LARGEST_FP16:g}: "
                "take 'torch' or 'native'"
            )
        self._packed = torch.ops.quantized.linear_prepack_fp16(weight.contiguous(), bias)

    def __call__(self, x: Tensor) -> Tensor:
        return torch.ops.quantized.linear_dynamic_fp16(x, self._packed)


class NativeLinear:
    """The product of kernels.c, exact float32. A row's result does not depend on the other rows, bit for bit.

    The weight is laid out anew, in panels whose outputs are computed together; what was given is not kept. Raises
    BadInput for a weight that is not float32 on the CPU, and for an x that is not float32 [T, inputs] on the CPU.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        library = native.library()
        if library is None:
            raise BadConfig(f"linear is 'native', which cannot be had: {native.why_not()}")
        for name, tensor in (("weight", weight), ("bias", bias)):
            if tensor is not None and (tensor.dtype != torch.float32 or tensor.device.type != "cpu"):
                raise BadInput(
                    f"{name} is {tensor.dtype} on {tensor.device}; expected torch.float32 on the CPU: take TorchLinear"
                )
        self._product = library.linear
        self.outputs, self.inputs = weight.shape
        panel = constant(library, "panel_width")
        self._padded = -(-self.outputs // panel) * panel
        rows = F.pad(weight, (0, 0, 0, self._padded - self.outputs)).view(-1, panel, self.inputs)
        self._panels = rows.transpose(1, 2).contiguous()  # [padded / panel, inputs, panel]
        self._bias = torch.zeros(self._padded)
        if bias is not None:
            self._bias[: self.outputs] = bias
        self._addresses = self._panels.data_ptr(), self._bias.data_ptr()

    def __call__(self, x: Tensor) -> Tensor:
        if x.shape[1:] != (self.inputs,) or x.dtype != torch.float32 or not x.is_cpu:
            raise BadInput(
                f"x is {x.dtype} {list(x.shape)} on {x.device}; expected torch.float32 [T, {self.inputs}] on the CPU"
            )
        x, rows = x.contiguous(), x.shape[0]
        y = x.new_empty(rows, self._padded)
        threads = torch.get_num_threads()
        self._product(y.data_ptr(), x.data_ptr(), *self._addresses, rows, self.inputs, self._padded, threads)
        return y if self._padded == self.outputs else y[:, : self.outputs]


FORMS: dict[str, Form] = {"torch": TorchLinear, "fp16": Fp16Linear, "native": NativeLinear}


def choose(form: str, device: torch.device = ON_CPU.device) -> str:
    """The form to use where `form` is wished, one of FORMS or "auto": the fastest exact one that `device` can have.

    Raises BadConfig for another name, and for a form that cannot be had here.
    """
    if form == "auto":
        return "torch" if device.type != "cpu" or why_not("native") else "native"
    if form not in tuple(FORMS):
        raise BadConfig(f"linear is {form!r}; the known ones are auto, {', '.join(FORMS)}")
    if form != "torch" and device.type != "cpu":
        raise BadConfig(f"linear is {form!r}, which computes on the CPU, and the weights are on {device}; take 'auto'")
    reason = why_not(form)
    if reason:
        raise BadConfig(f"linear is {form!r}, which cannot be had: {reason}; or take 'auto'")
    return form


def why_not(form: str) -> str:
    """Why one of FORMS cannot be had on this machine, in words; empty where it can."""
    reasons: dict[str, Callable[[], str]] = {"fp16": _why_no_fp16, "native": native.why_not}
    return reasons[form]() if form in reasons else ""


@lru_cache(maxsize=1)
def _why_no_fp16() -> str:
    try:
        Fp16Linear(torch.zeros(1, 1))(torch.zeros(1, 1))
    except (AttributeError, RuntimeError) as error:  # by version and processor: no such kernel, or one that refuses
        return f"this torch has no product with float16 weights here ({str(error).splitlines()[0]}); take 'torch'"
    return ""
