"""The rule for who may join: as fast as kvlib's own where it keeps the same share back, and a limit that is one."""

import pytest

from kvlib.chance import Chance
from kvlib.grading.exercise import Wrong
from kvlib.grading.exercises.scheduling.drive import ours
from kvlib.grading.exercises.scheduling.keep import ALLOWED, crowd, keep, ruled

CROWD = crowd(Chance(7))


def keeping(kept_back):
    def may_join(num_tokens, running, num_blocks, block_size):
        blocks = sum(-(-each // block_size) for each in [num_tokens, *running])
        return blocks + (kept_back if running else 0) <= num_blocks

    return may_join


def test_nothing_kept_back_runs_as_under_kvlibs_own_rules():
    theirs, expected = ruled(keeping(0), CROWD), ours(*CROWD)
    assert (theirs.ran, theirs.num_recomputed) == (expected.ran, expected.num_recomputed)


def test_the_limit_is_a_quarter_more_than_with_nothing_kept_back():
    least = ours(*CROWD).iteration
    assert least < CROWD.most_iterations == int(ALLOWED * least)


def test_a_rule_is_late_exactly_where_it_takes_more_iterations_than_are_allowed():
    taken = {kept_back: ruled(keeping(kept_back), CROWD).iteration for kept_back in range(0, 40, 4)}
    late = [kept_back for kept_back in taken if taken[kept_back] > CROWD.most_iterations]
    assert 0 < len(late) < len(taken)
    for kept_back in taken.keys() - late:
        assert len(list(keep(keeping(kept_back), Chance(7)))) == 2
    for kept_back in late:
        words = f"take {taken[kept_back]} iterations; at most {CROWD.most_iterations} are allowed"
        with pytest.raises(Wrong, match=words):
            list(keep(keeping(kept_back), Chance(7)))


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (lambda **_: None, "expected True or False"),
        (lambda **_: False, "nobody would ever run again"),
        (lambda **_: True, "are free"),
        (lambda num_tokens: True, "Python says"),
    ],
)
def test_a_rule_that_cannot_be_followed_is_told_in_words(rule, words):
    with pytest.raises(Wrong, match=words):
        ruled(rule, CROWD)
