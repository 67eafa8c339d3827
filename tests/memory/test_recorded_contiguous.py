import pytest

from kvlib.errors import BadInput, OutOfBlocks
from kvlib.events import EventLog
from kvlib.memory import Max, Oracle, Pow2, RecordedContiguousManager
from kvlib.memory.buddy import BuddyAllocator
from kvlib.memory.first_fit import FirstFitAllocator
from kvlib.show.board import Board
from kvlib.show.split import split


def told(log):
    return [tuple(value for field, value in event.items() if field != "step") for event in log.events]


def test_everything_that_happens_to_a_chunk_is_logged_in_order():
    log = EventLog()
    manager = RecordedContiguousManager(48, Pow2(20), log)
    manager.admit("A", 3, 5)
    manager.admit("B", 9, 11)
    manager.refuse("C", 3, 7)
    manager.tick()
    manager.write("A", 2)
    manager.free("B")
    assert told(log) == [
        ("reserve", "A", 32, 16, 11),
        ("write", "A", 0, 3),
        ("reserve", "B", 0, 32, 20),
        ("write", "B", 0, 9),
        ("refuse", "C", 16, []),
        ("write", "A", 3, 4),
        ("write", "B", 9, 10),
        ("write", "A", 4, 6),
        ("release", "B"),
    ]


@pytest.mark.parametrize("allocator", [BuddyAllocator, FirstFitAllocator])
@pytest.mark.parametrize("policy", [Max, Pow2, Oracle])
def test_the_board_of_the_log_uses_its_slots_as_the_manager_says(policy, allocator):
    log = EventLog()
    manager = RecordedContiguousManager(176, policy(20), log, allocator)
    lengths = [(1 + number % 7, 1 + number * 5 % 13) for number in range(40)]
    left, splits = {}, []
    for number, (num_prompt, num_output) in enumerate(lengths):
        seq = str(number)
        while not manager.can_admit(num_prompt, num_output):
            manager.refuse(seq, num_prompt, num_output)
            reserved = manager.policy.reserve(num_prompt, num_output)
            splits.append((len(log), manager.split(next_slots=reserved)))
            manager.tick()
            for each in [each for each in left if left[each] == 1]:
                manager.free(each)
            left = {each: to_come - 1 for each, to_come in left.items() if to_come > 1}
        manager.admit(seq, num_prompt, num_output)
        left[seq] = num_output
        splits.append((len(log), manager.split()))
    for each in list(left):
        manager.write(each, left[each])
    board, done = Board(log), 0
    for position, expected in splits:
        for number in range(done, position):
            board.apply(log.events[number], number)
        done = position
        assert split(board) == expected
    assert len(splits) > 50


def test_a_refused_call_logs_nothing():
    log = EventLog()
    manager = RecordedContiguousManager(40, Max(20), log, FirstFitAllocator)
    manager.admit("A", 3, 5)
    manager.admit("B", 3, 5)
    before = len(log)
    with pytest.raises(OutOfBlocks):
        manager.admit("C", 3, 5)
    with pytest.raises(BadInput, match="no text"):
        manager.admit(3, 3, 5)
    manager.free("B")
    with pytest.raises(BadInput, match="fits now"):
        manager.refuse("C", 3, 5)
    assert len(log) == before + 1
