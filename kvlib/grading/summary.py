"""What `kvlib grade` says at its end: how many, how good, how long, and what an instructor should look at."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from kvlib.grading.grade import Graded, Plan
from kvlib.grading.judge import MORE, clean
from kvlib.grading.marks import BEST_OF
from kvlib.grading.one_file import FAILED, IMPORTS, LOOKS
from kvlib.grading.submissions import Submission

MOST_NAMED = 8
NO_END = "no end after"


def as_text(graded: Graded, plan: Plan, warning: str) -> str:
    """The summary, in lines; `warning` is the last of what to look at, unless it is "".

    What had no end is to be looked at, since a machine that is busy makes a right answer slow.
    """
    marks = [mark for mark in graded.marks if mark.of]
    students, files = len(graded.collected.students), len(graded.collected.submissions)
    right = sum(mark.points == mark.of for mark in marks)
    points, of = sum(mark.points for mark in marks), sum(mark.of for mark in marks)
    lines = [
        f"{_many(students, 'student')}, {_many(files, 'file')}, {_many(len(marks), 'exercise')}: {right} right; "
        f"the mean is {points / students:.1f} of {of / students:g} points; it took {_time(graded.seconds)}",
        f"marks: {plan.out}",
        f"a report for each student, junit.xml, and what was kept on the way: {plan.folder}",
        *(f"look at: {line}" for line in _to_look_at(graded)),
    ]
    return "\n".join([*lines, f"look at: {warning}"] if warning else lines)


def _to_look_at(graded: Graded) -> Iterator[str]:
    files, marks = graded.collected.submissions, graded.marks
    yield from _some([f"{name}: no notebook, and no lab in its name, so left out" for name in graded.collected.strays])
    yield from _some([f"{each.student}: {each.file} {each.problem}" for each in files if each.problem])
    yield from _some(sorted(_perhaps_several(files)))
    for begin in (IMPORTS, LOOKS, FAILED, MORE, NO_END):
        found = [mark for mark in marks if mark.reason.startswith(begin)]
        yield from _some([f"{mark.student}: {mark.exercise} of {mark.lab}: {mark.reason}" for mark in found])
    several = {
        f"{mark.student}: {mark.lab}: {BEST_OF}{mark.reason.partition(BEST_OF)[2]}"
        for mark in marks
        if BEST_OF in mark.reason
    }
    yield from _some(sorted(several))


def _perhaps_several(files: Iterable[Submission]) -> Iterator[str]:
    """Students of whom folders in their own hold the same lab: it may be that each folder is a student's."""
    inner: dict[tuple[str, str], set[str]] = defaultdict(set)
    for each in files:
        if each.lab and len(parts := Path(each.file).parts) > 2:
            inner[each.student, each.lab].add(str(Path(*parts[:-1])))
    for (student, lab), folders in inner.items():
        if len(folders) > 1:
            named = ", ".join(sorted(folders))
            yield (
                f"{student}: each of the folders {named} holds {lab}; if they are students', grade the folder that "
                "they are in"
            )


def _some(lines: list[str]) -> Iterator[str]:
    yield from map(clean, lines[:MOST_NAMED])
    if len(lines) > MOST_NAMED:
        yield f"{len(lines) - MOST_NAMED} more like the last one, in the marks"


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
