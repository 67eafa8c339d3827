"""Reading one field of a model's configuration: absent, or exactly what it should be, or BadConfig by its name."""

from collections.abc import Mapping
from typing import Any

from kvlib.checks import whole
from kvlib.errors import BadConfig


def number(config: Mapping[str, Any], names: tuple[str, ...], default: int = 0) -> int:
    """The first of `names` that the config gives, or `default` (0: none). A null counts as absent, but where
    absent means a `default` other than 0, a null is refused: models disagree about what it means."""
    found = [(name, _lookup(config, name)) for name in names]
    for name, value in found:
        if value is not None:
            return whole(name, value)
    if default and (null := next((name for name in names if name in config), None)):
        whole(null, None)
    return default


def required(config: Mapping[str, Any], names: tuple[str, ...], default: int = 0) -> int:
    """As `number`; BadConfig if there is neither a value nor a `default`."""
    value = number(config, names, default)
    if not value:
        first, *others = names
        also = f" (nor is there {' or '.join(others)})" if others else ""
        raise BadConfig(f"{first} is missing{also}; expected a whole number. Take the model's whole config.json.")
    return value


def choice(config: Mapping[str, Any], name: str, allowed: tuple[Any, ...]) -> Any:
    """The field `name`, one of `allowed`; the first of them where it is absent or null."""
    value = _lookup(config, name)
    if value is None:
        return allowed[0]
    for one in allowed:
        if type(value) is type(one) and value == one:
            return one
    raise BadConfig(f"{name} is {value!r}; expected one of {', '.join(map(repr, allowed))}. Correct it and try again.")


def section(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The object inside the config under `name`; empty where it is absent or null."""
    value = config.get(name)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise BadConfig(f"{name} is {value!r}; expected an object with fields of its own. Correct it and try again.")
    return value


def _lookup(config: Mapping[str, Any], name: str) -> Any:
    outer, _, inner = name.rpartition(".")
    return (section(config, outer) if outer else config).get(inner)
