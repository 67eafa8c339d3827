"""The graders of *Race the kernel* graded: right answers of several builds pass, each wrong one has its own message."""

from math import ceil
from pathlib import Path

import pytest

from kvlib.errors import BadInput
from kvlib.grading.lab import read
from kvlib.grading.race_changes import BASE, CHANGES
from kvlib.grading.race_checks import CHECKS, STEPS, check

CELLS = read(Path(__file__).parents[2] / "labs" / "09-race-the-kernel.md")
NAMES = {"floor": "floor_us", "predict": "predicted", "fill": "num_splits", "launch": "least_context"}
RIGHT = {name: change.times for name, change in CHANGES.items()}


def answer(exercise, solved=True):
    """The answer of the lab, or its cell with nothing between the marks."""
    [source] = [cell.source for cell in CELLS if cell.role == "answer" and cell.exercise == exercise]
    if not solved:
        head, _, rest = source.partition("### BEGIN SOLUTION")
        source = head + "### " + rest.partition("### END SOLUTION")[2] + "\n    pass" * ("def " in source)
    names = {"ceil": ceil}
    exec(source, names)
    return names[NAMES[exercise]]


def most_at_work(num_programs, num_places, context_len):
    def idle(splits):
        return -splits * num_programs % num_places / (splits * num_programs)

    return min(range(1, max(1, context_len // 256) + 1), key=idle)


def counted_up(num_seqs, token_bytes, gbps, host_us):
    tokens = 1
    while tokens * num_seqs * token_bytes < host_us * gbps * 1000:
        tokens += 1
    return tokens


@pytest.mark.parametrize("exercise", CHECKS)
def test_the_model_answer_is_right_and_prints_the_line_of_the_lab(exercise):
    [line] = [cell.prints for cell in CELLS if cell.role == "check" and cell.exercise == exercise]
    assert str(check(exercise, answer(exercise))) == line
    assert check(exercise, answer(exercise)).is_right


@pytest.mark.parametrize(
    ("exercise", "other"),
    [
        ("floor", lambda n, c, h, d, b, g: 1e6 * (2 * n * c * h * d * b) / (g * 1e9)),
        ("floor", lambda num_seqs, *sizes: num_seqs * answer("floor")(1, *sizes)),
        ("predict", {name: round(times, 2) for name, times in RIGHT.items()}),
        ("predict", {**RIGHT, "blocks of 64": 1.005, "something else": 3}),
        ("launch", counted_up),
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
        True, f"12 steps are cut into {used} splits in all; {fewest} would do."
    )  # fmt: skip


def without(place):
    def wrong(*sizes):
        return answer("floor")(*sizes[:place], 1, *sizes[place + 1 :])

    return wrong


WRONG = {
    "floor": {
        "only keys": (lambda *sizes: answer("floor")(*sizes) / 2, "only the keys are counted, or only the values"),
        "milliseconds": (lambda *sizes: answer("floor")(*sizes) / 1e3, "milliseconds: a GB/s is 1,000 bytes"),
        "seconds": (lambda *sizes: answer("floor")(*sizes) / 1e6, ", seconds: a GB/s is 1,000 bytes"),
        "nanoseconds": (lambda *sizes: answer("floor")(*sizes) * 1e3, "nanoseconds: a GB/s is 1,000 bytes"),
        "binary GB": (lambda *sizes: answer("floor")(*sizes) * 1e9 / 2**30, "when a GB has 2**30 bytes"),
        "one request": (without(0), "what comes out without num_seqs."),
        "one token": (without(1), "what comes out without context_len."),
        "one head": (without(2), "what comes out without num_kv_heads."),
        "one number": (without(3), "what comes out without head_size."),
        "numbers, not bytes": (without(4), "what comes out without number_bytes."),
        "anything else": (lambda *sizes: 1.0, "floor_us(1, 1024, 8, 128, 2, 320) is 13.11 µs, and yours gives 1."),
        "no number": (lambda *sizes: "13", "It returns '13' for (1, 1024, 8, 128, 2, 320); give a number."),
        "an error": (lambda *sizes: 1 / 0, "It raises ZeroDivisionError: division by zero."),
    },
    "predict": {
        "nothing yet": ({}, "128 requests is Ellipsis; predict a number, before you look."),
        "in words": ({**RIGHT, "blocks of 64": "same"}, "blocks of 64 is 'same'; predict a number"),
        "blocks": ({**RIGHT, "blocks of 64": 0.25}, "5 of 6 are right. blocks of 64: not 0.25 times, but 1: the same"),
        "query heads": ({**RIGHT, "64 query heads": 2}, "64 query heads: not 2 times, but 1: eight heads share"),
        "KV heads": ({**RIGHT, "32 KV heads": 1}, "32 KV heads: not 1 times, but 4: four times as many"),
        "e4m3": ({**RIGHT, "an e4m3 cache": 1}, "an e4m3 cache: not 1 times, but 0.5: a number has one byte"),
        "a list": ([2, 0.25], "predicted is [2, 0.25]; it is a dict"),
    },
    "fill": {
        "no splits": (lambda *step: 1, "num_splits(8, 80, 4096) is 1: 10 % of the places are at work, and 100 % can"),
        "as many as may be": (lambda p, q, n: max(1, n // 256), "is 16: 80 % of the places are at work"),
        "too short": (lambda p, q, n: n, "num_splits(8, 80, 4096) is 4096, splits of 1 tokens; they have 256 at least"),
        "no whole number": (lambda p, q, n: q / p, "num_splits(8, 80, 4096) is 10.0; give a whole number"),
        "none": (lambda *step: 0, "num_splits(8, 80, 4096) is 0; give a whole number, 1 at least."),
        "an error": (lambda p, q: 1, "It raises TypeError"),
    },
    "launch": {
        "rounded down": (lambda n, b, g, h: int(1000 * g * h / (n * b)), "is 703, which is read in 8.998 µs: too few"),
        "not rounded": (lambda n, b, g, h: 1000 * g * h / (n * b), "is 703.125; tokens are whole, an int: round up"),
        "one too many": (lambda *case: counted_up(*case) + 1, "is 705; 704 take 9.011 µs: enough already"),
        "of all requests": (lambda n, b, g, h: ceil(1000 * g * h / b), "enough already"),
        "an error": (lambda *case: [][0], "It raises IndexError: list index out of range."),
    },
}


@pytest.mark.parametrize(("exercise", "fault"), [(exercise, fault) for exercise in WRONG for fault in WRONG[exercise]])
def test_a_wrong_answer_is_caught_with_its_own_message(exercise, fault):
    wrong, words = WRONG[exercise][fault]
    verdict = check(exercise, wrong)
    assert not verdict.is_right
    assert words in verdict.words
    assert "\n" not in str(verdict)


def test_every_exercise_has_wrong_answers_with_messages_of_their_own():
    assert set(WRONG) == set(CHECKS) == set(NAMES)
    for faults in WRONG.values():
        assert len({words for _, words in faults.values()}) >= 2


@pytest.mark.parametrize("exercise", CHECKS)
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
