"""How a query scores a key: all that attention needs to know beside the numbers themselves."""

from numbers import Real
from typing import Any, NamedTuple

from torch import Tensor

from kvlib.checks import whole
from kvlib.errors import BadInput

LARGEST = 3.4e38  # what float32 holds, in which scores are computed


class Scoring(NamedTuple):
    """score = scale * query . key, softly capped, seen only inside the window.

    scale: head_size ** -0.5 in most models. window: a query at position p sees positions p - window + 1 to p (Mistral
    7B, arXiv 2310.06825, section 2); None sees all before it. softcap: score becomes softcap * tanh(score / softcap)
    (Gemma 2, arXiv 2408.00118, section 2); None leaves it. k_scale, v_scale: float32 [num_kv_heads], what the codes of
    a quantised cache are multiplied with; None for any other cache.
    """

    scale: float
    window: int | None = None
    softcap: float | None = None
    k_scale: Tensor | None = None
    v_scale: Tensor | None = None


def check_scoring(scoring: Scoring) -> None:
    """Raise BadInput, with the name of the first number that no attention can use. The two scales are not looked at."""
    _check_positive("scale", scoring.scale, "such as head_size ** -0.5")
    if scoring.window is not None:
        whole("window", scoring.window, error=BadInput)
    if scoring.softcap is not None:
        _check_positive("softcap", scoring.softcap, "or None for no cap")


def _check_positive(name: str, number: Any, instead: str) -> None:
    is_number = isinstance(number, Real) and not isinstance(number, bool)
    if not is_number or not 0 < number <= LARGEST:
        raise BadInput(
            f"{name} is {number!r}, of type {type(number).__name__}; give a finite number above 0, {instead}"
        )
