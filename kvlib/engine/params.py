"""What a request asks for: the public names and meanings are those of vLLM's SamplingParams."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any

from kvlib.errors import BadInput


@dataclass(frozen=True, kw_only=True)
class SamplingParams:
    """How one request is sampled and when it ends. Raises BadInput for a value out of range or an unknown name.

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
        object.__setattr__(self, "stop", _as_tuple(self.stop))
        object.__setattr__(self, "stop_token_ids", _as_tuple(self.stop_token_ids))
        for field in fields(self):
            value, (is_allowed, allowed) = getattr(self, field.name), ALLOWED[field.name]
            if not is_allowed(value):
                raise BadInput(f"{field.name} is {value!r}; it must be {allowed}")


def _as_tuple(value: Any) -> Any:
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list | tuple | set | frozenset) else value


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


ALLOWED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "temperature": (lambda x: _is_number(x) and x >= 0, "a number, 0 or more; 0 always takes the likeliest token"),
    "top_p": (lambda x: _is_number(x) and 0 < x <= 1, "above 0 and at most 1; 1 keeps all tokens"),
    "top_k": (lambda x: _is_whole(x) and x >= -1, "a whole number, 1 or more; 0 or -1 keeps all tokens"),
    "min_p": (lambda x: _is_number(x) and 0 <= x <= 1, "from 0 to 1; 0 keeps all tokens"),
    "max_tokens": (lambda x: x is None or (_is_whole(x) and x >= 1), "a whole number, 1 or more, or None for no limit"),
    "seed": (lambda x: x is None or (_is_whole(x) and 0 <= x < 2**64), "a whole number, 0 to 2**64 - 1, or None"),
    "stop": (
        lambda x: isinstance(x, tuple) and all(isinstance(text, str) and text for text in x),
        "a text or a list of texts, none of them empty",
    ),
    "stop_token_ids": (
        lambda x: isinstance(x, tuple) and all(_is_whole(token) and token >= 0 for token in x),
        "a list of token ids",
    ),
    "ignore_eos": (lambda x: isinstance(x, bool), "True or False"),
}
