"""The linear layers behind one small interface, in several forms."""

from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor

Linear = Callable[[Tensor], Tensor]
"""linear(x [T, inputs]) -> [T, outputs], float32."""


class TorchLinear:
    """torch's own product, exact float32: x times `weight` [outputs, inputs] transposed, plus `bias` [outputs]."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self.weight = weight
        self.bias = bias

    def __call__(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)


FORMS: dict[str, Callable[..., Linear]] = {"torch": TorchLinear}
