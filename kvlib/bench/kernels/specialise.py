"""What Triton's just-in-time compiler makes of a launch's arguments, so that a kernel can be compiled without a launch.

It compiles anew for each dtype, for each int that is 1, and for what is divisible by 16: only then does a kernel read
16 bytes with one instruction. Triton 3.6 to 3.9, `triton/runtime/jit.py`.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

POINTERS = {
    torch.float16: "*fp16",
    torch.bfloat16: "*bf16",
    torch.float32: "*fp32",
    torch.float8_e4m3fn: "*fp8e4nv",
    torch.int8: "*i8",
    torch.uint8: "*u8",
    torch.int32: "*i32",
    torch.int64: "*i64",
}
DIVISIBLE = [["tt.divisibility", 16]]


class Specialised(NamedTuple):
    """The last three arguments of triton.compiler.ASTSource."""

    signature: dict[str, str]
    constexprs: dict[str, Any]
    attrs: dict[tuple[int], list[list[Any]]]


def specialise(kernel: Any, arguments: Mapping[str, Any]) -> Specialised:
    """`kernel` is a triton.jit function, `arguments` all of its arguments by name; tensors may be "meta" tensors."""
    signature, constexprs, attrs = {}, {}, {}
    for index, parameter in enumerate(kernel.params):
        value = arguments[parameter.name]
        signature[parameter.name] = "constexpr" if parameter.is_constexpr else _type(value)
        if signature[parameter.name] == "constexpr":
            constexprs[parameter.name] = value
        elif _divisible(value):
            attrs[(index,)] = DIVISIBLE
    return Specialised(signature, constexprs, attrs)


def _type(value: object) -> str:
    if isinstance(value, Tensor):
        return POINTERS[value.dtype]
    if isinstance(value, float):
        return "fp32"
    if value is None or value == 1:
        return "constexpr"
    assert type(value) is int, f"no kernel takes a {type(value).__name__}"
    return "i32" if -(2**31) <= value < 2**31 else "i64"


def _divisible(value: object) -> bool:
    if isinstance(value, Tensor):  # a meta tensor stands for one at the beginning of an allocation
        address = value.data_ptr() if value.device.type != "meta" else value.storage_offset() * value.itemsize
        return address % 16 == 0
    return type(value) is int and value % 16 == 0
