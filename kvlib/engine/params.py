"""What a request asks for: the public names and meanings are those of vLLM's SamplingParams."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any

from kvlib.engine.shown import shown
from kvlib.errors import BadInput


@dataclass(frozen=True, kw_only=True)
class SamplingParams:
    """How one request is sampled and when it ends. Raises BadInput for a value out of range or an unknown name.

    These are all the names of vLLM's that there are; others, such as n, logprobs or presence_penalty, are refused
    whatever their value. A request has one answer.

    ==============  ==================================================================================
    temperature     0 or more: 0 takes the likeliest token, 1 samples from the model's own distribution
    top_p           above 0, at most 1: only the likeliest tokens that together reach this probability
    top_k           1 or more: only so many of the likeliest tokens; 0 or -1: all
    min_p           0 to 1: only tokens with at least this share of the likeliest token's probability
    max_tokens      at most so many generated tokens, 1 or more; None: what context and memory hold
    seed            one seed, one sequence of draws, whatever else is in the batch; None: torch's own
    stop            a text, or several, that end the answer; it is cut before the first of them
    stop_token_ids  token ids that end the answer, besides the model's own end tokens
    ignore_eos      whether to go on after the model's own end tokens
    ==============  ==================================================================================
    """

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    max_tokens: int | None = 16
    seed: int | None = None
    stop: Sequence[str] = ()
    stop_token_ids: Sequence[int] = ()
    ignore_eos: bool = False

    def __new__(cls, **values: object) -> "SamplingParams":
        unknown = [name for name in values if name not in ALLOWED]
        if unknown:
            raise BadInput(f"unknown sampling value {', '.join(unknown)}; the known ones are {', '.join(ALLOWED)}")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for field in fields(self):
            given, (read, allowed) = getattr(self, field.name), ALLOWED[field.name]
            try:
                object.__setattr__(self, field.name, read(given))
            except (TypeError, ValueError, OverflowError):
                raise BadInput(f"{field.name} is {shown(given)}; it must be {allowed}") from None


# A reader turns what was given into Python's own type, or raises TypeError, ValueError or OverflowError.
Reader = Callable[[Any], Any]


def _real(is_allowed: Callable[[float], bool]) -> Reader:
    def read(given: Any) -> float:
        if isinstance(given, bool) or not isinstance(given, Real):
            raise TypeError
        number = float(given)
        if not math.isfinite(number) or not is_allowed(number):
            raise ValueError
        return number

    return read


def _whole(least: int, below: float = math.inf) -> Reader:
    def read(given: Any) -> int:
        if isinstance(given, bool) or not isinstance(given, Integral):
            raise TypeError
        number = int(given)
        if not least <= number < below:
            raise ValueError
        return number

    return read


def _or_none(read: Reader) -> Reader:
    return lambda given: None if given is None else read(given)


def _several(read: Reader) -> Reader:
    def read_all(given: Any) -> tuple[Any, ...]:
        if given is None:
            return ()
        if not isinstance(given, list | tuple | set | frozenset):
            raise TypeError
        return tuple(read(item) for item in given)

    return read_all


def _text(given: Any) -> str:
    if not isinstance(given, str) or not given:
        raise TypeError
    return given


def _truth(given: Any) -> bool:
    if not isinstance(given, bool):
        raise TypeError
    return given


ALLOWED: dict[str, tuple[Reader, str]] = {
    "temperature": (_real(lambda x: x >= 0), "a number, 0 or more; 0 always takes the likeliest token"),
    "top_p": (_real(lambda x: 0 < x <= 1), "above 0 and at most 1; 1 keeps all tokens"),
    "top_k": (_whole(-1), "a whole number, 1 or more; 0 or -1 keeps all tokens"),
    "min_p": (_real(lambda x: 0 <= x <= 1), "from 0 to 1; 0 keeps all tokens"),
    "max_tokens": (_or_none(_whole(1)), "a whole number, 1 or more, or None for no limit"),
    "seed": (_or_none(_whole(0, 2**64)), "a whole number, 0 to 2**64 - 1, or None"),
    "stop": (
        lambda given: (_text(given),) if isinstance(given, str) else _several(_text)(given),
        "a text or a list of texts, none of them empty",
    ),
    "stop_token_ids": (_several(_whole(0)), "a list of token ids"),
    "ignore_eos": (_truth, "True or False"),
}
