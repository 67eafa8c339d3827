"""What is wrong with an answer that was tried in several cases: the mistake that explains all of them, if one does."""

from collections.abc import Mapping, Sequence
from math import isclose
from typing import Any, NamedTuple


class Case(NamedTuple):
    """One case: `told` says what was given to the answer and what came out, `given` and `right` are what came out and
    what should, numbers or tuples of them. `mistakes` has the words for each known mistake, and what it comes to;
    every case of an exercise has the same ones. `otherwise` is said where no mistake is recognised."""

    told: str
    given: Any
    right: Any
    mistakes: Mapping[str, Any]
    otherwise: str = ""


def fault_in(cases: Sequence[Case]) -> str:
    """ "" if all cases are right; else the first that is not, with the words of the mistake that fits them all."""
    wrong = [case for case in cases if not _same(case.given, case.right)]
    if not wrong:
        return ""
    fitting = (words for words in wrong[0].mistakes if all(_same(case.given, case.mistakes[words]) for case in cases))
    return f"{wrong[0].told} {next(fitting, wrong[0].otherwise)}".strip()


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, tuple):
        return one == other
    return isclose(one, other, rel_tol=1e-6, abs_tol=1e-10)
