"""What kernels read and write, number by number, while Triton's interpreter runs them. Needs torch and triton.

The interpreter reads whatever address it is given: a wrong one ends the process or, worse, does not. Under a `Watch`
each address is looked up first, and one that belongs to no argument of the kernel is an error in words.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from torch import Tensor
from triton.runtime import interpreter

from kvlib.attention.triton import INTERPRETED
from kvlib.errors import OutsideMemory

BUILDER = interpreter.interpreter_builder


class Launch(NamedTuple):
    """One launch: the kernel's name, how many programs it had, and its arguments that are tensors."""

    kernel: str
    num_programs: int
    tensors: dict[str, Tensor]


class Access(NamedTuple):
    """One load or store of one program: the launch, the program of it, where the tensor begins, how many numbers."""

    launch: int
    program: tuple[int, ...]
    begin: int
    num_elements: int


class Watch:
    """`with Watch() as watch:` sees all that interpreted kernels do inside, and nothing of compiled ones.

    A program that leaves the memory of its kernel's arguments ends the launch with an OutsideMemory as the cause.
    Ask only about tensors that have their memory for themselves.
    """

    sees = INTERPRETED

    def __init__(self) -> None:
        self.launches: list[Launch] = []
        self.loads: list[Access] = []
        self.stores: list[Access] = []
        self._reads: dict[int, np.ndarray] = {}
        self._writes: dict[int, np.ndarray] = {}

    def reads(self, tensor: Tensor) -> np.ndarray:
        """How often each number of `tensor` was read, in the tensor's shape."""
        return self._reads.get(tensor.data_ptr(), np.zeros(tensor.numel(), np.int64)).reshape(tensor.shape)

    def writes(self, tensor: Tensor) -> np.ndarray:
        """How often each number of `tensor` was written, in the tensor's shape."""
        return self._writes.get(tensor.data_ptr(), np.zeros(tensor.numel(), np.int64)).reshape(tensor.shape)

    def turns(self, tensor: Tensor) -> int:
        """The most loads from `tensor` that one program did, one after another."""
        loads = Counter(load[:2] for load in self.loads if load.begin == tensor.data_ptr())
        return max(loads.values(), default=0)

    def most_read(self, tensor: Tensor) -> int:
        """The most numbers of `tensor` that one program read."""
        numbers: Counter[tuple] = Counter()
        for load in self.loads:
            if load.begin == tensor.data_ptr():
                numbers[load[:2]] += load.num_elements
        return max(numbers.values(), default=0)

    def unwritten(self) -> str:
        """The name of an argument that was read where no program wrote, though others wrote into it; "" if none."""
        for launch, _, begin, _ in self.loads:
            reads, writes = self._reads[begin], self._writes.get(begin)
            if writes is not None and ((reads > 0) & (writes == 0)).any():
                tensors = self.launches[launch].tensors
                return next(name for name, tensor in tensors.items() if _begin(tensor) == begin)
        return ""

    def __enter__(self) -> Self:
        if self.sees:
            self._call = interpreter.GridExecutor.__call__
            interpreter.GridExecutor.__call__ = self._launch(self._call)
            BUILDER.create_masked_load = self._access(BUILDER.create_masked_load, self.loads, self._reads, "reads")
            BUILDER.create_masked_store = self._access(
                BUILDER.create_masked_store, self.stores, self._writes, "writes", mask_at=2
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self.sees:
            interpreter.GridExecutor.__call__ = self._call
            del BUILDER.create_masked_load, BUILDER.create_masked_store

    def _launch(self, call: Callable) -> Callable:
        def launch(executor: Any, *args: Any, **kwargs: Any) -> None:
            given = {**dict(zip(executor.arg_names, args)), **kwargs}
            tensors = {name: value for name, value in given.items() if isinstance(value, Tensor) and value.numel()}
            grid = executor.grid(given) if callable(executor.grid) else executor.grid
            self.launches.append(Launch(executor.fn.__name__, int(np.prod(grid)), tensors))
            call(executor, *args, **kwargs)

        return launch

    def _access(
        self, access: Callable, log: list[Access], counts: dict[int, np.ndarray], verb: str, mask_at: int = 1
    ) -> Callable:
        def watched(pointers: Any, *rest: Any, **named: Any) -> Any:
            mask = rest[mask_at - 1].data
            addresses = pointers.data[np.broadcast_to(mask, pointers.data.shape).astype(bool)].astype(np.int64)
            self._count(addresses, log, counts, verb)
            return access(pointers, *rest, **named)

        return watched

    def _count(self, addresses: np.ndarray, log: list[Access], counts: dict[int, np.ndarray], verb: str) -> None:
        launch = self.launches[-1]
        for tensor in launch.tensors.values():
            storage, begin, size = tensor.untyped_storage(), _begin(tensor), tensor.itemsize
            inside = (addresses >= begin) & (addresses + size <= begin + storage.nbytes())
            if inside.any():
                element = (addresses[inside] - begin) // size
                count = counts.setdefault(begin, np.zeros(storage.nbytes() // size, np.int64))
                np.add.at(count, element, 1)
                log.append(Access(len(self.launches) - 1, BUILDER.grid_idx, begin, len(element)))
                addresses = addresses[~inside]
        if len(addresses):
            raise OutsideMemory(
                f"program {BUILDER.grid_idx} of {launch.kernel} {verb} {len(addresses)} numbers outside all of its "
                f"arguments ({', '.join(launch.tensors)})"
            )


def _begin(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()
