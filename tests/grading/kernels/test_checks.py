"""The graders graded: right answers of several builds pass, and each known wrong one fails with its own message."""

import pytest
import torch

from kvlib.attention.triton import naive, paged_decode
from kvlib.errors import BadInput
from kvlib.grading.exercises.kernels import EXERCISES, check, work
from kvlib.grading.kernels.watched import Watch

from .answers import LINES, edited, module, sources, without_solution
from .other_kernels import one_after_another, token_by_token
from .wrong_answers import WRONG


@pytest.mark.parametrize("exercise", EXERCISES.names)
def test_the_model_answer_is_right(exercise, tmp_path):
    verdict = check(exercise, getattr(module(tmp_path), exercise))
    assert (str(verdict), verdict.is_right) == (LINES[exercise], True)


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        ("first", naive),
        ("first", token_by_token),
        ("online", naive),
        ("online", token_by_token),
        ("tiled", lambda **inputs: paged_decode(**inputs, max_context_len=int(inputs["context_lens"].max()))),
        (
            "grouped",
            lambda **inputs: paged_decode(**inputs, max_context_len=int(inputs["context_lens"].max()), num_splits=1),
        ),
        ("combine", one_after_another),
        ("split", paged_decode),
    ],
)
def test_a_right_answer_of_another_build_is_right(exercise, answer):
    assert str(check(exercise, answer)) == LINES[exercise]


@pytest.mark.parametrize(
    ("exercise", "fault"), [(exercise, fault) for exercise, faults in WRONG.items() for fault in faults]
)
def test_a_wrong_answer_is_caught_with_its_own_message(exercise, fault, tmp_path):
    edits, words = WRONG[exercise][fault]
    answers = module(tmp_path, **{exercise: edited(exercise, *edits)})
    verdict = check(exercise, getattr(answers, exercise))
    assert not verdict.is_right
    assert words in verdict.words
    assert max(map(len, str(verdict).splitlines())) <= 72


def test_every_exercise_has_wrong_answers_with_messages_of_their_own():
    assert set(WRONG) == set(EXERCISES.names)
    for faults in WRONG.values():
        assert len({words for _, words in faults.values()}) >= 2


@pytest.mark.parametrize("exercise", EXERCISES.names)
def test_a_cell_without_its_solution_fails(exercise, tmp_path):
    answers = module(tmp_path, **{exercise: without_solution(exercise)})
    assert not check(exercise, getattr(answers, exercise)).is_right


@pytest.mark.parametrize("exercise", EXERCISES.names)
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda **_: None, "No kernel was launched"),
        (lambda **inputs: inputs["output"].zero_(), "No kernel was launched"),
        (lambda: None, "all by name, and of yours Python says: got an unexpected keyword argument"),
        (None, "It is NoneType and cannot be called; the check calls answer("),
    ],
)
def test_what_launches_no_kernel_is_wrong(exercise, answer, words):
    verdict = check(exercise, answer)
    assert (verdict.is_right, words in verdict.words) == (False, True)


def test_a_verdict_does_not_depend_on_answers_before_it(tmp_path):
    right = module(tmp_path).first

    def spoils(**inputs):
        for tensor in inputs.values():
            if isinstance(tensor, torch.Tensor):
                tensor.zero_()

    assert not check("first", spoils).is_right
    assert check("first", right).is_right


def test_an_exercise_that_is_not_known_is_refused():
    with pytest.raises(BadInput, match="exercise is 'second'; known are first, online"):
        check("second", print)


def test_work_counts_programs_turns_and_reads(tmp_path):
    answers = module(tmp_path)
    assert work(answers.first) == work(answers.online) == (16, 12, 4.0)
    assert work(answers.tiled) == (16, 6, 4.0)
    assert work(answers.grouped) == (4, 6, 1.0)
    assert work(answers.split, num_splits=4, max_context_len=96) == (4 * 4 + 16, 2, 1.0)


def test_work_of_a_wrong_answer_is_not_counted(tmp_path):
    wrong = module(tmp_path, first=edited("first", (", 1) * scale", ", 1)")))
    assert work(wrong.first).startswith("Not counted, as it is wrong. Head 0 of sequence 0")


def test_the_answers_of_the_lab_are_those_of_the_checks():
    assert set(sources()) - {""} == set(EXERCISES.names)


@pytest.mark.parametrize(
    ("exercise", "fault", "words"),
    [
        ("first", "one turn too few", "tokens 0 to 15 are left out"),
        ("first", "no exp", "the scores themselves are the weights"),
        ("online", "the maximum begins at 0", "begin the maximum at -inf"),
        ("online", "rescaled the other way", "either a slot that holds no token was read, so mask the loads"),
        ("grouped", "one sum for all heads", "it is not divided by the sum of its own weights"),
        ("combine", "places past the last split count", "places past the last split weigh too"),
    ],
)
def test_a_compiled_kernel_which_nobody_watches_is_judged_by_its_numbers(exercise, fault, words, tmp_path, monkeypatch):
    monkeypatch.setattr(Watch, "sees", False)
    answers = module(tmp_path, **{exercise: edited(exercise, *WRONG[exercise][fault][0])})
    assert words in check(exercise, getattr(answers, exercise)).words
