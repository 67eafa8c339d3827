"""Exercises whose answer is a function that gives a list, a tuple or a dict: drawn cases, and their known mistakes."""

import operator
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any, NamedTuple

from kvlib.chance import Chance
from kvlib.grading.exercise import Seen, Wrong, check_callable
from kvlib.grading.exercises.recognised import Case, fault_in
from kvlib.grading.exercises.sums import NUM_CASES, call
from kvlib.shown import shown


class Drawn(NamedTuple):
    """One call of an answer: `right` is what it has to give. mistakes: what each known mistake gives instead, by the
    sentence that explains it; every case of an exercise has the same ones. said: the call in words that "should be"
    can follow, where its arguments are too many to be written down."""

    arguments: Mapping[str, Any]
    right: Any
    mistakes: Mapping[str, Any]
    said: str = ""


def lists(
    law: str,
    draw: Callable[[Chance, int], Drawn],
    expected: str,
    tidy: Callable[[tuple[Any, ...]], tuple[Any, ...]] = tuple,
) -> Callable[[Any, Chance], Iterator[Seen]]:
    """A probe that calls an answer for NUM_CASES drawn cases, every argument by its name.

    expected: what to give, in words that follow "give". tidy: makes what is worth the same equal, of nested tuples.
    """

    def probe(answer: Any, chance: Chance) -> Iterator[Seen]:
        cases = []
        for number in range(NUM_CASES):
            drawn = draw(chance, number)
            check_callable(answer, *drawn.arguments)
            said = drawn.said or call(drawn.arguments)
            value = answer(**deepcopy(dict(drawn.arguments)))
            try:
                given = tidy(_nested(value))
            except (TypeError, ValueError, IndexError):
                raise Wrong(f"{said} is {shown(value)}; give {expected}.") from None
            mistakes = {words: tidy(_nested(made)) for words, made in drawn.mistakes.items()}
            told = f"{said} should be {drawn.right}, and is {shown(value)}."
            cases.append(Case(told, given, tidy(_nested(drawn.right)), mistakes))
        yield Seen(law, [case.given for case in cases], fault_in(cases))

    return probe


def _nested(value: Any) -> tuple[Any, ...]:
    """A list, tuple or dict as tuples of tuples, whole numbers and text; None as ()."""
    if value is None:
        return ()
    if isinstance(value, str):
        raise TypeError("text is no list")
    if isinstance(value, Mapping):
        return tuple(sorted((str(key), _nested(entry)) for key, entry in value.items()))
    return tuple(_leaf(each) for each in value)


def _leaf(value: Any) -> Any:
    if isinstance(value, str):
        return value
    try:
        return operator.index(value)
    except TypeError:
        return _nested(value)
