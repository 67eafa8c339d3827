import pytest

from kvlib.grading.answers import find, is_unwritten
from kvlib.grading.submitted import Notebook, SubmittedCell

from .small_lab import RIGHT, TEXT, lab_of

TAGS = ("answer", "ex:total", "points:3")


@pytest.fixture
def lab(tmp_path):
    return lab_of(tmp_path / "labs")


def cells(*given):
    return Notebook([SubmittedCell(number, *cell) for number, cell in enumerate(given, 1)], "")


def found(lab, *given):
    answer = find(cells(*given), lab)["total"]
    return answer.cell.number, answer.found, answer.others


def plus(comment):
    return f"def total(a, b):\n    # {comment}\n    return {comment!r} and a + b"


def test_the_id_counts_before_tags_and_tags_before_names(lab):
    by_name, by_tags, by_id = (plus("name"), "", ()), (plus("tags"), "", TAGS), (plus("id"), "answer-total", ())
    assert found(lab, by_name) == (1, "by the names that it defines", ())
    assert found(lab, by_name, by_tags) == (2, "by its tags", (1,))
    assert found(lab, by_name, by_tags, by_id) == (3, "by its id", (1, 2))


@pytest.mark.parametrize("source", ["import math", "def helper(a): ...", "def total(a, b)\n    return a"])
@pytest.mark.parametrize("tags", [(), TAGS])
def test_a_cell_that_defines_the_names_counts_before_one_that_does_not(lab, source, tags):
    marked, other = (source, "answer-total", TAGS), (plus("mine"), "", tags)
    assert found(lab, marked, other)[::2] == (2, (1,))
    assert found(lab, other, marked)[::2] == (1, (2,))


def test_where_none_defines_the_names_the_id_counts(lab):
    assert found(lab, ("x = 1", "answer-total", ()), ("x = 2", "", TAGS))[0] == 1


def test_of_two_found_alike_the_last_counts(lab):
    assert found(lab, (plus("a"), "", ()), (plus("b"), "", ())) == (2, "by the names that it defines", (1,))
    assert found(lab, (plus("a"), "", TAGS), (plus("b"), "", TAGS))[0] == 2


def test_two_that_say_the_same_are_no_question(lab):
    answer = find(cells((RIGHT["total"], "", TAGS), (RIGHT["total"] + "  # done", "", TAGS)), lab)["total"]
    assert answer.note == ""


def test_a_stub_does_not_count_where_something_is_written(lab):
    stub = lab.stub("total")
    assert found(lab, (stub, "answer-total", TAGS), (plus("mine"), "", ())) == (2, "by the names that it defines", ())
    assert found(lab, (stub, "answer-total", TAGS))[0] == 1


def test_the_note_says_which_cell_counted(lab):
    answer = find(cells((plus("a"), "answer-total", TAGS), (plus("b"), "", ())), lab)["total"]
    assert answer.note == "cell 1 counted, found by its id; cell 2 might be meant as well"


def test_a_given_cell_and_another_exercises_answer_are_no_answer(tmp_path):
    lab = lab_of(tmp_path / "labs", TEXT.replace("print(total(3, 3))", "def total(a, b): ..."))
    given = ("def total(a, b): ...", "code-1", ())
    assert "total" not in find(cells(given, ("total = mean = 1", "answer-mean", ())), lab)


@pytest.mark.parametrize(
    "source",
    [
        "total = lambda a, b: a + b",
        "total: object = max",
        "(total, other) = max, min",
        "class total: ...",
        "async def total(): ...",
        "%%time\ndef total(a, b): ...",
        "if True:\n    def total(a, b): ...",
        "try:\n    with x:\n        class total: ...\nfinally:\n    pass",
    ],
)
def test_a_name_can_be_defined_in_many_ways(lab, source):
    assert find(cells((source, "", ())), lab)["total"].cell.source == source


@pytest.mark.parametrize("source", ["print(total)", "total(1, 2)", "if x:\n    total = 1", "def total(", "x.total = 1"])
def test_a_cell_that_defines_no_such_name_is_no_answer(lab, source):
    assert find(cells((source, "", ())), lab) == {}


def test_only_names_that_the_cells_about_an_exercise_use_are_asked_for(tmp_path):
    text = TEXT.replace(
        "    both = a + b\n    return both", "    return helper(a, b)\ndef helper(a, b):\n    return a + b"
    )
    assert lab_of(tmp_path / "labs", text).names("total") == {"total"}


@pytest.mark.parametrize(
    ("source", "unwritten"),
    [
        ("", True),
        ("# to do", True),
        ("def total(a: int, b: int) -> int:\n    # how?\n    raise NotImplementedError('x')", False),
        ("def total(a, b): return 1", False),
        ("def total(", False),
    ],
)
def test_an_answer_without_code_of_its_own_is_unwritten(lab, source, unwritten):
    assert is_unwritten(source, lab.stub("total")) == unwritten


def test_a_stub_with_comments_is_unwritten(lab):
    assert is_unwritten(
        "# mine\n" + lab.stub("total").replace("    raise", "\n    # how?\n    raise"), lab.stub("total")
    )
