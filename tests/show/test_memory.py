import re
import warnings

import pytest

from kvlib.errors import BadEvents, BadInput, UnknownSequence
from kvlib.events import EventLog
from kvlib.memory import RecordedBlockManager
from kvlib.show.board import Board
from kvlib.show.figures import sequence_colour
from kvlib.show.memory import logical, owners, physical


@pytest.fixture
def board():
    log = EventLog()
    manager = RecordedBlockManager(6, 4, log)
    manager.admit("first", 6)
    manager.admit("second", 3)
    log.say("first", ["Once", " upon", "\n", " incomprehensibilities", " was", " a"])
    manager.free("second")
    manager.append("first", 3)
    return Board.at(log)


def words(picture):
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture.svg)


def fills(picture, colour):
    return len(re.findall(rf"fill: [^;]*{colour}", picture.svg))


def test_the_physical_picture_shows_every_block_its_owner_and_its_filled_slots(board):
    picture = physical(board)
    assert [word for word in words(picture) if word.isdigit()] == ["1", "2", "3", "4", "5", "6"]
    assert [word for word in words(picture) if word.startswith("A")] == ["A0", "A1", "A2"]
    assert fills(picture, sequence_colour(0)) == 9
    assert picture.alt.endswith("A has 9 tokens in blocks 1, 2, 3; the others are free.")


def test_an_empty_memory_is_drawn_and_said_to_be_free():
    log = EventLog()
    RecordedBlockManager(2, 16, log)
    assert physical(Board.at(log)).alt == "Physical memory, 2 blocks of 16 slots. All are free."


def test_the_logical_picture_shows_text_physical_block_and_filled_slots(board):
    picture = logical(board, "first")
    assert words(picture)[2:] == [
        *("A0", "Once", "upon", "⏎", "incompr…", "→", "1", "4/4"),
        *("A1", "was", "a", "→", "2", "4/4"),
        *("A2", "→", "3", "1/4"),
    ]
    assert "0 in 1 with 4, 1 in 2 with 4, 2 in 3 with 1" in picture.alt


def test_dollars_and_control_characters_are_shown_as_text():
    log = EventLog()
    RecordedBlockManager(2, 2, log).admit("prices", 4)
    log.say("prices", ["$x^$", "a\x00b", "\x1b[0m", "$\x0c\t\r\ud800"])
    with warnings.catch_warnings(action="error"):
        picture = logical(Board.at(log), "prices")
    shown = [word for word in words(picture) if "$" in word or "\\" in word]
    assert shown == ["$x^$", "a\\x00b", "\\x1b[0m", "$\\x0c⇥\\r\\ud800"]


@pytest.mark.parametrize(("num_blocks", "block_size"), [(0, 0), (0, 4), (4, 0)])
def test_a_memory_without_a_slot_is_refused_with_what_to_do(num_blocks, block_size):
    log = EventLog()
    log.open(num_blocks, block_size)
    with pytest.raises(BadEvents, match=rf"{num_blocks} blocks of {block_size} slots.*log\.open"):
        physical(Board(log))


def test_a_sequence_that_holds_nothing_is_refused_by_name(board):
    with pytest.raises(UnknownSequence, match="'second' holds no memory at this step; those that do: \\['first'\\]"):
        logical(board, "second")


def test_one_state_gives_one_picture(board):
    assert physical(board) == physical(board)


def test_a_log_in_place_of_a_board_is_refused_with_the_way_to_one(board):
    for picture in (lambda: physical(board.log), lambda: logical(board.log, "first")):
        with pytest.raises(BadInput, match="of type EventLog; give a Board"):
            picture()


@pytest.fixture
def shared():
    log = EventLog()
    manager = RecordedBlockManager(8, 4, log)
    manager.admit("first", 6)
    log.say("first", ["Once", " upon", " a", " time", " there", " was", " a"])
    manager.fork("first", "second")
    log.say("second", ["Once", " upon", " a", " time", " there", " was", " no"])
    before = owners(Board.at(log))
    manager.append_each(["first", "second"])
    return before, owners(Board.at(log))


def test_the_picture_of_owners_names_all_of_each_block_and_counts_them(shared):
    before, after = shared
    assert words(before)[2:] == ["1", "Once", "upon", "a", "time", "A B", "2", "2", "there", "was", "A B", "2"]
    assert words(after)[9:] == ["2", "there", "was", "no", "B", "1", "3", "there", "was", "a", "A", "1"]
    assert after.alt.endswith(
        "1 with 4 of 4 slots filled is named by A, B; 2 with 3 of 4 slots filled is named by B; "
        "3 with 3 of 4 slots filled is named by A."
    )


def test_a_block_of_one_owner_has_its_colour_and_one_of_several_is_dark(shared):
    before, after = shared
    for number in (0, 1):
        assert fills(before, sequence_colour(number)) == 0
        assert fills(after, sequence_colour(number)) == 3


def test_a_memory_in_which_nobody_has_a_block_has_no_owners():
    log = EventLog()
    RecordedBlockManager(2, 16, log)
    assert owners(Board.at(log)).alt == "Blocks in use, with their owners: there are none."
