"""The tensors of one safetensors file, read through the package of that name."""

from pathlib import Path
from typing import NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from kvlib.errors import BadModelFile

DTYPES = ("F32", "F16", "BF16")


class StoredTensor(NamedTuple):
    """One tensor of the file `path`, its `shape` rows first."""

    path: Path
    name: str
    shape: tuple[int, ...]
    dtype: str

    def read(self) -> Tensor:
        """The numbers, as float32, in memory of their own. Raises BadModelFile for what is no float."""
        if self.dtype not in DTYPES:
            raise BadModelFile(
                f"{self.path}: tensor {self.name} is stored as {self.dtype}; this reads {', '.join(DTYPES)}: take a "
                "model that is not quantised"
            )
        with safe_open(self.path, framework="pt") as file:
            return file.get_tensor(self.name).to(torch.float32, copy=True)


def read_stored(path: Path) -> dict[str, StoredTensor]:
    """The tensors of the safetensors file `path`, by name; their numbers are not read yet.

    Raises BadModelFile for a file that is missing, is none or was cut short.
    """
    if not path.is_file():
        raise BadModelFile(f"there is no file {path}; download the model again")
    try:
        with safe_open(path, framework="pt") as file:
            slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118  it is no mapping
            return {
                name: StoredTensor(path, name, tuple(each.get_shape()), each.get_dtype())
                for name, each in slices.items()
            }
    except (SafetensorError, OSError) as error:
        raise BadModelFile(
            f"{path}, of {path.stat().st_size:,} bytes, is no whole safetensors file ({error}): it is damaged or was "
            "cut short; download it again"
        ) from None
