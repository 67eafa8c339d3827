import csv
from io import StringIO
from xml.etree import ElementTree as xml

import pytest

from kvlib.grading.judge import Result
from kvlib.grading.junit import as_junit
from kvlib.grading.marks import HEADER, Mark, as_csv, marks
from kvlib.grading.submissions import Collected, Submission
from kvlib.grading.submitted import Notebook

from .small_lab import NAME, lab_of

RIGHT, WRONG = Result(True, "right"), Result(False, "wrong: broke 'x'", note="cell 3 counted")


@pytest.fixture
def labs(tmp_path):
    return {NAME: lab_of(tmp_path / "labs")}


def file(student, name="a.ipynb", lab=NAME, problem=""):
    return Submission(student, name, lab, "", Notebook([], ""), problem)


def given(labs, results, students=("ada",)):
    collected = Collected(list(results), sorted(students))
    graded = {each: dict(zip(("total", "mean"), pair)) for each, pair in results.items() if pair}
    return [mark[:6] for mark in marks(collected, labs, graded)]


def test_a_right_answer_gets_all_points_and_another_none(labs):
    assert given(labs, {file("ada"): (RIGHT, WRONG)}) == [
        ("ada", NAME, "total", 3, 3, "right"),
        ("ada", NAME, "mean", 0, 2, "wrong: broke 'x'; cell 3 counted"),
    ]


def test_of_two_files_the_better_answer_counts_for_each_exercise(labs):
    rows = given(labs, {file("ada", "a"): (RIGHT, WRONG), file("ada", "b"): (WRONG, RIGHT)})
    assert [(points, reason) for *_, points, _, reason in rows] == [
        (3, "right; the best of 2 files: a, b"),
        (2, "right; the best of 2 files: a, b"),
    ]


def test_a_graded_file_counts_before_an_unreadable_one(labs):
    rows = given(labs, {file("ada", "a", problem="is empty"): (), file("ada", "b"): (RIGHT, WRONG)})
    assert [reason.partition(";")[0] for *_, reason in rows] == ["right", "wrong: broke 'x'"]


def test_nobody_is_lost(labs):
    rows = given(
        labs, {file("bob", problem="is empty"): (), file("cy", "x.ipynb", "", "is of no lab"): ()}, ("ada", "bob", "cy")
    )
    assert rows == [
        ("ada", NAME, "total", 0, 3, "nothing was handed in"),
        ("ada", NAME, "mean", 0, 2, "nothing was handed in"),
        ("bob", NAME, "total", 0, 3, "a.ipynb is empty"),
        ("bob", NAME, "mean", 0, 2, "a.ipynb is empty"),
        ("cy", "", "", 0, 0, "x.ipynb is of no lab"),
        ("cy", NAME, "total", 0, 3, "nothing was handed in"),
        ("cy", NAME, "mean", 0, 2, "nothing was handed in"),
    ]
    assert given({}, {}, ("ada",)) == [("ada", "", "", 0, 0, "nothing was handed in")]


ODD = ["a b", "李四", 'O\'Neil "x"', "a,b;c", "two\nlines", "<b>&amp;"]


@pytest.mark.parametrize("student", ODD)
def test_odd_names_survive_the_csv_and_junit(student):
    rows = [Mark(student, NAME, "total", 0, 3, "wrong")]
    header, row = csv.reader(StringIO(as_csv(rows)))
    assert tuple(header) == HEADER
    assert row == [student, NAME, "total", "0", "3", "wrong"]
    assert xml.fromstring(as_junit(rows))[0].get("name") == student


@pytest.mark.parametrize("student", ["=1+1", "+1", "-1", "@x", "\tx", "\r=1"])
def test_no_cell_is_a_formula(student):
    row = list(csv.reader(StringIO(as_csv([Mark(student, NAME, "total", 0, 3, student)]))))[1]
    assert (row[0], row[5]) == (f"'{student}".replace("\r", "\n"),) * 2


def test_junit_has_a_suite_a_student_and_a_case_an_exercise():
    rows = [
        Mark("ada", NAME, "total", 3, 3, "right"),
        Mark("ada", NAME, "mean", 0, 2, "wrong: <x> \x00"),
        Mark("bob", "", "", 0, 0, "x.ipynb is of no lab", "x.ipynb"),
    ]
    ada, bob = xml.fromstring(as_junit(rows))
    assert ada.attrib == {"name": "ada", "tests": "2", "failures": "1", "errors": "0"}
    assert [(case.get("classname"), case.get("name"), len(case)) for case in ada] == [
        (NAME, "total", 0),
        (NAME, "mean", 1),
    ]
    assert ada[1][0].get("message") == "wrong: <x> \ufffd"
    assert (bob[0].get("name"), len(bob[0])) == ("x.ipynb", 1)
