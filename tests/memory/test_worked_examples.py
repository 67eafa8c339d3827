"""Small memories that one can follow by hand. The rules are those of vLLM's block manager and its prefix cache."""

import pytest

from kvlib.errors import BadConfig, BadInput, DoubleFree, OutOfBlocks, RequestTooLarge, UnknownSequence
from kvlib.memory import BlockManager, BlockPool, BlockTable

SIZE = 16


def keys(text):
    """One key for each full block: everything from the start to the block's end."""
    return [tuple(text[:end]) for end in range(SIZE, len(text) + 1, SIZE)]


def admit(manager, seq, text):
    num_cached = manager.admit(seq, len(text), keys(text))
    manager.publish(seq, keys(text))
    return num_cached, manager.table(seq).blocks


def text(name, length):
    return [(name, position) for position in range(length)]


def test_two_requests_share_a_beginning_and_the_order_of_reuse_is_tail_first_then_oldest_cached():
    manager = BlockManager(10, SIZE)
    shared = text("shared", 48)
    assert admit(manager, "A", shared + text("a", 7)) == (0, [1, 2, 3, 4])
    assert admit(manager, "B", shared + text("b", 5)) == (48, [1, 2, 3, 5])
    assert manager.pool.ref_counts[1:4] == [2, 2, 2]
    manager.free("A")
    manager.free("B")
    assert admit(manager, "C", shared + text("c", 6)) == (48, [1, 2, 3, 5])
    manager.free("C")
    assert admit(manager, "D", text("d", 160)) == (0, [5, 4, 6, 7, 8, 9, 10, 3, 2, 1])
    assert manager.cached_prefix(49, keys(shared)) == []


def test_unkeyed_blocks_are_handed_out_before_any_cached_one():
    manager = BlockManager(10, SIZE)
    a = text("a", 87)
    assert admit(manager, "A", a) == (0, [1, 2, 3, 4, 5, 6])
    assert admit(manager, "B", text("b", 48)) == (0, [7, 8, 9])
    manager.free("A")
    manager.free("B")
    assert admit(manager, "C", a[:35]) == (32, [1, 2, 6])
    assert manager.num_free_blocks == 7
    assert admit(manager, "D", text("d", 112)) == (0, [10, 5, 4, 3, 9, 8, 7])


@pytest.mark.parametrize("holder_ends_first", [True, False])
def test_a_refused_admission_leaves_the_counts_of_its_hits_as_they_were(holder_ends_first):
    manager = BlockManager(4, SIZE)
    a = text("a", 33)
    admit(manager, "A", a)
    if holder_ends_first:
        manager.free("A")
        admit(manager, "X", text("x", 17))
    counts = list(manager.pool.ref_counts)
    with pytest.raises(OutOfBlocks, match="new blocks"):
        manager.admit("B", 64, keys(a + text("b", 31)))
    assert manager.pool.ref_counts == counts
    assert "B" not in manager.sequences


def test_hits_are_kept_from_eviction_by_the_admission_that_needs_them():
    manager = BlockManager(4, SIZE)
    a = text("a", 48)
    admit(manager, "A", a)
    manager.free("A")  # cached, to be evicted in the order 3, 2, 1; block 4 is free
    assert admit(manager, "B", a[:32] + text("b", 32)) == (32, [1, 2, 4, 3])


def test_hits_that_are_free_now_do_not_count_as_room():
    manager = BlockManager(3, SIZE)
    a = text("a", 32)
    admit(manager, "A", a)
    manager.free("A")
    longer = a + text("more", 17)
    assert manager.can_admit(48, keys(longer[:48]))
    with pytest.raises(RequestTooLarge):
        manager.admit("B", 49, keys(longer))
    admit(manager, "X", text("x", 1))
    assert not manager.can_admit(48, keys(longer[:48]))


def test_a_prompt_that_is_cached_whole_still_computes_its_last_block():
    manager = BlockManager(4, SIZE)
    a = text("a", 32)
    admit(manager, "A", a)
    assert manager.admit("B", 32, keys(a)) == 16


def test_the_first_unknown_key_ends_the_hits():
    manager = BlockManager(8, SIZE)
    a = text("a", 64)
    admit(manager, "A", a)
    changed = keys(a)
    changed[1] = "something else"
    assert manager.cached_prefix(64, changed) == [1]


