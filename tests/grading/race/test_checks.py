"""The graders of *Race the kernel* graded: right answers of several builds pass, each wrong one has its own message."""

from decimal import Decimal
from fractions import Fraction
from math import ceil

import numpy
import pytest

from kvlib.errors import BadInput
from kvlib.grading.exercises.racing import EXERCISES, STEPS, check
from kvlib.grading.race.changes import BASE, CHANGES

from .answers import CELLS, NAMES, RIGHT, WRONG, answer, counted_up, most_at_work


@pytest.mark.parametrize("exercise", EXERCISES.names)
def test_the_model_answer_is_right_and_prints_the_line_of_the_lab(exercise):
    [line] = [cell.prints for cell in CELLS if cell.role == "check" and cell.exercise == exercise]
    assert str(check(exercise, answer(exercise))) == line
    assert check(exercise, answer(exercise)).is_right


@pytest.mark.parametrize(
    ("exercise", "other"),
    [
        ("floor", lambda n, c, h, d, b, g: 1e6 * (2 * n * c * h * d * b) / (g * 1e9)),
        ("floor", lambda num_seqs, *sizes: num_seqs * answer("floor")(1, *sizes)),
        ("floor", lambda *sizes: numpy.float32(answer("floor")(*sizes))),
        ("floor", lambda *sizes: Fraction(answer("floor")(*sizes))),
        ("floor", lambda *sizes: Decimal(answer("floor")(*sizes))),
        ("predict", {name: round(times, 2) for name, times in RIGHT.items()}),
        ("predict", {**RIGHT, "blocks of 64": 1.005, "something else": 3}),
        ("predict", {name: numpy.float32(times) for name, times in RIGHT.items()}),
        ("predict", {name: Fraction(times) for name, times in RIGHT.items()}),
        ("fill", lambda *step: numpy.int64(answer("fill")(*step))),
        ("launch", counted_up),
        ("launch", lambda *case: numpy.int64(counted_up(*case))),
        ("launch", lambda n, b, g, h: int(numpy.ceil(1000 * g * h / (n * b)))),
        ("launch", lambda n, b, g, h: ceil(h * 1e-6 * (g * 1e9) / (n * b))),
        ("launch", lambda n, b, g, h: ceil(h / (n * b / (1000 * g)))),
        ("launch", lambda n, b, g, h: ceil((h / 1e6) / (n * b / (g * 1e9)))),
    ],
)
def test_a_right_answer_of_another_build_is_right(exercise, other):
    assert str(check(exercise, other)) == str(check(exercise, answer(exercise)))


def test_a_right_answer_with_more_splits_is_right_and_told_how_many_would_do():
    fewest = sum(answer("fill")(*step) for step in STEPS)
    used = sum(most_at_work(*step) for step in STEPS)
    verdict = check("fill", most_at_work)
    assert used > fewest
    assert (verdict.is_right, verdict.words) == (
        True, f"12 steps, nine tenths of the best share in each. {used} splits in all; {fewest} would do."
    )  # fmt: skip


@pytest.mark.parametrize(("exercise", "fault"), [(exercise, fault) for exercise in WRONG for fault in WRONG[exercise]])
def test_a_wrong_answer_is_caught_with_its_own_message(exercise, fault):
    wrong, words = WRONG[exercise][fault]
    verdict = check(exercise, wrong)
    assert not verdict.is_right
    assert words in verdict.words
    assert "\n" not in verdict.words


def test_every_exercise_has_wrong_answers_with_messages_of_their_own():
    assert set(WRONG) == set(EXERCISES.names) == set(NAMES)
    for faults in WRONG.values():
        assert len({words for _, words in faults.values()}) >= 2


@pytest.mark.parametrize("exercise", EXERCISES.names)
def test_a_cell_without_its_solution_fails(exercise):
    assert not check(exercise, answer(exercise, solved=False)).is_right


def test_an_exercise_that_is_not_known_is_refused():
    with pytest.raises(BadInput, match="exercise is 'race'; known are floor, predict, fill, launch"):
        check("race", None)


def test_each_change_changes_one_thing():
    for name, change in CHANGES.items():
        fields = [field for field in BASE.fields if change.load.fields[field] != BASE.fields[field]]
        assert set(fields) - {"kv_bytes", "ctx_sum"} in (
            {"batch"},
            {"ctx_max"},
            {"page"},
            {"kv_dtype"},
            {"nq"},
            {"nkv"},
        ), name


def test_changes_have_rows_of_their_own():
    assert len({(change.load.name, change.load.dtype, change.load.block_size) for change in CHANGES.values()}) == 6
