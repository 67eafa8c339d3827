"""The tensors of one model by name, whatever files they lie in."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from kvlib.errors import BadConfig, BadModelFile
from kvlib.models.metadata import AGAIN
from kvlib.models.placement import ON_CPU, Placement


class Tensors(ABC):
    """Each tensor is read once, to where `placement` says, and none may be left over.

    Names are those of Hugging Face's transformers, and `shapes`, rows first, has every tensor that the files hold.
    """

    def __init__(self, shapes: Mapping[str, tuple[int, ...]], placement: Placement = ON_CPU) -> None:
        self._unread = dict(shapes)
        self._placement = placement

    def read(self, name: str, *expected: int) -> Tensor:
        """The tensor `name`. Raises BadModelFile if there is none, or if its shape is not the `expected` one, and
        BadConfig for a number that is too large for float16, where that is wanted."""
        if name not in self._unread:
            path, stored = self._place(name)
            raise BadModelFile(f"{path} has no tensor {stored}, expected one of shape {list(expected)}; {AGAIN}")
        shape = self._unread.pop(name)
        if shape != expected:
            path, stored = self._place(name)
            raise BadModelFile(
                f"{path}: tensor {stored} has shape {list(shape)}, expected {list(expected)} from "
                f"the model's own configuration; {AGAIN}"
            )
        loaded = self._load(name)
        tensor = loaded.to(self._placement.dtype)
        if tensor.dtype == torch.float16 and tensor.isinf().any():
            path, stored = self._place(name)
            raise BadConfig(
                f"{path}: tensor {stored} has the number {float(loaded.abs().max()):g}; float16 ends at "
                f"{torch.finfo(torch.float16).max:g}: take dtype 'float32', or 'bfloat16' where the GPU has it"
            )
        return tensor.to(self._placement.device)

    def matrix(self, name: str, outputs: int, inputs: int, *, bias: bool = False) -> tuple[Tensor, Tensor | None]:
        """The weight [outputs, inputs] of a linear layer, and its bias [outputs] or None."""
        weight = self.read(f"{name}.weight", outputs, inputs)
        return weight, self.read(f"{name}.bias", outputs) if bias else None

    def embeddings(self, name: str, vocab: int, hidden: int, *, tied: bool) -> tuple[Tensor, Tensor]:
        """The embedding and the last matrix, both [vocab, hidden]. One may stand for both where they are `tied`."""
        first, last = f"{name}.weight", "lm_head.weight"
        if tied and not (first in self and last in self):
            both = self.read(last if last in self else first, vocab, hidden)
            return both, both
        return self.read(first, vocab, hidden), self.read(last, vocab, hidden)

    def __contains__(self, name: str) -> bool:
        return name in self._unread

    def check_all_read(self) -> None:
        """Raises BadModelFile if a tensor is left, because a model that needs it would write another text."""
        if self._unread:
            path, stored = self._place(next(iter(self._unread)))
            raise BadModelFile(
                f"{path} has tensors that this forward pass has no use for, such as {stored}; take another model"
            )

    @abstractmethod
    def _place(self, name: str) -> tuple[Path, str]:
        """The file in which the tensor `name` lies or should lie, and what that file calls it."""

    @abstractmethod
    def _load(self, name: str) -> Tensor:
        """The numbers of the tensor `name`, which is there: float32, on the CPU."""
