"""The marks of everybody, in one order, as rows of a table that no spreadsheet takes for formulas."""

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping
from io import StringIO
from typing import NamedTuple

from kvlib.grading.judge import Result, clean
from kvlib.grading.labs import Lab
from kvlib.grading.submissions import Collected, Submission

HEADER = ("student", "lab", "exercise", "points", "of", "reason")
NOTHING = "nothing was handed in"
BEST_OF = "the best of "
FORMULA = ("=", "+", "-", "@", "\t", "\r")
Results = Mapping[Submission, Mapping[str, Result]]
"""Of each submission that could be graded, the result of each exercise of its lab."""


class Mark(NamedTuple):
    """What a student gets for an exercise of a lab, and the result that counted, of `file`."""

    student: str
    lab: str
    exercise: str
    points: int
    of: int
    reason: str
    file: str = ""
    result: Result = Result(False, "")


def marks(collected: Collected, labs: Mapping[str, Lab], results: Results) -> list[Mark]:
    """A mark for each student and exercise of `labs`, and a row for each file that belongs to none of them."""
    files: dict[tuple[str, str], list[Submission]] = defaultdict(list)
    for submission in collected.submissions:
        files[submission.student, submission.lab].append(submission)
    rows = []
    for student in collected.students:
        own = [
            _mark(student, lab, exercise, files[student, lab.name], results)
            for lab in labs.values()
            for exercise in lab.exercises
        ]
        own += [
            Mark(student, "", "", 0, 0, clean(f"{each.file} {each.problem}"), each.file) for each in files[student, ""]
        ]
        rows += own or [Mark(student, "", "", 0, 0, NOTHING)]
    return sorted(rows, key=lambda mark: (mark.student, mark.lab, _place(mark, labs)))


def as_csv(rows: Iterable[Mark]) -> str:
    """The rows as CSV; a cell that a spreadsheet would compute begins with an apostrophe."""
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(HEADER)
    table.writerows([_harmless(cell) for cell in mark[: len(HEADER)]] for mark in rows)
    return text.getvalue()


def _mark(student: str, lab: Lab, exercise: str, files: list[Submission], results: Results) -> Mark:
    of = lab.points(exercise)
    tried = [(file, _result(file, exercise, results)) for file in files]
    if not tried:
        return Mark(student, lab.name, exercise, 0, of, NOTHING)
    file, result = max(tried, key=lambda each: (each[1].is_right, not each[0].problem))
    several = f"{BEST_OF}{len(files)} files: {', '.join(clean(each.file) for each in files)}" if len(files) > 1 else ""
    reason = "; ".join(filter(None, (result.reason, result.note, several)))
    return Mark(student, lab.name, exercise, of if result.is_right else 0, of, reason, file.file, result)


def _result(file: Submission, exercise: str, results: Results) -> Result:
    return results[file][exercise] if file in results else Result(False, clean(f"{file.file} {file.problem}"))


def _place(mark: Mark, labs: Mapping[str, Lab]) -> int:
    return labs[mark.lab].exercises.index(mark.exercise) if mark.lab else -1


def _harmless(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    text = cell.replace("\r", "\n")
    return f"'{text}" if cell.startswith(FORMULA) else text
