"""What kernels read and write, number by number, while Triton's interpreter runs them. Needs torch and triton.

The interpreter reads whatever address it is given: a wrong one ends the process or, worse, does not. Under a `Watch`
each address is looked up first, and one that belongs to no argument of the kernel is an error in words.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from torch import Tensor
from triton.runtime import interpreter

from kvlib.attention.triton import INTERPRETED
from kvlib.errors import EndlessLoop, OutsideMemory
from kvlib.grading.kernels.accesses import Access, Launch, Outside, begin_of

BUILDER = interpreter.interpreter_builder

MOST_STEPS = 30_000
"""Arithmetic steps of one program after which its loop is taken to be endless; each step is of a whole row or tile."""


class Watch:
    """`with Watch() as watch:` sees all that interpreted kernels do inside, and nothing of compiled ones.

    A program that leaves the memory of its kernel's arguments ends the launch with an OutsideMemory as the cause, and
    `outside` tells which; one that does more than MOST_STEPS ends it with an EndlessLoop. Ask only about tensors that
    have their memory for themselves.
    """

    sees = INTERPRETED

    def __init__(self) -> None:
        self.launches: list[Launch] = []
        self.loads: list[Access] = []
        self.stores: list[Access] = []
        self.outside: Outside | None = None
        self._program: tuple = ()
        self._steps = 0
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
        loads = Counter(load.of for load in self.loads if load.begin == tensor.data_ptr())
        return max(loads.values(), default=0)

    def most_read(self, tensor: Tensor) -> int:
        """The most numbers of `tensor` that one program read."""
        numbers: Counter[tuple] = Counter()
        for load in self.loads:
            if load.begin == tensor.data_ptr():
                numbers[load.of] += len(load.elements)
        return max(numbers.values(), default=0)

    def __enter__(self) -> Self:
        if self.sees:
            self._call = interpreter.GridExecutor.__call__
            interpreter.GridExecutor.__call__ = self._launch(self._call)
            BUILDER.create_masked_load = self._access(BUILDER.create_masked_load, self.loads, self._reads, "reads")
            BUILDER.create_masked_store = self._access(
                BUILDER.create_masked_store, self.stores, self._writes, "writes", mask_at=2
            )
            BUILDER.binary_op = self._step(BUILDER.binary_op)
        return self

    def __exit__(self, *_: object) -> None:
        if self.sees:
            interpreter.GridExecutor.__call__ = self._call
            del BUILDER.create_masked_load, BUILDER.create_masked_store, BUILDER.binary_op

    def _launch(self, call: Callable) -> Callable:
        def launch(executor: Any, *args: Any, **kwargs: Any) -> None:
            given = {**dict(zip(executor.arg_names, args)), **kwargs}
            tensors = {name: value for name, value in given.items() if isinstance(value, Tensor) and value.numel()}
            grid = executor.grid(given) if callable(executor.grid) else executor.grid
            self.launches.append(Launch(executor.fn.__name__, tuple(grid), tensors, executor.fn))
            call(executor, *args, **kwargs)

        return launch

    def _step(self, operation: Callable) -> Callable:
        def counted(*args: Any) -> Any:
            program = (len(self.launches), BUILDER.grid_idx)
            self._steps = self._steps + 1 if program == self._program else 1
            self._program = program
            if self._steps > MOST_STEPS:
                kernel = self.launches[-1].kernel
                raise EndlessLoop(f"program {BUILDER.grid_idx} of {kernel} did {MOST_STEPS:,} steps and had no end")
            return operation(*args)

        return counted

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
            storage, begin, size = tensor.untyped_storage(), begin_of(tensor), tensor.itemsize
            inside = (addresses >= begin) & (addresses + size <= begin + storage.nbytes())
            if inside.any():
                element = (addresses[inside] - begin) // size
                count = counts.setdefault(begin, np.zeros(storage.nbytes() // size, np.int64))
                np.add.at(count, element, 1)
                log.append(Access(len(self.launches) - 1, BUILDER.grid_idx, begin, element))
                addresses = addresses[~inside]
        if len(addresses):
            self.outside = Outside(launch, launch.nearest(int(addresses[0])))
            many = f"{len(addresses)} numbers" if len(addresses) > 1 else "a number"
            raise OutsideMemory(
                f"program {BUILDER.grid_idx} of {launch.kernel} {verb} {many} outside all of its arguments "
                f"({', '.join(launch.tensors)})"
            )
