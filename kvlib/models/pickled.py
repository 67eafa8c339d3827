"""A file of weights that torch.save wrote. Only tensors are read from it; code in it is never run."""

from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from kvlib.errors import BadModelFile
from kvlib.shown import shown


class PickledTensor(NamedTuple):
    """One tensor of the file `path`."""

    path: Path
    name: str
    tensor: Tensor

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows first."""
        return tuple(self.tensor.shape)

    def read(self) -> Tensor:
        """The numbers, as float32. Raises BadModelFile for what is no float."""
        if not self.tensor.is_floating_point():
            raise BadModelFile(
                f"{self.path}: tensor {self.name} is stored as {self.tensor.dtype}; this reads floats: take a "
                "model that is not quantised"
            )
        return self.tensor.to(torch.float32, copy=True)


def read_pickled(path: Path) -> dict[str, PickledTensor]:
    """The tensors of the file `path`, by name. Raises BadModelFile if it is missing, damaged or holds anything else."""
    if not path.is_file():
        raise BadModelFile(f"there is no file {path}; download the model again")
    try:
        tensors = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a damaged file can fail in torch, in its unpickler or in its reader of archives
        raise BadModelFile(
            f"{path} is damaged or holds more than tensors ({type(error).__name__}: {error!s:.100}); download it again"
        ) from None
    if not isinstance(tensors, dict) or not all(isinstance(tensor, Tensor) for tensor in tensors.values()):
        raise BadModelFile(f"{path} holds {shown(tensors)}, expected tensors by name; download it again")
    return {name: PickledTensor(path, name, tensor) for name, tensor in tensors.items()}
