"""The graders graded: right answers are right however written, each wrong one is told what is wrong with it."""

import functools
from collections import Counter

import pytest

from kvlib.grading.exercise import A_FAULT

from .variants import ANSWERS, variants
from .workbook import SOURCES, workbook

SEEDS = (1_000_003, 2_000_033)
LABS = [source.stem for source in SOURCES]
RIGHT = [(lab, variant) for lab in LABS for variant in variants(lab) if not variant.says]
WRONG = [(lab, variant) for lab in LABS for variant in variants(lab) if variant.says]


def named(cases):
    return [f"{lab[:2]}-{variant.name}" for lab, variant in cases]


@functools.cache
def expected(lab, exercise):
    """What the hidden cells print for the model answer."""
    return workbook(lab).printed(exercise, workbook(lab).model(exercise), SEEDS).hidden


each_lab = pytest.mark.parametrize("lab", LABS)


@each_lab
def test_a_lab_has_three_exercises_at_least(lab):
    assert len(workbook(lab).exercises) >= 3


@each_lab
def test_each_exercise_has_an_answer_written_differently_and_two_wrong_ones(lab):
    kinds = Counter((variant.exercise, bool(variant.says)) for variant in variants(lab))
    for exercise in workbook(lab).exercises:
        assert kinds[exercise, False] >= 1, f"{exercise} has no other right answer"
        assert kinds[exercise, True] >= 2, f"{exercise} has fewer than two wrong answers"


def test_each_file_of_answers_belongs_to_a_lab():
    assert {path.stem for path in ANSWERS.glob("*.md")} <= set(LABS)


@each_lab
def test_a_model_answer_prints_the_line_of_its_check(lab):
    book = workbook(lab)
    for exercise in book.exercises:
        assert book.printed(exercise, book.model(exercise), ()).check == book.right_line(exercise)


@each_lab
def test_what_is_printed_for_the_grader_follows_from_the_seed(lab):
    book = workbook(lab)
    for exercise in book.exercises:
        first, second, *again = book.printed(exercise, book.model(exercise), SEEDS * 2).hidden
        assert first.strip()
        assert first != second, f"{exercise}: an answer could print this without being right"
        assert again == [first, second]


@pytest.mark.parametrize(("lab", "variant"), RIGHT, ids=named(RIGHT))
def test_a_right_answer_written_differently_is_right(lab, variant):
    printed = workbook(lab).printed(variant.exercise, variant.source, SEEDS)
    assert printed.check.startswith(f"{variant.exercise}: right.")
    assert printed.hidden == expected(lab, variant.exercise)


@pytest.mark.parametrize(("lab", "variant"), WRONG, ids=named(WRONG))
def test_a_wrong_answer_is_told_what_is_wrong_and_gets_no_mark(lab, variant):
    printed = workbook(lab).printed(variant.exercise, variant.source, SEEDS)
    assert f"{variant.exercise}: wrong." in printed.check
    assert variant.says in " ".join(printed.check.split())
    for theirs, ours in zip(printed.hidden, expected(lab, variant.exercise)):
        assert theirs.replace(A_FAULT, "") != ours, "the check's word for it, and no value, shows that it is wrong"


@each_lab
def test_each_wrong_answer_has_a_message_of_its_own(lab):
    said = Counter((variant.exercise, variant.says) for variant in variants(lab) if variant.says)
    assert [which for which, times in said.items() if times > 1] == []
