"""Exercises whose answer is a function that gives a number: drawn cases, and the mistakes that are known of each."""

import operator
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from math import isclose, isfinite
from typing import Any, NamedTuple

from kvlib.chance import Chance
from kvlib.grading.exercise import Seen, Wrong, check_callable
from kvlib.shown import shown

NUM_CASES = 6


class Case(NamedTuple):
    """One call of an answer.

    right: what it has to give, an int where the answer is a whole number. mistakes: what a known mistake gives instead,
    by the sentence that explains it, where that mistake matters.
    """

    arguments: Mapping[str, Any]
    right: float
    mistakes: Mapping[str, float]


def sums(law: str, draw: Callable[[Chance, int], Case]) -> Callable[[Any, Chance], Iterator[Seen]]:
    """A probe that calls an answer for NUM_CASES drawn cases, every argument by its name.

    `draw` is called with the number of the case, too, for exercises in which each kind has to come. The one fault names
    the first call that is wrong, and the mistake by which all that are wrong are explained.
    """

    def probe(answer: Any, chance: Chance) -> Iterator[Seen]:
        cases = [draw(chance, number) for number in range(NUM_CASES)]
        found = [asked(answer, case.arguments, type(case.right)) for case in cases]
        wrong = [(case, number) for case, number in zip(cases, found) if not _same(number, case.right)]
        yield Seen(law, found, _fault(wrong) if wrong else "")

    return probe


def asked(answer: Any, arguments: Mapping[str, Any], kind: type = float) -> Any:
    """What `answer` gives, as a number of the `kind`, int or float; raises Wrong if it is none."""
    check_callable(answer, *arguments)
    value = answer(**deepcopy(dict(arguments)))
    number = None if isinstance(value, bool) else _number(value)
    if number is None or not isfinite(number):
        raise Wrong(f"{call(arguments)} is {shown(value)}; give a number.")
    if kind is float:
        return float(number)
    if number != int(number):
        raise Wrong(f"{call(arguments)} is {shown(value)}; give a whole number.")
    return int(number)


def call(arguments: Mapping[str, Any]) -> str:
    """The call in words, as far as they are few."""
    return f"answer({', '.join(f'{name}={value!r}' for name, value in arguments.items())})"


def _number(value: Any) -> int | float | None:
    for convert in (operator.index, float):
        try:
            return convert(value)
        except (TypeError, ValueError, OverflowError, RuntimeError):
            continue
    return None


def _same(number: float, right: float) -> bool:
    return number == right if isinstance(right, int) else isclose(number, right, rel_tol=1e-6)


def _fault(wrong: list[tuple[Case, Any]]) -> str:
    case, number = wrong[0]
    known = [words for words in case.mistakes if all(_made(words, each, found) for each, found in wrong)]
    said = f"{call(case.arguments)} should be {_written(case.right)}, and is {_written(number)}."
    return " ".join([said, *known[:1]])


def _made(words: str, case: Case, found: float) -> bool:
    return words in case.mistakes and _same(found, case.mistakes[words])


def _written(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:,.6g}"