def test_when_two_blocks_hold_one_key_evicting_the_first_leaves_the_second():
    pool = BlockPool(2)
    pool.take(2)
    pool.set_keys([1], ["k"])
    pool.set_keys([2], ["k"])
    pool.release([1])
    assert pool.find(["k"]) == [1]
    pool.take(1)
    assert pool.find(["k"]) == [2]


def test_a_freed_block_stays_findable_until_it_is_handed_out_again():
    pool = BlockPool(1)
    pool.take(1)
    pool.set_keys([1], ["k"])
    pool.release([1])
    assert pool.num_cached([1]) == 1
    assert pool.find(["k"]) == [1]
    pool.take(1)
    assert pool.find(["k"]) == []
    assert pool.keys[1] is None


def test_a_new_block_is_taken_only_when_the_last_is_full():
    manager = BlockManager(3, 4)
    manager.admit("A", 3)
    for expected in [[1], [1, 2], [1, 2], [1, 2], [1, 2], [1, 2, 3]]:
        assert manager.append("A") is None
        assert manager.table("A").blocks == expected


def test_the_first_of_two_answers_to_write_copies_the_block_and_the_second_does_not():
    manager = BlockManager(4, 4)
    manager.admit("first", 6)
    manager.fork("first", "second")
    assert manager.pool.ref_counts[1:3] == [2, 2]
    assert manager.append("first") == (2, 3)
    assert manager.pool.ref_counts[1:4] == [2, 1, 1]
    assert manager.append("second") is None
    assert manager.table("first").entries() == [(1, 4), (3, 3)]
    assert manager.table("second").entries() == [(1, 4), (2, 3)]


def test_a_full_shared_block_is_never_copied():
    manager = BlockManager(4, 4)
    manager.admit("first", 4)
    manager.fork("first", "second")
    assert manager.append("first") is None
    assert manager.append("second") is None
    assert manager.table("second").blocks == [1, 3]


def test_an_append_that_needs_a_copy_and_finds_no_block_changes_nothing():
    manager = BlockManager(2, 4)
    manager.admit("first", 6)
    manager.fork("first", "second")
    with pytest.raises(OutOfBlocks, match="1 blocks wanted, 0 of 2 are free"):
        manager.append("first")
    assert manager.table("first").entries() == [(1, 4), (2, 2)]
    assert manager.pool.ref_counts == [0, 2, 2]


def test_the_watermark_is_kept_free_only_while_somebody_holds_memory():
    manager = BlockManager(10, 4, watermark=0.2)
    assert manager.can_admit(40)
    manager.admit("A", 4)
    assert manager.can_admit(28)
    assert not manager.can_admit(29)
    assert manager.append("A", 36) is None


def test_the_null_block_is_never_handed_out():
    pool = BlockPool(3)
    assert pool.take(3) == [1, 2, 3]
    with pytest.raises(DoubleFree):
        pool.release([0])


def test_one_block_twice_in_one_release_is_refused_whole():
    pool = BlockPool(3)
    pool.take(2)
    with pytest.raises(DoubleFree, match="nothing was released"):
        pool.release([2, 1, 1])
    assert pool.ref_counts == [0, 1, 1, 0]
    assert pool.num_free == 1


def test_a_block_named_twice_is_queued_once():
    pool = BlockPool(1)
    pool.take(1)
    pool.share([1])
    assert pool.release([1, 1]) == [1]
    assert pool.num_free == 1


@pytest.mark.parametrize("bad_key", [[], None])
def test_one_bad_key_among_good_ones_publishes_none(bad_key):
    manager = BlockManager(4, 4)
    manager.admit("A", 9)
    with pytest.raises(BadInput, match="key"):
        manager.publish("A", ["good", bad_key])
    manager.free("A")
    assert manager.cached_prefix(9, ["good"]) == []
    assert manager.num_free_blocks == 4
    with pytest.raises(BadInput, match="key"):
        manager.admit("B", 9, [bad_key])
    assert manager.num_free_blocks == 4


@pytest.mark.parametrize(
    "call",
    [
        lambda pool: pool.release([1, 99]),
        lambda pool: pool.share([1, 99]),
        lambda pool: pool.share([1, -1]),
        lambda pool: pool.share([1, 3]),
        lambda pool: pool.take(-1),
        lambda pool: pool.release([1, 1.5]),
        lambda pool: pool.set_keys([1, 2], ["a"]),
        lambda pool: pool.set_keys([1, 99], ["a", "b"]),
    ],
)
def test_a_block_that_is_not_here_or_free_is_refused_and_nothing_is_counted(call):
    pool = BlockPool(3)
    pool.take(2)
    with pytest.raises(BadInput):
        call(pool)
    assert pool.ref_counts == [0, 1, 1, 0]
    assert pool.num_free == 1


