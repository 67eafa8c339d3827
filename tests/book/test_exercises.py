"""The exercises of the chapters: one each, the grader graded as those of the labs are, and little enough to print."""

import functools
import subprocess
import sys
from collections import Counter
from pathlib import Path

import jupytext
import pytest

from kvlib.grading.exercises.chapters import EXERCISES
from kvlib.grading.lab import BEGIN, END, Cell

from ..labs.variants import variants
from ..labs.workbook import Workbook

ROOT = Path(__file__).parents[2]
ANSWERS = Path(__file__).parent / "answers"
KERNELS = {"12-the-kernel", "12-testing-the-kernel"}  # labs 8 and 9 are their exercises
CHAPTERS = [path.stem for path in sorted((ROOT / "book").glob("[0-9][0-9]-*.md")) if path.stem not in KERNELS]
VARIANTS = [(chapter, variant) for chapter in CHAPTERS for variant in variants(chapter, ANSWERS)]
RIGHT = [(chapter, variant) for chapter, variant in VARIANTS if not variant.says]
WRONG = [(chapter, variant) for chapter, variant in VARIANTS if variant.says]
SEEDS = (1_000_003, 2_000_033, 3_000_073)
PAGE_COLUMNS = 43  # on a phone

each_chapter = pytest.mark.parametrize("chapter", CHAPTERS)


def named(cases):
    return [f"{chapter[:2]}-{variant.name}" for chapter, variant in cases]


def text_of(chapter):
    return (ROOT / "book" / f"{chapter}.md").read_text(encoding="utf-8")


def exercise_cells(chapter):
    """The cells of a chapter that have a tag ex:NAME."""
    cells = jupytext.reads(text_of(chapter), fmt="md:myst").cells
    tagged = [Cell(cell.cell_type, cell.source, tuple(cell.metadata.get("tags", ()))) for cell in cells]
    return [cell for cell in tagged if cell.exercise]


@functools.cache
def workbook(chapter):
    """The exercise alone: it needs nothing of its chapter. The grader's cell is as the check's."""
    answer, check = exercise_cells(chapter)
    hidden = Cell("code", check.source.replace("check", "observe").replace("))", ", SEED))"), ("hidden", check.tags[1]))
    return Workbook(chapter, [answer, check, hidden])


@each_chapter
def test_a_chapter_has_an_answer_and_a_check_of_one_exercise(chapter):
    answer, check = exercise_cells(chapter)
    assert (answer.role, check.role) == ("answer", "check")
    assert answer.exercise == check.exercise


@each_chapter
def test_it_is_the_first_of_the_chapters_exercises_and_has_a_hint(chapter):
    _, exercises = text_of(chapter).split("\n## Exercises\n")
    first, hint, _ = exercises.partition(":::{dropdown} Hint\n")
    assert hint
    assert first.count("```{code-cell}") == 2
    assert "$$" in first


def test_each_exercise_stands_in_one_chapter():
    assert [answer.exercise for answer, _ in map(exercise_cells, CHAPTERS)] == EXERCISES.names


@each_chapter
def test_a_model_answer_keeps_to_the_budget_that_its_text_states(chapter):
    answer, _ = exercise_cells(chapter)
    solution = answer.source.partition(BEGIN)[2].partition(END)[0]
    num_lines = sum(bool(line.strip()) for line in solution.splitlines())
    assert f"**Budget: {num_lines} lines.**" in text_of(chapter)


@each_chapter
def test_a_model_answer_is_right_in_one_line_that_fits_the_page(chapter):
    book = workbook(chapter)
    [name] = book.exercises
    printed = book.printed(name, book.model(name), ()).check
    assert printed.startswith(f"{name}: right. ")
    assert len(printed) <= PAGE_COLUMNS
    assert "\n" not in printed


@each_chapter
def test_what_is_printed_for_the_grader_follows_from_the_seed(chapter):
    book = workbook(chapter)
    [name] = book.exercises
    first, second, *again = book.printed(name, book.model(name), SEEDS[:2] * 2).hidden
    assert first.strip()
    assert first != second, f"{name}: an answer could print this without being right"
    assert again == [first, second]


@each_chapter
def test_an_exercise_has_an_answer_written_differently_and_two_wrong_ones(chapter):
    [name] = workbook(chapter).exercises
    found = variants(chapter, ANSWERS)
    assert {variant.exercise for variant in found} == {name}
    kinds = Counter(bool(variant.says) for variant in found)
    assert kinds[False] >= 1
    assert kinds[True] >= 2


def test_each_file_of_answers_belongs_to_a_chapter():
    assert {path.stem for path in ANSWERS.glob("*.md")} == set(CHAPTERS)


@pytest.mark.parametrize(("chapter", "variant"), RIGHT, ids=named(RIGHT))
def test_a_right_answer_written_differently_is_right(chapter, variant):
    book = workbook(chapter)
    printed = book.printed(variant.exercise, variant.source, SEEDS)
    assert printed.check.startswith(f"{variant.exercise}: right.")
    assert printed.hidden == book.printed(variant.exercise, book.model(variant.exercise), SEEDS).hidden


@pytest.mark.parametrize(("chapter", "variant"), WRONG, ids=named(WRONG))
def test_a_wrong_answer_is_told_what_is_wrong_and_gets_no_mark(chapter, variant):
    book = workbook(chapter)
    printed = book.printed(variant.exercise, variant.source, SEEDS)
    assert f"{variant.exercise}: wrong." in printed.check
    assert variant.says in " ".join(printed.check.split())
    model = book.printed(variant.exercise, book.model(variant.exercise), SEEDS).hidden
    assert all(theirs != ours for theirs, ours in zip(printed.hidden, model))


@each_chapter
def test_each_wrong_answer_has_a_message_of_its_own(chapter):
    said = Counter(variant.says for variant in variants(chapter, ANSWERS) if variant.says)
    assert [words for words, times in said.items() if times > 1] == []


@pytest.mark.parametrize(
    "answer",
    [None, 3, lambda **_: None, lambda **_: "A", lambda **_: [1.5, None]],
    ids=["None", "3", "nothing", "text", "list"],
)
@pytest.mark.parametrize("name", EXERCISES.names)
def test_an_answer_that_makes_no_sense_is_told_so_in_words(name, answer):
    verdict = EXERCISES.check(name, answer)
    assert not verdict.is_right
    assert "raises" not in verdict.words
    assert verdict.words.endswith(".")


def test_a_check_needs_nothing_but_kvlib():
    heavy = ["torch", "numpy", "matplotlib", "IPython", "jupytext", "nbformat"]
    code = f"import sys; import kvlib.grading.exercises.chapters; print([n for n in {heavy} if n in sys.modules])"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert finished.stdout.strip() == "[]"
