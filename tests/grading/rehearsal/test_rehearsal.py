"""Everything hostile, and a few honest learners, graded in one command: every mark is as known beforehand."""

from pathlib import Path

import pytest

from kvlib.cli import main
from kvlib.grading.sandbox import Sandbox

from ...labs.variants import Variant
from ..small_lab import NAME, lab_of
from .a_class import Listener, complaints, make
from .hostile import ALL, OUTSIDE

HONEST = 4  # right, right in other words, wrong, half done


def others(lab):
    return [
        Variant("total-other-1", "total", "def total(a, b):\n    return b + a", ""),
        Variant("total-wrong-1", "total", "def total(a, b):\n    return a", "lost"),
        Variant("mean-other-1", "mean", "def mean(a, b):\n    return a / 2 + b / 2", ""),
        Variant("mean-wrong-1", "mean", "def mean(a, b):\n    return b / 2", "between"),
    ]


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """What was due, where the marks are, and who came to the port; without a sandbox nobody is hostile."""
    folder = tmp_path_factory.mktemp("class")
    lab = lab_of(folder / "labs")
    listener, marker = Listener(), folder / "written-outside"
    dues = make(folder / "submissions", [lab], len(ALL) + HONEST, listener.port, marker, others)
    missing = Sandbox.find().missing
    if missing:
        for path in (folder / "submissions").iterdir():
            if path.name.partition("-")[2] in ALL:
                [notebook] = path.iterdir()
                notebook.unlink()
                path.rmdir()
        dues = {key: due for key, due in dues.items() if key[0].partition("-")[2] not in ALL}
    command = ["grade", str(folder / "submissions"), "--labs", str(folder / "labs"), "--out", str(folder / "marks.csv")]
    code = main([*command, "--cell-seconds", "10", *(["--without-sandbox"] if missing else [])])
    return dues, folder / "marks.csv", listener, marker, code


def test_every_mark_is_as_known_beforehand(graded):
    dues, marks, *_, code = graded
    assert complaints(marks, dues) == []
    assert code == 0


def test_nobody_reached_the_machine_or_wrote_outside(graded):
    *_, listener, marker, _ = graded
    assert listener.visits == 0
    assert [path for path in (marker, *map(Path, OUTSIDE)) if path.exists()] == []


def test_the_class_is_the_one_that_was_made(graded):
    dues, marks, *_ = graded
    students = {student for student, _ in dues}
    assert len(students) == (HONEST if Sandbox.find().missing else len(ALL) + HONEST)
    assert {row.split(",")[1] for row in marks.read_text(encoding="utf-8").splitlines()[1:]} == {NAME}


def test_a_mark_that_is_not_as_known_is_noticed(graded, tmp_path):
    dues, marks, *_ = graded
    changed = tmp_path / "marks.csv"
    changed.write_text(marks.read_text(encoding="utf-8").replace(",3,3,right", ",0,3,right", 1), encoding="utf-8")
    assert len(complaints(changed, dues)) == 1
    lines = marks.read_text(encoding="utf-8").splitlines(keepends=True)
    changed.write_text("".join(lines[:-1]), encoding="utf-8")
    assert complaints(changed, dues) == [f"{lines[-1].split(',')[0]}, {lines[-1].split(',')[2]}: no mark"]
