"""The ids under which a caller knows requests."""

from collections.abc import Iterable
from typing import Any

from kvlib.errors import BadInput
from kvlib.shown import shown


def read_request_id(given: Any) -> str:
    """One id. Raises BadInput for what is no text."""
    if not isinstance(given, str):
        raise BadInput(f"request_id is {shown(given)}; give a text")
    return given


def read_request_ids(given: Any) -> list[str]:
    """One id or several, each once, in order. Raises BadInput for what is no text."""
    several = isinstance(given, Iterable) and not isinstance(given, str)
    return list(dict.fromkeys(read_request_id(item) for item in (given if several else [given])))
