import pytest

from kvlib.errors import BadEvents, BadInput
from kvlib.events import EventLog
from kvlib.memory import RecordedBlockManager
from kvlib.show.board import Board


def forked_log():
    log = EventLog()
    manager = RecordedBlockManager(4, 4, log)
    manager.admit("A", 6)
    log.say("A", list("abcdef"))
    log.next_step()
    manager.fork("A", "B")
    manager.append("B")
    return log


def test_the_board_at_a_step_is_the_memory_of_that_step():
    log = forked_log()
    before, after = Board.at(log, 0), Board.at(log)
    assert before.tables["A"].entries() == [(1, 4), (2, 2)]
    assert "B" not in before.tables
    assert after.tables["B"].entries() == [(1, 4), (3, 3)]
    assert (after.owners(1), after.owners(3), after.owners(4)) == (["A", "B"], ["B"], [])
    assert (after.filled(1), after.filled(3), after.filled(4)) == (4, 3, 0)
    assert after.text("A") == list("abcdef")


def test_each_step_hands_out_one_board_a_step():
    assert [(step, sorted(board.tables)) for step, board in Board.each_step(forked_log())] == [
        (0, ["A"]),
        (1, ["A", "B"]),
    ]


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ({"kind": "free", "seq": "A", "block": 1, "count": 0}, "last block of A is freed first"),
        ({"kind": "free", "seq": "Z", "block": 4, "count": 0}, "cannot happen"),
        ({"kind": "allocate", "seq": "A", "index": 2, "block": 3}, r"belongs to \['B'\]"),
        ({"kind": "allocate", "seq": "A", "index": 2, "block": 5}, "block 5 is not one of 4"),
        ({"kind": "allocate", "seq": "A", "index": 2, "block": -1}, "block -1 is not one of 4"),
        ({"kind": "evict", "block": -1}, "block -1 holds nothing"),
        ({"kind": "share", "seq": "C", "index": 0, "block": -3, "count": 2, "filled": 4}, "block -3 stores 0"),
        ({"kind": "allocate", "seq": "A", "index": 0, "block": 4}, "has index 2"),
        ({"kind": "allocate", "seq": "A", "index": 2, "block": 0}, "block 0 is not one of 4"),
        ({"kind": "share", "seq": "C", "index": 0, "block": 0, "count": 1, "filled": 4}, "block 0 stores 0"),
        ({"kind": "share", "seq": "C", "index": 0, "block": 4, "count": 1, "filled": 4}, "block 4 stores 0"),
        ({"kind": "share", "seq": "C", "index": 0, "block": 1, "count": 3, "filled": 9}, "block 1 stores 4"),
        ({"kind": "share", "seq": "C", "index": 0, "block": 1, "count": 2, "filled": 4}, "the owners"),
        ({"kind": "share", "seq": "B", "index": 2, "block": 2, "count": 2, "filled": 2}, "cannot be added"),
        ({"kind": "copy", "seq": "A", "index": -1, "source": 2, "target": 4}, "entry -1"),
        ({"kind": "evict", "block": 1}, "belongs to"),
        ({"kind": "evict", "block": 4}, "holds nothing"),
        ({"kind": "finish", "seq": "A", "reason": "stop"}, "still holds"),
        ({"kind": "evict", "block": 4, "step": 0}, "step 1 has begun"),
        ({"kind": "copy", "seq": "A", "index": 1, "source": 2, "target": 4}, "two owners"),
        ({"kind": "copy", "seq": "A", "index": 0, "source": 2, "target": 4}, "does not name block 2"),
        ({"kind": "write", "seq": "A", "start": 6, "stop": 9}, "has the table"),
        ({"kind": "write", "seq": "A", "start": 5, "stop": 6}, "has the table"),
    ],
)
def test_an_event_that_cannot_happen_is_refused_with_its_place(event, words):
    log = forked_log()
    log.events.append({"step": 1, **event})
    with pytest.raises(BadEvents, match=words) as caught:
        Board.at(log)
    assert f"event {len(log) - 1} of the log" in str(caught.value)


@pytest.mark.parametrize("step", [-1, 2])
def test_a_step_that_is_not_in_the_log_is_refused(step):
    with pytest.raises(BadInput, match="the log has steps 0 to 1"):
        Board.at(forked_log(), step)


def test_a_refused_event_leaves_no_trace():
    board = Board.at(forked_log())
    with pytest.raises(BadEvents):
        board.apply({"step": 1, "kind": "allocate", "seq": "new", "index": 3, "block": 4}, 9)
    assert "new" not in board.tables
    for nonsense in ({}, None, {"step": 1, "kind": "melt"}):
        with pytest.raises(BadEvents, match="event 9 is"):
            board.apply(nonsense, 9)


def test_writing_into_a_block_with_another_owner_is_refused():
    log = forked_log()
    del log.events[-2]  # the copy that came first
    with pytest.raises(BadEvents, match="another owner"):
        Board.at(log)


def swapped_log():
    """ "A" and its fork "B" on the host, four blocks free."""
    log = EventLog()
    manager = RecordedBlockManager(4, 4, log, num_host_blocks=4)
    manager.admit("A", 6)
    manager.fork("A", "B")
    manager.swap_out(["A", "B"])
    log.next_step()
    return log


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([("C", "in", [1], [1])], "C has the table None on the host"),
        ([("A", "in", [3, 3], [1, 2])], "comes back to one block"),
        ([("A", "in", [3, True], [1, 2])], "comes back to one block"),
        ([("A", "in", [3, 9], [1, 2])], "block 9 is not one of 4"),
        ([("A", "in", [3, 4], [1, 3])], "comes back to one block"),
        ([("A", "in", [3, 4], [1, 2]), ("B", "in", [4, 3], [1, 2])], "block 4 belongs to"),
        ([("A", "out", [], [])], "A has the table"),
        ([("C", "out", [1], [3])], "C has the table"),
        ([("A", "dropped", [], [1])], "on the host"),
        ([("A", "away", [], [])], "a swap goes 'out' or 'in'"),
    ],
)
def test_a_swap_that_cannot_be_is_refused(events, words):
    log = swapped_log()
    for seq, how, blocks, host_blocks in events:
        log.add("swap", seq=seq, how=how, blocks=blocks, host_blocks=host_blocks)
    with pytest.raises(BadEvents, match=words):
        Board.at(log)


def test_what_comes_back_together_shares_its_blocks_again():
    log = swapped_log()
    log.add("swap", seq="A", how="in", blocks=[3, 4], host_blocks=[1, 2])
    log.add("swap", seq="B", how="in", blocks=[3, 4], host_blocks=[1, 2])
    board = Board.at(log)
    assert board.owners(3) == ["A", "B"]
    assert board.counts == [0, 0, 0, 2, 2]
    assert board.swapped == {}
