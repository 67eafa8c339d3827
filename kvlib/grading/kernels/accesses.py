"""One launch of a kernel, and one load or store of a program of it, as a watch notes them."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from torch import Tensor

FAR = 2**28  # bytes; farther than that from an argument, none is meant


class Launch(NamedTuple):
    """One launch: the kernel's name, its grid, its arguments that are tensors, and the function that it is."""

    kernel: str
    grid: tuple[int, ...]
    tensors: dict[str, Tensor]
    function: Callable

    @property
    def num_programs(self) -> int:
        """The product of the grid."""
        return int(np.prod(self.grid))

    def nearest(self, address: int) -> str:
        """The name of the argument whose memory is nearest to `address`; "" where none is near."""

        def distance(name: str) -> int:
            storage = self.tensors[name].untyped_storage()
            return max(storage.data_ptr() - address, address - storage.data_ptr() - storage.nbytes())

        name = min(self.tensors, key=distance, default="")
        return name if name and distance(name) < FAR else ""

    def name_of(self, begin: int) -> str:
        """The name of the argument that begins there."""
        return next(name for name, tensor in self.tensors.items() if begin_of(tensor) == begin)


class Access(NamedTuple):
    """One load or store of one program: the launch, the program of it, where the tensor begins, which numbers of it."""

    launch: int
    program: tuple[int, ...]
    begin: int
    elements: np.ndarray

    @property
    def of(self) -> tuple[int, tuple[int, ...]]:
        """The program, with its launch."""
        return self.launch, self.program


class Outside(NamedTuple):
    """The access that left all memory: its launch, and the argument that it was nearest to, "" where none is near."""

    launch: Launch
    nearest: str


def begin_of(tensor: Tensor) -> int:
    """The address by which accesses name a tensor: that of its storage."""
    return tensor.untyped_storage().data_ptr()
