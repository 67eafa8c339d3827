from kvlib.events import EventLog
from kvlib.memory import Oracle, RecordedBlockManager, RecordedContiguousManager
from kvlib.show.board import Board
from kvlib.show.split import split


def board_after(log, num_events):
    board = Board(log)
    for number in range(num_events):
        board.apply(log.events[number], number)
    return board


def test_an_empty_slot_is_reserved_if_the_log_goes_on_to_write_it_and_internal_if_not():
    log = EventLog()
    manager = RecordedBlockManager(5, 4, log)
    manager.admit("A", 2)
    manager.admit("B", 5)
    start = len(log)
    manager.append("A")
    assert split(board_after(log, start)) == (7, 1, 4, 0, 8)
    assert split(Board.at(log)) == (8, 0, 4, 0, 8)


def test_a_shared_slot_counts_once_and_is_reserved_if_one_of_its_owners_will_write_there():
    log = EventLog()
    manager = RecordedBlockManager(5, 4, log)
    manager.admit("A", 6)
    manager.fork("A", "B")
    start = len(log)
    manager.append("B")
    assert split(board_after(log, start)) == (6, 1, 1, 0, 12)
    assert split(Board.at(log)) == (9, 0, 3, 0, 8)


def test_no_count_is_negative_when_a_name_is_used_again_for_a_shorter_sequence():
    log = EventLog()
    manager = RecordedContiguousManager(50, Oracle(20), log)
    manager.admit("A", 5, 5)
    manager.write("A", 5)
    manager.free("A")
    manager.admit("A", 2, 2)
    assert split(Board.at(log)) == (2, 2, 0, 0, 46)


def test_what_a_freed_block_still_holds_is_free():
    log = EventLog()
    manager = RecordedBlockManager(5, 4, log)
    manager.admit("A", 4)
    manager.publish("A", ["k"])
    manager.free("A")
    assert split(Board.at(log)) == (0, 0, 0, 0, 20)
