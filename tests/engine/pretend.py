"""A GPU that is none: its tensors say "cuda" and keep their numbers on the CPU, so that a program for one can be run.

What torch demands of a program is demanded here too: nothing on the GPU is computed with something on the CPU, and
whatever makes the CPU wait for the GPU, such as reading a number, is noted.
"""

import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

import kvlib

GPU = torch.device("cuda", 0)
PACKAGE = str(Path(kvlib.__file__).parent)
aten = torch.ops.aten
WAITING = (aten.nonzero, aten.masked_select, aten.equal)
READING = (Tensor.item, Tensor.tolist, Tensor.__bool__, Tensor.__int__, Tensor.__float__, Tensor.__index__)


class OnGPU(Tensor):
    """A tensor of the pretended GPU; `numbers` has its numbers on the CPU."""

    numbers: Tensor

    @staticmethod
    def __new__(cls, numbers: Tensor) -> "OnGPU":
        layout = {"strides": numbers.stride(), "storage_offset": numbers.storage_offset()}
        with torch.inference_mode(False):
            return Tensor._make_wrapper_subclass(cls, numbers.shape, dtype=numbers.dtype, device=GPU, **layout)

    def __init__(self, numbers: Tensor) -> None:
        self.numbers = numbers

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise AssertionError(f"{func} outside of pretended_gpu()")


def numbers_of(value: Any) -> Any:
    """`value`, with what lies on the GPU read without a wait."""
    return value.numbers if isinstance(value, OnGPU) else value


def is_gpu(device: Any) -> bool:
    return device is not None and torch.device(device).type == "cuda"


class Operations(TorchDispatchMode):
    """Every operation of torch, computed on the CPU for tensors that are all on the GPU."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[str] = []

    def wait(self, what: object) -> None:
        frames = [frame for frame in traceback.extract_stack() if frame.filename.startswith(PACKAGE)]
        functions = [frame.name for frame in frames if frame.name[0] != "<"]
        self.waits.append(f"{what} in {functions[-1] if functions else 'a test'}")

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        given = [each for each in tree_flatten((args, kwargs))[0] if isinstance(each, Tensor)]
        on_gpu = {id(each.numbers): each for each in given if isinstance(each, OnGPU)}
        if not on_gpu and not is_gpu(kwargs.get("device")):
            return func(*args, **kwargs)
        if func is aten._fused_sdp_choice.default:
            return 0  # the plain form, as the fast ones are for one kind of device each
        packet = func.overloadpacket
        if packet is aten.copy_:
            if not isinstance(args[0], OnGPU):
                self.wait(func)
        else:
            for each in given:
                assert isinstance(each, OnGPU) or each.dim() == 0, f"{func} is given tensors on the GPU and on the CPU"
        if packet in WAITING or (
            packet in (aten.index, aten.index_put_) and any(i is not None and i.dtype == torch.bool for i in args[1])
        ):
            self.wait(func)
        if is_gpu(kwargs.get("device")):
            kwargs = {**kwargs, "device": "cpu"}
        result = func(*tree_map(numbers_of, args), **tree_map(numbers_of, kwargs))

        def wrapped(value: Any) -> Any:
            if not isinstance(value, Tensor):
                return value
            return on_gpu[id(value)] if id(value) in on_gpu else OnGPU(value)

        return args[0] if packet is aten.copy_ else tree_map(wrapped, result)


class Calls(TorchFunctionMode):
    """The functions of torch that ask the GPU itself before they come to an operation: makers, movers and indexing."""

    def __init__(self, operations: Operations) -> None:
        super().__init__()
        self._operations = operations

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is Tensor.to and len(args) == 2 and isinstance(args[1], torch.device | str):
            return self._moved(args[0], args[1])
        if func is Tensor.cpu:
            return self._moved(args[0], "cpu")
        if func in READING and isinstance(args[0], OnGPU):
            return getattr(self._moved(args[0], "cpu"), func.__name__)()
        if func is Tensor.nonzero:
            return aten.nonzero(*args)
        if func is Tensor.contiguous and not args[0].is_contiguous():
            return args[0].clone(memory_format=torch.contiguous_format)
        if func is Tensor.__getitem__ and isinstance(args[0], OnGPU):
            return indexed(*args)
        if func is Tensor.__setitem__ and isinstance(args[0], OnGPU):
            return put(*args)
        if is_gpu(kwargs.get("device")):
            return OnGPU(func(*args, **{**kwargs, "device": "cpu"}))
        return func(*args, **kwargs)

    def _moved(self, tensor: Tensor, device: Any) -> Tensor:
        if isinstance(tensor, OnGPU) == is_gpu(device):
            return tensor
        if isinstance(tensor, OnGPU):
            self._operations.wait(f"to({device})")
            return tensor.numbers.clone()
        return OnGPU(tensor.clone())


def indexed(x: Tensor, key: Any) -> Tensor:
    x, tensors = _view(x, key)
    return aten.index.Tensor(x, tensors) if tensors else x


def put(x: Tensor, key: Any, value: Any) -> None:
    x, tensors = _view(x, key)
    if not isinstance(value, Tensor):
        value = torch.tensor(value, dtype=x.dtype)
    if tensors:
        x.index_put_(tuple(tensors), value)
    else:
        numbers_of(x).copy_(numbers_of(value))


def _view(x: Tensor, key: Any) -> tuple[Tensor, Sequence[Tensor | None]]:
    """x seen through the numbers, slices and None of `key`, and its tensors by dimension."""
    key = key if isinstance(key, tuple) else (key,)
    dim, tensors = 0, {}
    for place, each in enumerate(key):
        if each is None:
            x, dim = x.unsqueeze(dim), dim + 1
        elif each is Ellipsis:
            dim = x.dim() - len(key) + place + 1
        elif isinstance(each, slice):
            x, dim = aten.slice(x, dim, each.start, each.stop, each.step or 1), dim + 1
        elif isinstance(each, Tensor):
            tensors[dim] = each
            dim += each.dim() if each.dtype == torch.bool else 1
        else:
            x = x.select(dim, each)
    return x, [tensors.get(place) for place in range(max(tensors) + 1)] if tensors else []


class Kernel:
    """A Triton kernel that takes tensors of the GPU, and no others, and runs in the interpreter."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel

    def __getitem__(self, grid: tuple[int, ...]) -> Callable[..., None]:
        def launch(**arguments: Any) -> None:
            for name, value in arguments.items():
                assert isinstance(value, OnGPU) or not isinstance(value, Tensor), f"{name} is on the CPU"
            self._kernel[grid](**{name: numbers_of(value) for name, value in arguments.items()})

        return launch


@contextmanager
def pretended_gpu() -> Iterator[Operations]:
    """Inside, torch has a GPU. `waits` of what this gives lists the places in kvlib that waited for it."""
    operations = Operations()
    with operations, Calls(operations):
        yield operations
