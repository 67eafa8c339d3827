"""Calling what a learner of the lab *Race the kernel* wrote, and taking whatever number comes back."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from math import inf, isfinite
from numbers import Integral, Real
from typing import Any

from kvlib.grading.exercise import Wrong
from kvlib.shown import shown

NAMES = {
    "floor_us": ("num_seqs", "context_len", "num_kv_heads", "head_size", "number_bytes", "gbps"),
    "num_splits": ("num_programs", "num_places", "context_len"),
    "least_context": ("num_seqs", "token_bytes", "gbps", "host_us"),
}
"""The arguments of each function of the lab."""

MOST = 10**15
"""Of tokens or splits: more is no count of anything here, and may be more than a float."""


def number(answer: Callable[..., Any], name: str, case: Sequence[float]) -> Any:
    """What `answer` returns for `case`; raises Wrong where it raises or that is no number."""
    try:
        value = answer(*case)
    except Exception as error:
        what = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}".removesuffix(": ")
        raise Wrong(f"It raises {what}, for {said(name, case)}.") from error
    if not is_number(value):
        raise Wrong(f"{said(name, case)} is {shown(value)}; give a number.")
    return value


def is_number(value: object) -> bool:
    """Also one of NumPy's, a fraction or a decimal; no bool."""
    return isinstance(value, (Real, Decimal)) and not isinstance(value, bool)


def as_float(value: Any) -> float:
    """A number as a float, inf where it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return inf


def whole(value: Any, call: str, otherwise: str) -> int:
    """A number that is whole, and of a type for whole ones; raises Wrong, with `otherwise` for what has a fraction."""
    if isinstance(value, Integral):
        if abs(int(value)) > MOST:
            raise Wrong(f"{call} is {shown(value)}; no device holds so many.")
        return int(value)
    if isfinite(as_float(value)) and value == int(value):
        raise Wrong(f"{call} is {shown(value)}, which is whole, and no int: wrap it in int().")
    raise Wrong(f"{call} is {shown(value)}; {otherwise}.")


def said(name: str, case: Sequence[float]) -> str:
    """The call, with the names of its arguments."""
    return f"{name}({', '.join(f'{what}={value}' for what, value in zip(NAMES[name], case))})"
