"""The board of contiguous memory: what cannot happen is refused, and leaves no trace."""

import copy

import pytest

from kvlib.errors import BadEvents
from kvlib.events import EventLog
from kvlib.memory import Max, RecordedContiguousManager
from kvlib.memory.first_fit import FirstFitAllocator
from kvlib.show.board import Board


def two_rows():
    """40 of 48 slots held by A and B; C waits."""
    log = EventLog()
    for seq in "ABC":
        log.add("arrive", seq=seq)
    manager = RecordedContiguousManager(48, Max(20), log, FirstFitAllocator)
    log.next_step()
    manager.admit("A", 3, 5)
    manager.admit("B", 4, 16)
    manager.refuse("C", 5, 5)
    return log


def test_the_board_has_the_chunks_the_gaps_and_who_waits():
    board = Board.at(two_rows())
    chunks = {seq: (it.start, it.slots, it.wanted, it.stored) for seq, it in board.chunks.items()}
    assert chunks == {"A": (0, 20, 20, 3), "B": (20, 20, 20, 4)}
    assert (board.chunks.gaps, board.waiting, board.numbers) == ([[40, 8]], ["C"], {"A": 0, "B": 1})


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ({"kind": "reserve", "seq": "A", "start": 40, "slots": 8, "wanted": 8}, "A holds slots 0 to 19"),
        ({"kind": "reserve", "seq": "C", "start": 39, "slots": 8, "wanted": 8}, "all of them free"),
        ({"kind": "reserve", "seq": "C", "start": 41, "slots": 8, "wanted": 8}, "of 48 slots"),
        ({"kind": "reserve", "seq": "C", "start": 40, "slots": 7, "wanted": 8}, "1 slot or more"),
        ({"kind": "reserve", "seq": "C", "start": 40, "slots": 8, "wanted": 0}, "1 slot or more"),
        ({"kind": "write", "seq": "A", "start": 2, "stop": 4}, "3 with tokens"),
        ({"kind": "write", "seq": "A", "start": 3, "stop": 21}, "20 of them asked for"),
        ({"kind": "write", "seq": "C", "start": 0, "stop": 1}, "C holds None"),
        ({"kind": "refuse", "seq": "A", "slots": 20, "gaps": [[40, 8]]}, "A holds slots"),
        ({"kind": "refuse", "seq": "C", "slots": 8, "gaps": [[40, 8]]}, "fewer than 8"),
        ({"kind": "refuse", "seq": "C", "slots": 20, "gaps": [[39, 8]]}, "of free slots"),
        ({"kind": "refuse", "seq": "C", "slots": 20, "gaps": [[40, 5], [44, 4]]}, "each once"),
        ({"kind": "refuse", "seq": "C", "slots": 20, "gaps": [[40, 7]]}, "all free slots"),
        ({"kind": "refuse", "seq": "C", "slots": 20, "gaps": [40, 8]}, "start, size"),
        ({"kind": "release", "seq": "C"}, "C holds no chunk"),
        ({"kind": "finish", "seq": "A", "reason": "stop"}, "A still holds slots 0 to 19"),
        ({"kind": "arrive", "seq": "C"}, "C has come before"),
        ({"kind": "arrive", "seq": "A"}, "A has come before"),
        ({"kind": "allocate", "seq": "C", "index": 0, "block": 1}, "not one of 0"),
    ],
)
def test_an_event_that_cannot_happen_is_refused_and_leaves_no_trace(event, words):
    board = Board.at(two_rows())
    before = copy.deepcopy(vars(board))
    with pytest.raises(BadEvents, match=words):
        board.apply({"step": 1, **event}, 9)
    after = vars(board)
    assert {name: repr(value) for name, value in after.items() if name != "log"} == {
        name: repr(value) for name, value in before.items() if name != "log"
    }


def test_a_release_makes_the_gaps_free_again():
    log = two_rows()
    log.add("release", seq="B")
    assert Board.at(log).chunks.gaps == []
