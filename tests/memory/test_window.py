"""Sliding windows: blocks out of sight are given back, and a hit needs only what can be seen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvlib.errors import BadConfig, BadInput
from kvlib.memory import NULL_BLOCK, WindowBlockManager


def test_blocks_out_of_sight_become_null_from_the_right_and_positions_keep_their_place():
    manager = WindowBlockManager(8, 4, window=5)
    manager.admit("A", 18)
    assert manager.slide("A", 18) == [3, 2, 1]  # the next token sees positions 14 to 18
    assert manager.table("A").blocks == [0, 0, 0, 4, 5]
    assert manager.table("A").slots(14, 16) == [18, 19]
    assert manager.slide("A", 18) == []
    assert manager.num_free_blocks == 6


def test_a_position_that_was_given_back_has_no_slot():
    manager = WindowBlockManager(8, 4, window=5)
    manager.admit("A", 18)
    manager.slide("A", 18)
    with pytest.raises(BadInput, match="gave some back"):
        manager.table("A").slots(11, 13)


def test_a_hit_needs_only_the_last_window_and_the_rest_is_null():
    manager = WindowBlockManager(8, 4, window=5)
    manager.admit("A", 17)
    manager.publish("A", ["a", "b", "c", "d"])
    manager.slide("A", 17)
    manager.free("A")
    manager.admit("X", 24)  # takes the free blocks and evicts those that were let go first: c and b
    assert manager.cached_prefix(17, ["a", "b", "c", "d"]) == [0, 0, 0, 4]
    manager.free("X")
    assert manager.admit("B", 20, ["a", "b", "c", "d", "e"]) == 16
    assert manager.table("B").blocks[:4] == [0, 0, 0, 4]
    manager.fork("B", "C")
    manager.free("B")
    manager.free("C")
    assert manager.num_free_blocks == 8


def test_a_gap_inside_the_window_shortens_the_hit():
    manager = WindowBlockManager(9, 4, window=9)  # two blocks are seen
    for name, number in (("A", 1), ("B", 2)):
        manager.admit(name, 5)
        manager.publish(name, [f"{number}"])
    assert manager.cached_prefix(20, ["1", "2", "no", "no"]) == [1, 3]
    assert manager.cached_prefix(20, ["no", "2", "1", "no"]) == [0, 3, 1]
    assert manager.cached_prefix(20, ["no", "2", "no", "1"]) == []
    assert manager.cached_prefix(20, ["1", "no", "no", "no"]) == [1]


@given(
    window=st.integers(1, 12),
    block_size=st.integers(1, 4),
    num_prompt=st.integers(1, 20),
    num_more=st.integers(0, 20),
)
def test_every_position_in_sight_keeps_its_block_and_no_other_does(window, block_size, num_prompt, num_more):
    manager = WindowBlockManager(60, block_size, window=window)
    manager.admit("A", num_prompt)
    for num_tokens in range(num_prompt, num_prompt + num_more + 1):
        if num_tokens > num_prompt:
            manager.append("A")
        manager.slide("A", num_tokens)
        first_seen = max(0, num_tokens - window + 1)  # by the token at position num_tokens
        for index, block in enumerate(manager.table("A").blocks):
            assert (block == NULL_BLOCK) == ((index + 1) * block_size <= first_seen)
        used = 60 - manager.num_free_blocks
        assert used == sum(block != NULL_BLOCK for block in manager.table("A").blocks)
    manager.free("A")
    assert manager.num_free_blocks == 60


def test_bad_input_is_named_and_changes_nothing():
    with pytest.raises(BadConfig, match="window is 0"):
        WindowBlockManager(8, 4, window=0)
    manager = WindowBlockManager(8, 4, window=1)
    manager.admit("A", 8)
    with pytest.raises(BadInput, match="num_computed is 9; 'A' has stored 8"):
        manager.slide("A", 9)
    assert manager.table("A").blocks == [1, 2]
