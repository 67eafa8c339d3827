"""One file, its runs without kernels: what is refused before a run, and with what an answer is run again."""

import pytest

from kvlib.grading import one_file
from kvlib.grading.answers import find
from kvlib.grading.one_file import grade_file
from kvlib.grading.reference import reference
from kvlib.grading.submitted import Notebook, SubmittedCell

from .small_lab import RIGHT, TEXT, lab_of
from .stand_in import StandIn

SEED = 1_000_003
GIVEN = "from kvlib.errors import BadConfig, OutOfBlocks"


@pytest.fixture
def lab(tmp_path):
    return lab_of(
        tmp_path / "labs", TEXT.replace("import math", GIVEN).replace("print(total(3, 3))", "import kvlib.events")
    )


def graded(lab, answers, run=None):
    expected = {exercise: reference(lab, exercise, SEED, StandIn()) for exercise in lab.exercises}
    cells = [
        SubmittedCell(number, source, f"answer-{name}", ()) for number, (name, source) in enumerate(answers.items())
    ]
    return grade_file(Notebook(cells, lab.name), lab, SEED, expected, run or StandIn(), lambda: None)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("def total(a, b, times=1): return times * (a + b)", "def mean(a, b): return total(a, b, times=1) / 2"),
        ("def total(*numbers): return sum(numbers)", "def mean(a, b): return total(a) / 2 + total(b) / 2"),
        ("total = lambda a, b: [a + b, a - b]", "def mean(a, b): return total(a, b)[0] / 2"),
        ("def total(a, b): return (a + b) / 2", "def mean(a, b): return total(a, b)"),
    ],
    ids=["TypeError", "fewer arguments", "not subscriptable", "another value"],
)
def test_whatever_is_not_right_with_the_models_earlier_answers_is_tried_with_ones_own(lab, earlier, later):
    result = graded(lab, {"total": earlier, "mean": later})["mean"]
    assert (result.is_right, result.note) == (True, "run with the earlier answers beside it")


def test_a_right_answer_and_one_without_earlier_ones_are_run_once(lab):
    for answers, runs in ((RIGHT, 2), ({"mean": "def mean(a, b): return a"}, 1), ({**RIGHT, "mean": "mean = 1"}, 3)):
        graded(lab, answers, run := StandIn())
        assert len(run.notebooks) == runs


def test_an_answer_may_import_what_the_cells_above_it_import_and_nothing_else_of_kvlib(lab):
    answers = {
        "total": f"from kvlib.errors import OutOfBlocks\n{RIGHT['total']}",
        "mean": f"import kvlib.events\n{RIGHT['mean']}",
    }
    assert [result.is_right for result in graded(lab, answers).values()] == [True, True]
    answers = {name: source.replace("OutOfBlocks", "DoubleFree") for name, source in answers.items()}
    assert graded(lab, answers)["total"].reason.startswith("imports kvlib.errors.DoubleFree; everything")
    answers["total"] = f"import kvlib.events\n{RIGHT['total']}"
    assert graded(lab, answers)["total"].reason.startswith("imports kvlib.events; everything")


def test_where_the_answers_are_is_looked_for_once_in_a_file(lab, monkeypatch):
    looked = []
    monkeypatch.setattr(one_file, "find", lambda *given: looked.append(given) or find(*given))
    assert graded(lab, RIGHT)["mean"].is_right
    assert len(looked) == 1


def test_a_fault_of_the_search_is_told_as_one(lab, monkeypatch):
    def failing(*given):
        raise RecursionError("too deep")

    monkeypatch.setattr(one_file, "find", failing)
    reasons = {result.reason for result in graded(lab, RIGHT).values()}
    assert reasons == {"the grader itself failed: RecursionError: too deep"}
