import pytest

from kvlib.errors import BadConfig, BadInput, OutOfBlocks, UnknownSequence
from kvlib.memory import BlockManager, SwapBlockManager


def test_what_two_samples_share_is_moved_once_and_shared_again_afterwards():
    manager = SwapBlockManager(6, 4, num_host_blocks=4)
    manager.admit("first", 10)
    manager.fork("first", "second")
    manager.append("first")  # copies the last block: 1, 2, 4 and 1, 2, 3
    assert manager.can_swap_out(["first", "second"])
    assert manager.swap_out(["first", "second"]) == [(1, 1), (2, 2), (4, 3), (3, 4)]
    assert manager.num_free_blocks == 6
    assert "first" in manager
    manager.admit("other", 4)
    assert [b for a, b in manager.swap_in(["first", "second"])] == [
        *manager.table("first").blocks,
        manager.table("second").blocks[2],
    ]
    assert manager.table("first").blocks[:2] == manager.table("second").blocks[:2]
    assert manager.host_pool.num_free == 4
    assert manager.table("first").entries()[2][1] == 3


def test_coming_back_needs_room_for_one_more_token():
    manager = SwapBlockManager(3, 4, num_host_blocks=3)
    manager.admit("A", 8)
    manager.swap_out(["A"])
    manager.admit("B", 4)
    assert not manager.can_swap_in(["A"])  # two blocks are free and hold it, but its next token needs a third
    manager.free("B")
    assert manager.can_swap_in(["A"])


def test_what_others_hold_stays_with_them_and_is_copied_out():
    manager = SwapBlockManager(6, 4, num_host_blocks=6)
    manager.admit("A", 9)
    manager.publish("A", ["x", "y"])
    manager.admit("B", 9, ["x", "y"])
    manager.swap_out(["A"])
    assert manager.table("B").blocks[:2] == [1, 2]
    assert manager.cached_prefix(9, ["x", "y"]) == [1, 2]
    manager.swap_in(["A"])
    assert manager.table("A").blocks[:2] != [1, 2]
    manager.publish("A", ["x", "y"])  # a second holder of each key
    manager.free("B")
    manager.free("A")
    assert manager.num_free_blocks == 6


def test_a_sequence_on_the_host_can_be_freed_and_is_not_appended_to():
    manager = SwapBlockManager(4, 4, num_host_blocks=2)
    manager.admit("A", 8)
    manager.swap_out(["A"])
    for call in (manager.table, manager.append):
        with pytest.raises(UnknownSequence):
            call("A")
    with pytest.raises(BadInput, match="already holds memory"):
        manager.admit("A", 1)
    manager.free("A")
    assert manager.host_pool.num_free == 2
    assert "A" not in manager
    with pytest.raises(UnknownSequence, match="is swapped out"):
        manager.swap_in(["A"])


def test_a_host_that_is_full_refuses_and_nothing_moves():
    manager = SwapBlockManager(4, 4, num_host_blocks=1)
    manager.admit("A", 8)
    assert not manager.can_swap_out(["A"])
    with pytest.raises(OutOfBlocks, match="2 blocks wanted, 1 of 1 are free"):
        manager.swap_out(["A"])
    assert manager.table("A").blocks == [1, 2]
    with pytest.raises(BadConfig, match="num_host_blocks is -1"):
        SwapBlockManager(4, 4, num_host_blocks=-1)


def test_a_fork_takes_full_blocks_only():
    manager = BlockManager(4, 4)
    manager.admit("A", 7)
    manager.fork("A", "B", 1)
    assert manager.table("B").entries() == [(1, 4)]
    for num_blocks in (2, -1):
        with pytest.raises(BadInput):
            manager.fork("A", "C", num_blocks)
    assert "C" not in manager


def test_growth_counts_one_copy_less_than_the_sharers_of_a_last_block():
    manager = BlockManager(5, 4)
    manager.admit("A", 6)
    manager.fork("A", "B")
    manager.fork("A", "C")
    manager.admit("X", 4)
    manager.admit("Y", 1)
    assert manager.num_free_blocks == 1
    assert manager.can_append(["A"])
    assert not manager.can_append(["A", "B"])  # C holds the block, too: both need a copy
    manager.free("C")
    assert manager.can_append(["A", "B"])
    assert not manager.can_append(["A", "B", "X"])
