import json

import nbformat
import pytest

from kvlib.grading.assemble import ANSWER, about, assemble

from .small_lab import RIGHT, lab_of


@pytest.fixture
def lab(tmp_path):
    return lab_of(tmp_path / "labs")


def assembled(lab, exercise, **given):
    return json.loads(assemble(lab, exercise, "mine = 1", 1_000_003, **given))["cells"]


def ids(cells):
    return [cell["id"] for cell in cells]


def test_only_what_comes_before_is_run_then_the_seed_the_hidden_cells_and_the_check(lab):
    total = ["setup", ANSWER, "seed", "hidden-total", "check-total"]
    assert ids(assembled(lab, "total")) == total
    mean = ["setup", "answer-total", "code-1", ANSWER, "seed", "hidden-mean", "check-mean"]
    assert ids(assembled(lab, "mean")) == mean


@pytest.mark.parametrize("role", ["hidden", "check"])
def test_the_cells_about_an_exercise_are_known_by_their_role(lab, role):
    [(name, source)] = about(lab, "mean", role).items()
    assert name == f"{role}-mean"
    assert "mean(" in source


def test_the_answer_is_the_students_and_earlier_ones_are_the_models(lab):
    sources = {cell["id"]: cell["source"] for cell in assembled(lab, "mean")}
    assert sources[ANSWER] == "mine = 1"
    assert sources["answer-total"] == lab.model("total")
    assert "SOLUTION" not in "".join(sources.values())
    assert sources["seed"] == "SEED = 1000003"


def test_earlier_answers_can_be_the_students_own(lab):
    sources = {cell["id"]: cell["source"] for cell in assembled(lab, "mean", own={"total": RIGHT["total"]})}
    assert sources["answer-total"] == RIGHT["total"]


def test_hidden_cells_are_compared_by_nbval_and_no_other(lab):
    cells = assembled(lab, "total", expected={"hidden-total": "a: 1\n"})
    compared = [cell for cell in cells if "nbval-check-output" in cell["metadata"].get("tags", [])]
    assert ids(compared) == ["hidden-total"]
    assert compared[0]["outputs"] == [{"name": "stdout", "output_type": "stream", "text": "a: 1\n"}]
    assert compared[0]["execution_count"] == 1
    assert all(cell["outputs"] == [] for cell in cells if cell not in compared)


def test_it_is_a_notebook(lab):
    nbformat.validate(json.loads(assemble(lab, "mean", "mine = 1", 5)))