def test_the_answers_before_an_admission_refuse_what_it_refuses():
    manager = BlockManager(4, 4)
    for ask in (manager.can_admit, manager.check_fits, manager.blocks_for):
        for nothing in (0, -1, 1.0, True, "4"):
            with pytest.raises(BadInput, match="num_tokens is"):
                ask(nothing)


def test_a_refusal_tells_free_blocks_from_the_hits_among_them():
    manager = BlockManager(4, 4)
    manager.admit("A", 9)
    manager.publish("A", ["x", "y"])
    manager.free("A")
    manager.admit("B", 8)
    with pytest.raises(OutOfBlocks, match="of the 2 free ones 2 hold its own beginning and 0 are kept back"):
        manager.admit("C", 16, ["x", "y", "z"])


def test_a_table_holds_no_more_tokens_than_its_blocks():
    with pytest.raises(BadInput, match="12 tokens do not fit into the 2 blocks of 4"):
        BlockTable(4, [3, 9], 12)


def test_slots_of_positions_that_are_not_stored_are_refused():
    table = BlockTable(4, [7, 2], 5)
    for start, stop in ((-2, 2), (0, 6), (3, 2)):
        with pytest.raises(BadInput, match="the table has 5"):
            table.slots(start, stop)


def test_slots_follow_the_table_and_not_the_numbers_of_the_blocks():
    table = BlockTable(4, [7, 2], 6)
    assert table.slots(0, 6) == [28, 29, 30, 31, 8, 9]
    assert table.slots(3, 5) == [31, 8]
    assert table.entries() == [(7, 4), (2, 2)]
    assert table.room == 2


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda m: BlockManager(0, 16), BadConfig, "num_blocks is 0"),
        (lambda m: BlockManager(2.5, 16), BadConfig, "num_blocks is 2.5"),
        (lambda m: BlockManager(4, 0), BadConfig, "block_size is 0"),
        (lambda m: BlockManager(4, 16, watermark=1), BadConfig, "watermark is 1"),
        (lambda m: m.admit("B", 0), BadInput, "num_tokens is 0"),
        (lambda m: m.admit("B", True and 1.5), BadInput, "num_tokens is 1.5"),
        (lambda m: m.admit("A", 1), BadInput, "already holds memory"),
        (lambda m: m.admit("B", 65), RequestTooLarge, "65 tokens need 5 blocks of 16, the pool has 4"),
        (lambda m: m.append("A", -1), BadInput, "num_tokens is -1"),
        (lambda m: m.append("B"), UnknownSequence, "no sequence 'B'"),
        (lambda m: m.fork("B", "C"), UnknownSequence, "no sequence 'B'"),
        (lambda m: m.fork("A", "A"), BadInput, "already holds memory"),
        (lambda m: m.publish("A", ["k", "l"]), BadInput, "has 1 full blocks"),
        (lambda m: m.free("B"), UnknownSequence, "no sequence 'B'"),
        (lambda m: m.pool.set_keys([2], ["k"]), BadInput, "only a used block"),
    ],
)
def test_bad_input_is_named_and_changes_nothing(call, error, words):
    manager = BlockManager(4, 16)
    manager.admit("A", 20)
    manager.free("A")
    manager.admit("A", 16)
    with pytest.raises(error, match=words):
        call(manager)
    assert manager.table("A").entries() == [(1, 16)]
    assert manager.num_free_blocks == 3


def test_one_call_appends_for_all_that_decode_as_far_as_the_blocks_go():
    manager = BlockManager(4, 4)
    manager.admit("A", 6)
    manager.fork("A", "B")
    manager.admit("C", 4)
    assert manager.append_each(["A", "B", "C"]) == [(2, 4), None]  # A copies, B writes in place, C finds no block
    assert [manager.table(seq).num_tokens for seq in "ABC"] == [7, 7, 4]
    manager.free("A")
    assert manager.append_each(["C"]) == [None]
    with pytest.raises(UnknownSequence, match="no sequence 'A'"):
        manager.append_each(["A"])
