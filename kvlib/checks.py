"""The checks that many arguments need."""

from kvlib.errors import BadConfig, KvlibError
from kvlib.shown import shown


def whole(name: str, value: object, least: int = 1, error: type[KvlibError] = BadConfig) -> int:
    """`value` if it is a plain int of at least `least`; else `error`, naming what was given. True is not 1 here."""
    if type(value) is not int or value < least:
        raise error(
            f"{name} is {shown(value)} ({type(value).__name__}); give a whole number, an int of at least {least}"
        )
    return value


def one_of(name: str, value: object, known: tuple[str, ...]) -> None:
    """Raise BadConfig, with the known ones, unless `value` is one of them."""
    if not isinstance(value, str) or value not in known:
        raise BadConfig(f"{name} is {shown(value)}; the known ones are {', '.join(known)}")


def share(name: str, value: object) -> float:
    """`value` if it is a number from 0 to below 1, a share of a pool; else BadConfig. True and False are none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1:
        raise BadConfig(f"{name} is {shown(value)}; it is a share of the pool, from 0 to below 1")
    return value
