"""The exercises of a lab: what is seen of an answer, what is said to its author, what is printed for the grader.

A *probe* uses an answer and yields what it sees. The learner's check looks for faults in that, and puts them in words.
The grader's hidden cell prints the same laws and values for a seed that nobody knows beforehand, and for those of the
check, so that what the check calls wrong never gets a mark; whether the values are the right ones is decided elsewhere,
by comparing the text with that of the model answer, so that no answer can decide it.
"""

import json
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, redirect_stderr, redirect_stdout
from hashlib import sha256
from io import StringIO
from textwrap import fill
from typing import Any, NamedTuple

from kvlib.chance import Chance
from kvlib.errors import BadInput
from kvlib.grading.raised import described, uncallable

WIDTH = 72  # columns
LONGEST = 400  # characters of a value
PUBLIC_SEEDS = (1, 2, 3)
"""What a learner's check draws from as a rule; the grader's seeds are far above."""
A_FAULT = " (a fault)"


class Wrong(Exception):
    """What an answer does not do, in words; a probe raises it where it cannot go on."""


def check_callable(answer: Any, *names: str) -> None:
    """Raises Wrong unless `answer` can be called with arguments of these names."""
    if why := uncallable(answer, names):
        raise Wrong(f"{why}.")


def check_all_callable(answer: Any, asked: str, *names: Iterable[str]) -> None:
    """Raises Wrong unless `answer` is a tuple of functions, one for each of `names`; `asked`: how a check is called."""
    if not isinstance(answer, tuple) or len(answer) != len(names):
        raise Wrong(f"Give the check all {len(names)} of them: {asked}.")
    for function, arguments in zip(answer, names):
        check_callable(function, *arguments)


class Seen(NamedTuple):
    """One property of an answer.

    law: the property, in words that end no sentence. value: what was seen of it, which follows from the seed and is the
    same for every right answer: numbers, text, or lists and dicts of them. fault: what is wrong with it, in sentences
    for the learner, or "".
    """

    law: str
    value: Any
    fault: str = ""


class Score(NamedTuple):
    """How good a right answer is: `value` of `what` ("blocks wasted"), the fewer the better; `best` is known to do."""

    what: str
    value: int
    best: int


class Exercise(NamedTuple):
    """A probe, called with an answer and a Chance, and the words for an answer in which it sees no fault.

    seeds: what the learner's check draws from; one is enough where a probe looks at much that is not drawn.
    """

    probe: Callable[[Any, Chance], Iterable[Seen | Score]]
    right: str
    seeds: Sequence[int] = PUBLIC_SEEDS


class Verdict(NamedTuple):
    """What a check found; `str` of it is one line if it is right, and wrapped at WIDTH columns if not."""

    exercise: str
    is_right: bool
    words: str

    def __str__(self) -> str:
        if self.is_right:
            return f"{self.exercise}: right. {self.words}"
        return fill(f"{self.exercise}: wrong. {self.words}", WIDTH, break_long_words=False, break_on_hyphens=False)


class Exercises:
    """The exercises of one lab, by name. `check` and `observe` raise BadInput for a name that is not among them."""

    def __init__(self, exercises: Mapping[str, Exercise]) -> None:
        self._exercises = exercises

    @property
    def names(self) -> list[str]:
        return list(self._exercises)

    def check(self, name: str, answer: Any) -> Verdict:
        """What to tell the learner; the same each time. An answer that raises is wrong."""
        exercise, scores = self._find(name), []
        try:
            for seed in exercise.seeds:
                for seen in exercise.probe(answer, Chance(seed)):
                    if isinstance(seen, Score):
                        scores.append(seen)
                    elif seen.fault:
                        return Verdict(name, False, seen.fault)
        except Wrong as wrong:
            return Verdict(name, False, str(wrong))
        except Exception as raised:
            return Verdict(name, False, described(raised))
        return Verdict(name, True, f"{exercise.right}{_scored(scores)}")

    def observe(self, name: str, answer: Any, seed: int) -> str:
        """A line for each law, `law: value`, as seen with this seed, then with those of the check.

        Where the probe saw a fault, the line ends with A_FAULT. A last line that begins with "stopped" says why the
        probe could not go on. There is no score, and nothing that an answer prints.
        """
        exercise, lines = self._find(name), []
        with _silence():
            try:
                for each in (seed, *exercise.seeds):
                    for seen in exercise.probe(answer, Chance(each)):
                        if isinstance(seen, Seen):
                            lines.append(f"{seen.law}: {plain(seen.value)}{A_FAULT if seen.fault else ''}")
            except Exception as raised:
                lines.append(f"stopped: {raised if isinstance(raised, Wrong) else described(raised)}")
        return "\n".join(lines)

    def _find(self, name: str) -> Exercise:
        if name not in self._exercises:
            raise BadInput(f"exercise is {name!r}; known are {', '.join(self._exercises)}")
        return self._exercises[name]


def plain(value: Any) -> str:
    """A value as text that depends on nothing but what it is worth: 3 and a tensor that holds 3 are the same."""
    text = json.dumps(_plain(value), ensure_ascii=False)
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}... {len(text)} characters, SHA-256 {sha256(text.encode()).hexdigest()[:12]}"


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Mapping):
        return {str(_plain(key)): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(entry) for entry in (sorted(value) if isinstance(value, set | frozenset) else value)]
    for convert in (operator.index, float):
        try:
            number = convert(value)
        except (TypeError, ValueError, OverflowError):
            continue
        return number if isinstance(number, int) else _rounded(number)
    return f"one {type(value).__name__}"


def _rounded(number: float) -> float | int:
    """To six digits; a whole number as such, since 5.0 is worth 5."""
    rounded = float(f"{number:.6g}")
    return int(rounded) if rounded.is_integer() else rounded


def _scored(scores: Iterable[Score]) -> str:
    """The sums of scores of one name, as sentences; "" if there is none."""
    sums: dict[str, tuple[int, int]] = {}
    for what, value, best in scores:
        before = sums.get(what, (0, 0))
        sums[what] = (before[0] + value, before[1] + best)
    said = (f" {value:,} {what}{_beside(value, best)}." for what, (value, best) in sums.items())
    return "".join(said)


def _beside(value: int, best: int) -> str:
    if value == best:
        return ", as few as ours"
    return f"; {best:,} would do" if value > best else f", fewer than our {best:,}"


def _silence() -> AbstractContextManager[Any]:
    """Nothing that is printed or displayed inside is seen, in a notebook or elsewhere."""
    try:
        from IPython.utils.capture import capture_output
    except ImportError:
        stack = ExitStack()
        stack.enter_context(redirect_stdout(StringIO()))
        stack.enter_context(redirect_stderr(StringIO()))
        return stack
    return capture_output()
