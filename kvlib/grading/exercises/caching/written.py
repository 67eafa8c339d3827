"""How many numbers torch writes, whatever the code that makes it write them."""

from collections.abc import Iterable, Mapping
from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode  # a TorchDispatchMode would load torch's compiler, for seconds


class NumbersWritten(TorchFunctionMode):
    """While it is entered, `numbers` grows by what each call of torch writes that has a tensor to read.

    A view writes nothing, and neither does making room: `empty` and `zeros` read no tensor.
    """

    def __init__(self) -> None:
        super().__init__()
        self.numbers = 0

    def __torch_function__(
        self, func: Any, types: Any, args: tuple = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", "")
        read = [each for each in _flat((*args, *(kwargs or {}).values())) if isinstance(each, Tensor)]
        if name == "__setitem__" or (name.endswith("_") and not name.endswith("__")):
            self.numbers += max((each.numel() for each in read[1:]), default=read[0].numel())
        elif read and isinstance(result, Tensor) and not _is_view(result, read):
            self.numbers += result.numel()
        return result


def _is_view(result: Tensor, read: Iterable[Tensor]) -> bool:
    place = result.untyped_storage().data_ptr()
    return any(each.untyped_storage().data_ptr() == place for each in read)


def _flat(arguments: Iterable[Any]) -> Iterable[Any]:
    for argument in arguments:
        if isinstance(argument, list | tuple):
            yield from argument
        else:
            yield argument
