"""What a model file says of itself, read by the type that each key must have."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kvlib.errors import BadModelFile
from kvlib.shown import shown

AGAIN = "install or download the file again"


class Metadata:
    """The metadata `values` of the file `path`. Each reader raises BadModelFile with key, value and what is expected.

    A key that is absent has the `default` of the call, or is refused where there is none.
    """

    def __init__(self, values: Mapping[str, Any], path: Path) -> None:
        self.path = path
        self._values = values

    def whole(self, key: str, default: int | None = None, *, least: int = 1, below: float = math.inf) -> int:
        """A whole number from `least` to less than `below`."""
        value = self._values.get(key, default)
        if type(value) is not int or not least <= value < below:
            limit = "" if below == math.inf else f" and below {below}"
            raise self.bad(key, f"a whole number of at least {least}{limit}")
        return value

    def number(self, key: str, default: float | None = None) -> float:
        """A finite number above 0."""
        value = self._values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
            raise self.bad(key, "a number above 0")
        return value

    def text(self, key: str, default: str | None = None) -> str:
        """A text."""
        value = self._values.get(key, default)
        if not isinstance(value, str):
            raise self.bad(key, "a text")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """True or False."""
        value = self._values.get(key, default)
        if not isinstance(value, bool):
            raise self.bad(key, "true or false")
        return value

    def only(self, key: str, *known: Any) -> Any:
        """The value, which must be one of the `known`; the first of them where it is absent."""
        value = self._values.get(key, known[0])
        if value not in known:
            allowed = " or ".join(map(repr, known))
            raise BadModelFile(f"{self.path} has {key} = {shown(value)}; this reads only {allowed}: take another model")
        return value

    def list_of(self, kind: type, key: str) -> list[Any]:
        """A list, not empty, of nothing but `kind`."""
        value = self._values.get(key)
        if not isinstance(value, list) or not value or not all(type(item) is kind for item in value):
            raise self.bad(key, f"a list of {kind.__name__}, not empty,")
        return value

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def bad(self, key: str, expected: str) -> BadModelFile:
        """The error for a value that is not what is `expected`."""
        found = f"{key} = {shown(self._values[key])}" if key in self._values else f"no {key}"
        return BadModelFile(f"{self.path} has {found}; {expected} is expected: {AGAIN}")
