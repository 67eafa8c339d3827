"""One safetensors file: where each tensor lies, and its numbers.

Source: the format's specification in the README of huggingface/safetensors. Eight bytes hold the header's length,
little-endian; then come the header, as JSON, and the numbers of all tensors.
"""

import json
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from kvlib.engine.shown import shown
from kvlib.errors import BadModelFile

DTYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
AGAIN = "the file is damaged or was cut short: download it again"


class StoredTensor(NamedTuple):
    """One tensor: its `shape`, rows first, and the bytes from `start` to `stop` of the file `path`."""

    path: Path
    name: str
    shape: tuple[int, ...]
    dtype: str
    start: int
    stop: int

    def read(self) -> Tensor:
        """The numbers, as float32, in memory of their own. Raises BadModelFile for what is no float."""
        if self.dtype not in DTYPES:
            raise BadModelFile(
                f"{self.path}: tensor {self.name} is stored as {self.dtype}; this reads {', '.join(DTYPES)}: take a "
                "model that is not quantised"
            )
        data = np.memmap(self.path, mode="c", offset=self.start, shape=(self.stop - self.start,))
        return torch.frombuffer(data, dtype=DTYPES[self.dtype]).view(self.shape).to(torch.float32, copy=True)


def read_stored(path: Path) -> dict[str, StoredTensor]:
    """The tensors of the safetensors file `path`, by name; their numbers are not read yet.

    Raises BadModelFile for a file that is missing, is none or was cut short.
    """
    if not path.is_file():
        raise BadModelFile(f"there is no file {path}; download the model again")
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= size - 8:
            raise BadModelFile(
                f"{path} has {size:,} bytes, too few for the header of {length:,} that it announces; it is no "
                "safetensors file or was cut short: download it again"
            )
        header = _parse(path, file.read(length))
    header.pop("__metadata__", None)
    return {name: _tensor(path, name, entry, 8 + length, size) for name, entry in header.items()}


def _parse(path: Path, text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text)
    except ValueError as error:
        raise BadModelFile(f"{path} has a header that is not JSON ({error}); {AGAIN}") from None
    if not isinstance(header, dict):
        raise BadModelFile(f"{path} has the header {shown(header)}, expected one entry for each tensor; {AGAIN}")
    return header


def _tensor(path: Path, name: str, entry: Any, data_start: int, size: int) -> StoredTensor:
    match entry:
        case {"dtype": str() as dtype, "shape": [*shape], "data_offsets": [int() as start, int() as stop]} if all(
            type(length) is int and length >= 0 for length in shape
        ):
            pass
        case _:
            raise BadModelFile(
                f"{path}: tensor {name} has the entry {shown(entry)}, expected dtype, shape and data_offsets; {AGAIN}"
            )
    expected = prod(shape) * DTYPES[dtype].itemsize if dtype in DTYPES else stop - start
    if not 0 <= start <= stop or stop - start != expected:
        raise BadModelFile(
            f"{path}: tensor {name}, {dtype} {shape}, fills {expected:,} bytes, but its place is from {start:,} to "
            f"{stop:,}; {AGAIN}"
        )
    found = max(0, min(expected, size - data_start - start))
    if found < expected:
        raise BadModelFile(f"{path}: tensor {name}: {expected:,} bytes expected, {found:,} found; {AGAIN}")
    return StoredTensor(path, name, tuple(shape), dtype, data_start + start, data_start + stop)
