"""The simulation that a learner's scheduler drives: kvlib's own under the same rules, and words where it stops."""

import pytest

from kvlib.errors import EndlessLoop
from kvlib.grading.exercise import Wrong
from kvlib.grading.exercises.scheduling.drive import ours, played
from kvlib.grading.exercises.scheduling.log import told_by, told_by_ours
from kvlib.serving.workload import Arrival
from kvlib.show.board import Board

ARRIVALS = [
    Arrival(float(time), prompt, output) for time, prompt, output in ((0, 5, 9), (0, 7, 4), (2, 3, 12), (9, 6, 6))
]


class FirstComeFirstServed:
    """The rules of lab 7, with their blocks counted anew in each iteration."""

    def __init__(self, num_blocks, block_size):
        self.num_blocks, self.block_size = num_blocks, block_size
        self.waiting, self.running = [], []

    def fit(self, requests):
        return sum(-(-each.num_tokens // self.block_size) for each in requests) <= self.num_blocks

    def add(self, request):
        self.waiting.append(request)

    def schedule(self):
        while not self.fit(self.running):
            self.waiting.insert(0, self.running.pop())
        while self.waiting and self.fit([*self.running, self.waiting[0]]):
            self.running.append(self.waiting.pop(0))
        return self.running

    def finish(self, request):
        self.running.remove(request)


@pytest.mark.parametrize("num_blocks", [4, 5, 7, 100])
def test_the_same_rules_give_the_same_run(num_blocks):
    theirs, expected = played(FirstComeFirstServed, ARRIVALS, num_blocks, 4), ours(ARRIVALS, num_blocks, 4)
    assert (theirs.ran, theirs.began, theirs.ended) == (expected.ran, expected.began, expected.ended)
    assert theirs.num_recomputed == expected.num_recomputed


def test_less_memory_means_more_computed_again_and_ample_memory_nothing():
    few, many = (ours(ARRIVALS, num_blocks, 4).num_recomputed for num_blocks in (5, 100))
    assert few > many == 0


def test_the_log_of_a_run_is_one_that_can_happen_and_ends_with_all_blocks_free():
    log = told_by(FirstComeFirstServed)
    assert log.to_json() == told_by_ours().to_json()
    board = Board(log)
    for place, event in enumerate(log.events):
        board.apply(event, place)
    assert not board.tables


class Saying(FirstComeFirstServed):
    """Answers with what `said` makes of the right list."""

    said = staticmethod(lambda right: right)

    def schedule(self):
        return self.said(super().schedule())


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (lambda right: None, "returns a list of requests"),
        (lambda right: [each.number for each in right], "returns a list of requests"),
        (lambda right: right + right[:1], "twice in your list"),
        (lambda right: [], "nobody runs"),
    ],
)
def test_a_list_that_cannot_be_followed_is_told_in_words(said, words):
    answer = type("Answer", (Saying,), {"said": staticmethod(said)})
    with pytest.raises(Wrong, match=words):
        played(answer, ARRIVALS, 7, 4)


def test_whoever_runs_after_the_end_is_named():
    class Forgetful(FirstComeFirstServed):
        def finish(self, request):
            pass

    with pytest.raises(Wrong, match="request 2 runs and has ended"):
        played(Forgetful, ARRIVALS, 100, 4)


def test_a_list_of_nobody_while_some_have_not_ended_is_told_apart_from_a_server_that_stands_still():
    class NamingOnlyWhoJoins(FirstComeFirstServed):
        def schedule(self):
            before = list(self.running)
            return [each for each in super().schedule() if each not in before]

    with pytest.raises(Wrong, match="In iteration 2, your list is empty"):
        played(NamingOnlyWhoJoins, ARRIVALS, 7, 4)


def test_making_room_without_end_is_stopped():
    class Endless(FirstComeFirstServed):
        def schedule(self):
            while not self.fit(self.running):
                self.waiting.insert(0, self.running[-1])
            return super().schedule()

    with pytest.raises(EndlessLoop, match="200,000 times in one iteration"):
        played(Endless, ARRIVALS, 4, 4)


def test_more_than_the_memory_holds_is_told_with_both_numbers():
    class Greedy(FirstComeFirstServed):
        def fit(self, requests):
            return True

    with pytest.raises(Wrong, match="take 6 blocks, and there are 4"):
        played(Greedy, ARRIVALS, 4, 4)
