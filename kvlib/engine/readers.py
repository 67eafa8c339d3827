"""Parameters that check themselves: what each may be, said once as a rule and once in words."""

import math
from collections.abc import Callable
from dataclasses import fields
from numbers import Integral, Real
from typing import Any, ClassVar

from kvlib.errors import BadInput
from kvlib.shown import shown

# A reader turns what was given into Python's own type, or raises TypeError, ValueError or OverflowError.
Reader = Callable[[Any], Any]


class CheckedParams:
    """Base of frozen dataclasses whose fields are read on construction; `allowed` has a reader for each, and words.

    Raises BadInput for an unknown name and, naming the field, for a value that its reader refuses.
    """

    allowed: ClassVar[dict[str, tuple[Reader, str]]]

    def __new__(cls, **values: object) -> "CheckedParams":
        unknown = [name for name in values if name not in cls.allowed]
        if unknown:
            raise BadInput(f"{cls.__name__} has no {', '.join(unknown)}; the known names are {', '.join(cls.allowed)}")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]  # every subclass is a dataclass
            given, (read, allowed) = getattr(self, field.name), self.allowed[field.name]
            try:
                object.__setattr__(self, field.name, read(given))
            except (TypeError, ValueError, OverflowError):
                raise BadInput(f"{field.name} is {shown(given)}; it must be {allowed}") from None


def real(is_allowed: Callable[[float], bool]) -> Reader:
    """Reads a finite number for which `is_allowed` holds; True and False are none."""

    def read(given: Any) -> float:
        if isinstance(given, bool) or not isinstance(given, Real):
            raise TypeError
        number = float(given)
        if not math.isfinite(number) or not is_allowed(number):
            raise ValueError
        return number

    return read


def whole(least: int, below: float = math.inf) -> Reader:
    """Reads a whole number, `least` or more and less than `below`; True and False are none."""

    def read(given: Any) -> int:
        if isinstance(given, bool) or not isinstance(given, Integral):
            raise TypeError
        number = int(given)
        if not least <= number < below:
            raise ValueError
        return number

    return read


def or_none(read: Reader) -> Reader:
    """Reads None, or what `read` reads."""
    return lambda given: None if given is None else read(given)


def several(read: Reader) -> Reader:
    """Reads a list of what `read` reads; None is an empty one."""

    def read_all(given: Any) -> tuple[Any, ...]:
        if given is None:
            return ()
        if not isinstance(given, list | tuple | set | frozenset):
            raise TypeError
        return tuple(read(item) for item in given)

    return read_all


def text(given: Any) -> str:
    """Reads a text that is not empty."""
    if not isinstance(given, str) or not given:
        raise TypeError
    return given


def truth(given: Any) -> bool:
    """Reads True or False."""
    if not isinstance(given, bool):
        raise TypeError
    return given
