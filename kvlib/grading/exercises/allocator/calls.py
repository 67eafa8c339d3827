"""How an answer of lab 3 is called, and what it does then, in words."""

import operator
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from kvlib.grading.exercise import Wrong, check_callable
from kvlib.grading.raised import described


def made(answer: Any, **sizes: int) -> Any:
    """The object that a learner's class makes of `sizes`. Raises Wrong where it cannot be called so."""
    check_callable(answer, *sizes)
    return answer(**sizes)


def called(case: str, answer: Callable, **arguments: object) -> Any:
    """What the answer returns. Raises Wrong, which begins with the case, where it raises."""
    done = tried(lambda: answer(**arguments))
    if done.raised:
        raise Wrong(f"{case}. {described(done.raised)}")
    return done.returned


def whole_numbers(value: object) -> list[int] | None:
    """`value` as a list of ints if it is worth one, else None."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return None
    try:
        return [operator.index(number) for number in value]
    except TypeError:
        return None


class Tried(NamedTuple):
    """What a call returned, or what it raised."""

    returned: object = None
    raised: Exception | None = None

    def instead_of(self, error: type[Exception]) -> str:
        """What was done where `error` should be raised, as "returns, and should raise ..."; "" if it was raised."""
        if isinstance(self.raised, error):
            return ""
        if self.returned is error or isinstance(self.returned, error):
            return f"returns {error.__name__}: write `raise` in place of `return`"
        value = "" if self.returned is None else f" {self.returned!r:.40}"
        done = f"raises {type(self.raised).__name__}" if self.raised else f"returns{value}"
        return f"{done}, and should raise {error.__name__}"


def tried(call: Callable, *arguments: object) -> Tried:
    """What the call does. What nobody has written yet is no refusal: NotImplementedError goes on."""
    try:
        return Tried(returned=call(*arguments))
    except NotImplementedError:
        raise
    except Exception as raised:
        return Tried(raised=raised)
