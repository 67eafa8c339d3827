"""A class that hands in: right, differently right, wrong, half done and hostile notebooks, and the marks they must get.

    python -m tests.grading.rehearsal.a_class FOLDER [--students 100] [--labs 03-your-own-allocator ...]

makes FOLDER/submissions, grades it in one command into FOLDER/marks.csv, and says every mark that is not as known
beforehand. It needs a sandbox: without one nothing hostile is made.
"""

import argparse
import copy
import csv
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from itertools import chain, cycle
from pathlib import Path
from typing import NamedTuple

from kvlib.grading.labs import Lab, read_labs
from kvlib.grading.notebooks import as_notebook
from kvlib.grading.released import released
from kvlib.grading.sandbox import Sandbox

from ...labs.variants import Variant, variants
from .hostile import ALL, NOTHING, OUTSIDE, SPOILED, UNHARMED, answered

ROOT = Path(__file__).parents[3]


Variants = Callable[[str], list[Variant]]
"""Other answers to the lab of a name."""


class Due(NamedTuple):
    """What a student must get for an exercise: points, and a part of the reason ("" where any will do)."""

    points: int
    says: str


class Listener:
    """A port of this machine, and how often somebody has come to it."""

    def __init__(self) -> None:
        self.visits = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            self._socket.accept()
            self.visits += 1


def make(
    folder: Path, labs: Sequence[Lab], num_students: int, port: int, marker: Path, others: Variants = variants
) -> dict[tuple[str, str], Due]:
    """Write what `num_students` hand in into `folder`, one lab each in turn; returns (student, exercise) -> Due.

    Everything hostile comes once; the others are right, right in other words, wrong in one exercise, and half done.
    """
    dues: dict[tuple[str, str], Due] = {}
    turns = {lab.name: 0 for lab in labs}
    kinds = chain(ALL, cycle(("right", "other", "wrong", "half")))
    for number, kind, lab in zip(range(num_students), kinds, cycle(labs)):
        student = f"{number:03d}-{kind}"
        content, due = _handed_in(kind, lab, others(lab.name), turns[lab.name], port, marker)
        turns[lab.name] += 1
        path = folder / student / f"{lab.name}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        dues |= {(student, exercise): each for exercise, each in due.items()}
    return dues


def _handed_in(
    kind: str, lab: Lab, others: Sequence[Variant], turn: int, port: int, marker: Path
) -> tuple[dict | bytes, dict[str, Due]]:
    exercises = lab.exercises
    full = {exercise: Due(lab.points(exercise), "right") for exercise in exercises}
    right, wrong = (
        {name: [each for each in others if each.exercise == name and bool(each.says) == says] for name in exercises}
        for says in (False, True)
    )
    notebook = json.loads(as_notebook(released(lab.cells), lab.name))
    for exercise in exercises:
        answered(notebook, exercise, lab.model(exercise))
    target = exercises[turn % len(exercises)]
    spoiled = wrong[target][turn % len(wrong[target])].source
    if kind == "right":
        return notebook, full
    if kind == "other":
        for exercise in exercises:
            answered(notebook, exercise, right[exercise][turn % len(right[exercise])].source)
        return notebook, full
    if kind == "wrong":
        return answered(notebook, target, spoiled), {**full, target: Due(0, "")}
    if kind == "half":
        left = exercises[len(exercises) // 2 :]
        for exercise in left:
            answered(notebook, exercise, lab.stub(exercise))
        return notebook, {**full, **{exercise: Due(0, "not answered") for exercise in left}}
    hostile = ALL[kind]
    content = hostile.spoil(notebook=copy.deepcopy(notebook), target=target, wrong=spoiled, port=port, marker=marker)
    if hostile.gets == NOTHING:
        return content, {exercise: Due(0, hostile.says) for exercise in exercises}
    assert hostile.gets in (SPOILED, UNHARMED)
    return content, {**full, target: Due(0 if hostile.gets == SPOILED else lab.points(target), hostile.says)}


def complaints(csv_file: Path, dues: dict[tuple[str, str], Due]) -> list[str]:
    """A line for each mark that is not as it must be, and for each that is missing."""
    with csv_file.open(encoding="utf-8", newline="") as file:
        rows = {(row["student"], row["exercise"]): row for row in csv.DictReader(file)}
    lines = [f"{student}, {exercise}: no mark" for student, exercise in dues if (student, exercise) not in rows]
    for key, due in dues.items():
        row = rows.get(key)
        if row and (int(row["points"]) != due.points or due.says not in row["reason"]):
            lines.append(f"{key[0]}, {key[1]}: {row['points']} points, {row['reason']!r}; due are {due}")
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--students", type=int, default=100)
    parser.add_argument("--labs", nargs="+", default=["03-your-own-allocator"])
    options = parser.parse_args(arguments)
    missing = Sandbox.find().missing
    if missing:
        sys.exit(f"no sandbox, so nothing hostile is made: {missing}")
    known, listener, marker = read_labs(ROOT / "labs"), Listener(), options.folder / "written-outside"
    submissions, marks = options.folder / "submissions", options.folder / "marks.csv"
    dues = make(submissions, [known[name] for name in options.labs], options.students, listener.port, marker)
    start = time.monotonic()
    grade = ["grade", str(submissions), "--labs", str(ROOT / "labs"), "--out", str(marks)]
    code = subprocess.run([sys.executable, "-m", "kvlib", *grade]).returncode
    print(f"{time.monotonic() - start:.0f} s for {options.students} students, {len(dues)} exercises; exit code {code}")
    wrong = complaints(marks, dues) if marks.exists() else ["no marks were written"]
    print("\n".join(wrong) or f"all {len(dues)} marks are as known beforehand")
    written = [path for path in (marker, *map(Path, OUTSIDE)) if path.exists()]
    print(f"visits to the port of this machine: {listener.visits}; written outside: {written}")
    return 1 if code or wrong or listener.visits or written else 0


if __name__ == "__main__":
    sys.exit(main())
