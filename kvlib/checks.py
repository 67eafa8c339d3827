"""The one check that almost every argument needs."""

from kvlib.errors import BadConfig, KvlibError


def whole(name: str, value: object, least: int = 1, error: type[KvlibError] = BadConfig) -> int:
    """`value` if it is a plain int of at least `least`; else `error`, naming what was given. True is not 1 here."""
    if type(value) is not int or value < least:
        raise error(f"{name} is {value!r} ({type(value).__name__}); give a whole number, an int of at least {least}")
    return value
