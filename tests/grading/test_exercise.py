"""What a probe sees becomes words for the learner, and lines for the grader that say nothing of right and wrong."""

import numpy
import pytest
import torch

from kvlib.chance import Chance
from kvlib.errors import BadInput
from kvlib.grading.exercise import A_FAULT, LONGEST, PUBLIC_SEEDS, Exercise, Exercises, Score, Seen, Wrong, plain


def probe(answer, chance):
    number = chance.below(10**9)
    found = answer(number)
    if found is None:
        raise Wrong("It returns nothing.")
    yield Seen("it doubles", found, "" if found == 2 * number else f"Of {number} it makes {found}.")
    yield Score("steps", getattr(answer, "steps", 2), 2)
    yield Seen("it doubles again", answer(number + 1))


EXERCISES = Exercises({"double": Exercise(probe, "Twice as much.")})


def double(number):
    print("thinking")
    return 2 * number


def test_a_right_answer_is_told_what_was_seen_and_its_score():
    verdict = EXERCISES.check("double", double)
    assert (verdict.is_right, str(verdict)) == (True, "double: right. Twice as much. 6 steps, as few as ours.")


@pytest.mark.parametrize(("steps", "words"), [(3, "9 steps; 6 would do."), (1, "3 steps, fewer than our 6.")])
def test_a_score_is_compared_with_ours(steps, words):
    def other(number):
        return number + number

    other.steps = steps
    assert str(EXERCISES.check("double", other)) == f"double: right. Twice as much. {words}"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda number: 0, "it makes 0."),
        (lambda number: None, "It returns nothing."),
        (lambda number: 1 / 0, "It raises ZeroDivisionError in line"),
    ],
)
def test_a_fault_is_said_in_words(answer, words):
    verdict = EXERCISES.check("double", answer)
    assert not verdict.is_right
    assert words in verdict.words


def test_what_is_not_written_yet_is_said_so():
    def unwritten(number):
        raise NotImplementedError("double: write your answer here")

    assert "Nothing is written yet" in str(EXERCISES.check("double", unwritten))


def test_a_wrong_verdict_is_wrapped():
    lines = str(EXERCISES.check("double", lambda number: "x " * 60)).splitlines()
    assert len(lines) > 1
    assert max(map(len, lines)) <= 72


def test_the_grader_gets_laws_and_values_and_no_score():
    lines = EXERCISES.observe("double", double, 1_000_003).splitlines()
    assert [line.partition(": ")[0] for line in lines] == ["it doubles", "it doubles again"] * (1 + len(PUBLIC_SEEDS))
    assert all(int(line.partition(": ")[2]) % 2 == 0 for line in lines)


def test_what_an_answer_prints_is_not_among_it(capsys):
    EXERCISES.observe("double", double, 1)
    assert "thinking" not in capsys.readouterr().out


def test_a_fault_does_not_stop_what_the_grader_sees():
    lines = EXERCISES.observe("double", lambda number: 0, 1).splitlines()
    assert len(lines) == 2 * (1 + len(PUBLIC_SEEDS))
    assert [line.endswith(A_FAULT) for line in lines] == [True, False] * (1 + len(PUBLIC_SEEDS))


def test_what_only_the_seeds_of_a_check_show_the_grader_sees_as_well():
    def probe(answer, chance):
        number = chance.below(10**6)
        yield Seen("it doubles", answer(number), "" if answer(number) == 2 * number else "It does not double.")

    shown = Chance(PUBLIC_SEEDS[-1]).below(10**6)
    exercises = Exercises({"double": Exercise(probe, "Doubled.")})
    wrong = lambda number: 2 * number + (number == shown)  # noqa: E731
    assert not exercises.check("double", wrong).is_right
    assert exercises.observe("double", wrong, 10**6) != exercises.observe("double", lambda number: 2 * number, 10**6)


def test_a_fault_too_small_for_the_value_is_seen():
    def probe(answer, chance):
        yield Seen("it halves", round(answer(1.0), 1), "" if answer(1.0) == 0.5 else "It does not halve.")

    exercises = Exercises({"half": Exercise(probe, "Halved.")})
    assert set(exercises.observe("half", lambda number: 0.501, 5).splitlines()) == {f"it halves: 0.5{A_FAULT}"}


def test_where_a_probe_cannot_go_on_the_last_line_says_why():
    assert EXERCISES.observe("double", lambda number: None, 1) == "stopped: It returns nothing."
    assert EXERCISES.observe("double", lambda number: 1 / 0, 1).startswith("stopped: It raises ZeroDivisionError")


def test_another_seed_shows_other_values():
    assert EXERCISES.observe("double", double, 1) != EXERCISES.observe("double", double, 2)


def test_the_seeds_of_a_check_are_its_own():
    seen = []
    once = Exercises({"one": Exercise(lambda answer, chance: seen.append(chance.bits()) or [], "Seen.", seeds=(5,))})
    assert once.check("one", None).is_right
    assert len(seen) == 1
    assert len(PUBLIC_SEEDS) > 1


def test_an_exercise_that_is_not_known_is_refused():
    for method in (EXERCISES.check, lambda name, answer: EXERCISES.observe(name, answer, 1)):
        with pytest.raises(BadInput, match="exercise is 'triple'; known are double"):
            method("triple", double)


@pytest.mark.parametrize("three", [3, numpy.int64(3), torch.tensor(3)])
def test_what_is_worth_the_same_is_written_the_same(three):
    assert plain([three, (1, 2)]) == "[3, [1, 2]]"


@pytest.mark.parametrize("half", [0.5, numpy.float32(0.5), torch.tensor(0.5)])
def test_fractions_are_rounded_to_six_digits(half):
    assert plain({"x": half}) == '{"x": 0.5}'
    assert plain(1 / 3) == "0.333333"


def test_what_is_no_number_is_named_by_its_type():
    assert plain(object()) == '"one object"'


def test_long_values_are_cut_and_still_told_apart():
    one, other = list(range(1000)), [*range(999), 0]
    assert len(plain(one)) < LONGEST + 100
    assert plain(one) != plain(other)
