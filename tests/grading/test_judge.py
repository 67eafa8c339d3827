import pytest

from kvlib.grading.judge import LONGEST, MORE, Broken, clean, judge
from kvlib.grading.run import CellRun, Ran

EXPECTED = {"hidden-pool-1": "each block once: [3, 1]\nall of them: 7\na refusal changes nothing: 4\n"}


def judged(printed, *, outcome="failed", broke_off="", error="", answer_error="", said="pool: wrong."):
    cells = {
        "answer": CellRun("failed" if answer_error else "passed", "", answer_error),
        "hidden-pool-1": CellRun(outcome, printed, error),
        "check-pool": CellRun("passed", said, ""),
    }
    return judge(Ran(cells, broke_off), EXPECTED, "answer", ["check-pool"])


def test_what_nbval_passed_is_right_with_the_words_of_the_check():
    result = judged(EXPECTED["hidden-pool-1"], outcome="passed", said="pool: right. 3 blocks wasted.\n")
    assert result == (True, "right", (), "pool: right. 3 blocks wasted.", "")


def test_an_answer_whose_cell_raised_after_its_definition_is_right():
    assert judged("", outcome="passed", answer_error="ZeroDivisionError: division by zero").is_right


def test_what_nbval_did_not_pass_is_not_right_whatever_it_printed():
    result = judged(EXPECTED["hidden-pool-1"], outcome="failed")
    assert (result.is_right, result.reason) == (False, MORE)


def test_lines_without_end_are_one_broken_law():
    result = judged(EXPECTED["hidden-pool-1"] + "x\n" * 100_000)
    assert result.reason == "wrong: broke 'nothing more is printed'"
    assert len(result.broken) == 1


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        ("each block once: [3, 3]\nall of them: 7\na refusal changes nothing: 4\n", "wrong: broke 'each block once'"),
        (
            "each block once: [3, 1]\nall of them: 6\na refusal changes nothing: 5\n",
            "wrong: broke 'all of them', and 1 more",
        ),
        ("each block once: [3, 1]\nstopped: It raises KeyError in line 3.\n", "stopped: It raises KeyError in line 3."),
        ("each block once: []\nstopped: It raises KeyError.\n", "wrong: broke 'each block once', and 1 more"),
        ("stopped: Nothing is written yet in line 2.\n", "not finished: Nothing is written yet in line 2."),
        ("", "wrong: nothing is printed"),
    ],
)
def test_the_reason_names_the_first_law_that_is_broken_or_where_it_stopped(printed, reason):
    assert judged(printed).reason == reason


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"broke_off": "no end after 20 s"}, "no end after 20 s"),
        ({"error": "NameError: name 'Pool' is not defined"}, "stopped: NameError: name 'Pool' is not defined"),
        ({"error": "NameError: x", "answer_error": "TypeError: y"}, "stopped: TypeError: y"),
        (
            {"broke_off": "the kernel died: sys.exit or a crash", "answer_error": "x"},
            "the kernel died: sys.exit or a crash",
        ),
    ],
)
def test_the_reason_says_why_nothing_could_be_seen(given, reason):
    assert judged("", **given).reason == reason


def test_a_broken_law_is_kept_with_both_values():
    result = judged("each block once: [3, 3]\nall of them: 7\nstopped: It raises KeyError.\n")
    assert result.broken == (
        Broken("each block once", "[3, 1]", "[3, 3]"),
        Broken("a refusal changes nothing", "4", "stopped: It raises KeyError."),
    )


def test_a_law_that_is_seen_with_several_seeds_is_one_and_the_first_line_that_breaks_it_counts():
    expected = {"hidden-pool-1": "all of them: 7\nin order: 1\nall of them: 8\nin order: 2\nall of them: 9\n"}
    printed = "all of them: 7\nin order: 1\nall of them: 8 (a fault)\nin order: 3\nall of them: 0\n"
    result = judge(Ran({"hidden-pool-1": CellRun("failed", printed, "")}, ""), expected, "answer", [])
    assert result.reason == "wrong: broke 'all of them', and 1 more"
    assert result.broken == (Broken("all of them", "8", "8 (a fault)"), Broken("in order", "2", "3"))


def test_a_cell_that_was_not_run_is_not_right():
    assert not judge(Ran({}, "the kernel died"), EXPECTED, "answer", ["check-pool"]).is_right


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\n\tb", "a b"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("a\0b\ud800", "a\ufffdb\ufffd"),
        ("<Pool object at 0x7f3a12b4c5d0>", "<Pool object at 0x...>"),
        ("SystemExit: ", "SystemExit"),
        ("x" * 1000, "x" * (LONGEST - 3) + "..."),
    ],
)
def test_a_reason_is_one_line_that_can_be_written_anywhere_and_is_the_same_each_time(text, line):
    assert clean(text) == line
