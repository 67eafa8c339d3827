"""Whatever an answer is, the checks of labs 0 and 2 have words for it; and what is worth the same is the same."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from kvlib.chance import Chance
from kvlib.grading.exercise import Exercise, Exercises, Wrong
from kvlib.grading.exercises.measuring import checks as measuring
from kvlib.grading.exercises.sizing import checks as sizing
from kvlib.grading.exercises.sums import NUM_CASES, Case, asked, sums

EXERCISES = [(module, name) for module in (measuring, sizing) for name in module.EXERCISES.names]
each_exercise = pytest.mark.parametrize(("module", "name"), EXERCISES, ids=[name for _, name in EXERCISES])


def raising(**_):
    raise RuntimeError("no")


NONSENSE = {
    "no function": 3,
    "other arguments": lambda wrong: 1,
    "nothing": lambda **_: None,
    "text": lambda **_: "12",
    "a yes": lambda **_: True,
    "no number": lambda **_: float("nan"),
    "without end": lambda **_: float("inf"),
    "too large for a float": lambda **_: 10**400,
    "a list": lambda **_: [1, 2],
    "many numbers": lambda **_: np.ones(3),
    "an error": raising,
}


@each_exercise
@pytest.mark.parametrize("kind", NONSENSE)
def test_nonsense_is_wrong_in_words(module, name, kind):
    verdict = module.check(name, NONSENSE[kind])
    assert not verdict.is_right
    assert "Traceback" not in verdict.words
    assert verdict.words.rstrip().endswith(".")


@each_exercise
@pytest.mark.parametrize("kind", NONSENSE)
def test_nonsense_is_seen_without_an_error(module, name, kind):
    assert module.observe(name, NONSENSE[kind], 1_000_003)


@pytest.mark.parametrize(
    "seven", [7, 7.0, np.int64(7), np.float32(7), torch.tensor(7), torch.tensor([7.0]), Fraction(7)]
)
def test_a_seven_is_a_seven(seven):
    assert asked(lambda: seven, {}, int) == 7
    assert isinstance(asked(lambda: seven, {}, int), int)


def test_a_fraction_is_no_whole_number():
    with pytest.raises(Wrong, match=r"is 7\.5; give a whole number"):
        asked(lambda: 7.5, {}, int)


def doubled(chance, number):
    given = 10 + chance.below(90)
    return Case({"given": given}, 2 * given, {"Forgotten: to double.": given, "It is too large.": 4 * given})


DOUBLED = Exercises({"double": Exercise(sums("it is doubled", doubled), "Doubled.")})


def test_the_mistake_that_explains_all_that_is_wrong_is_named():
    assert "Forgotten: to double." in DOUBLED.check("double", lambda given: given).words
    assert "It is too large." in DOUBLED.check("double", lambda given: 4 * given).words


def test_a_mistake_that_explains_only_some_is_not_named():
    words = DOUBLED.check("double", lambda given: given if given % 2 else 4 * given).words
    assert "should be" in words
    assert "Forgotten" not in words
    assert "too large" not in words


def test_an_answer_cannot_change_what_the_check_has():
    def spoil(context_lens, **_):
        context_lens.clear()
        return 0

    assert "context_lens=[]" not in measuring.check("step", spoil).words


def test_the_same_cases_are_drawn_again():
    probe = sums("it is doubled", doubled)
    [first], [again] = (list(probe(lambda given: given, Chance(5))) for _ in range(2))
    assert first == again
    assert len(first.value) == NUM_CASES
