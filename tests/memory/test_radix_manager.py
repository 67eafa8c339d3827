"""Small memories that one can follow by hand, many of them faults that were reported elsewhere."""

import pytest

from kvlib.errors import BadConfig, BadInput, BlocksInUse, OutOfBlocks, RequestTooLarge, UnknownSequence
from kvlib.memory.radix_manager import RadixManager

from .trees import check, content, runs


def compute(manager, seq, text):
    """Admit a request and publish its prompt, a letter a token -> (tokens found in the cache, its blocks)."""
    size = manager.block_size
    keys = [text[start : start + size] for start in range(0, len(text) - size + 1, size)]
    num_cached = manager.admit(seq, len(text), keys)
    manager.publish(seq, keys)
    return num_cached, manager.table(seq).blocks


def test_two_requests_share_a_beginning_and_the_order_of_reuse_is_that_of_the_block_manager():
    manager, shared = RadixManager(10, 16), "s" * 48
    assert compute(manager, "A", shared + "a" * 7) == (0, [1, 2, 3, 4])
    assert compute(manager, "B", shared + "b" * 5) == (48, [1, 2, 3, 5])
    manager.free("A")
    manager.free("B")
    assert compute(manager, "C", shared + "c" * 6) == (48, [1, 2, 3, 5])
    manager.free("C")
    assert compute(manager, "D", "d" * 160) == (0, [5, 4, 6, 7, 8, 9, 10, 3, 2, 1])


def test_with_one_token_a_block_every_common_token_is_shared():
    manager = RadixManager(10)
    assert compute(manager, "A", "the cat") == (0, [1, 2, 3, 4, 5, 6, 7])
    assert compute(manager, "B", "the cow") == (5, [1, 2, 3, 4, 5, 8, 9])


def test_duplicates_are_freed_and_no_table_names_them_any_more():
    """sgl-project/mini-sglang#142: duplicates were freed while the running request's table still named them."""
    manager = RadixManager(12, 2)
    for seq in "AB":  # admitted together: neither can find the other's blocks
        manager.admit(seq, 5, ["ab", "cd"])
    manager.fork("B", "C")
    manager.publish("A", ["ab", "cd"])
    manager.publish("B", ["ab", "cd"])
    assert manager.table("A").blocks == [1, 2, 3]
    assert manager.table("B").blocks == manager.table("C").blocks == [1, 2, 6]
    assert manager.num_free_blocks == 12 - 4
    manager.publish("C", ["ab", "cd"])
    assert manager.pool.ref_counts[1:7] == [4, 4, 1, 0, 0, 2]


def test_a_fork_that_parted_early_shares_what_is_published_up_to_there():
    manager = RadixManager(12)
    manager.admit("A", 2)
    manager.fork("A", "B")
    manager.append("A", 2)
    manager.append("B", 1)
    manager.publish("A", "abcd")
    manager.free("A")
    assert manager.tree.num_protected == 2  # for B
    manager.admit("X", 9)  # everything that is free
    assert manager.table("B").blocks == [1, 2, 5]
    assert manager.tree.find("abcd") == [1, 2]


def test_a_fork_that_parted_inside_the_duplicates_gives_its_own_part_back():
    manager = RadixManager(12)
    compute(manager, "A", "abc")
    manager.admit("B", 3)
    manager.fork("B", "C", 1)
    manager.publish("B", "abc")
    assert [manager.table(seq).blocks for seq in "ABC"] == [[1, 2, 3], [1, 2, 3], [1]]
    assert manager.pool.ref_counts[1:7] == [4, 3, 3, 0, 0, 0]
    manager.free("A")
    manager.free("B")
    assert manager.tree.num_protected == 1  # for C


def test_a_fork_of_the_first_blocks_protects_those():
    manager = RadixManager(8)
    compute(manager, "A", "abcd")
    manager.fork("A", "B", 2)
    manager.free("A")
    assert (manager.tree.num_protected, manager.num_free_blocks) == (2, 6)


def test_free_evictable_and_protected_are_the_pool_whatever_happens():
    """sgl-project/sglang#11970, #6888: their sum differed from the pool's size."""
    manager = RadixManager(20, 2)
    steps = [
        lambda: compute(manager, "A", "abcdefg"),
        lambda: compute(manager, "B", "abcdxyz"),
        lambda: manager.fork("B", "C"),
        lambda: manager.append("C", 4),
        lambda: manager.publish("C", ["ab", "cd", "xy", "zp", "qr"]),
        lambda: manager.free("A"),
        lambda: manager.free("C"),
        lambda: compute(manager, "D", "abcdefghij" * 2),
        lambda: manager.free("B"),
        lambda: manager.free("D"),
    ]
    for step in steps:
        step()
        check(manager.tree)
        named = {block for seq in manager.sequences for block in manager.table(seq).blocks}
        not_published = {block for block in named if block not in manager.tree}
        unused = manager.pool.ref_counts[1:].count(0)
        assert unused + manager.tree.num_evictable + manager.tree.num_protected + len(not_published) == 20
    assert manager.num_free_blocks == 20


def test_a_slot_is_given_back_on_one_path_only():
    """sgl-project/sglang-jax#982: the last slot was freed as a duplicate and again with its request."""
    manager = RadixManager(8)
    for seq in "AB":
        manager.admit(seq, 3)
        manager.publish(seq, "abc")
        manager.append(seq)
        manager.publish(seq, "abcd")
    assert manager.table("B").blocks == [1, 2, 3, 4]
    for seq in "AB":
        manager.free(seq)
    assert manager.pool.ref_counts == [0, 1, 1, 1, 1, 0, 0, 0, 0]
    manager.admit("X", 8)
    assert sorted(manager.table("X").blocks) == [1, 2, 3, 4, 5, 6, 7, 8]


def test_a_request_shorter_than_a_block_publishes_nothing_and_leaves_nothing():
    """sgl-project/sglang#10637: a key that rounds to nothing, its sizes counted by key here and by value there."""
    manager = RadixManager(4, 4)
    assert compute(manager, "A", "abc") == (0, [1])
    assert len(content(manager.tree)) == manager.tree.num_protected == 0
    manager.free("A")
    assert manager.pool.ref_counts == [0] * 5


def test_hits_are_kept_from_eviction_by_the_admission_that_needs_them():
    """vllm-project/vllm#10507, #33775: blocks were taken before the hits were touched, and evicted a hit."""
    manager = RadixManager(4)
    compute(manager, "A", "abc")
    manager.free("A")
    assert compute(manager, "B", "abxy") == (2, [1, 2, 4, 3])


def test_a_refused_admission_leaves_no_lock_no_split_and_no_age():
    """sgl-project/sglang#16067: a slot leaked when scheduling failed after the match."""
    manager = RadixManager(6)
    compute(manager, "A", "xy")
    manager.free("A")
    compute(manager, "B", "ab")
    manager.free("B")
    compute(manager, "C", "p")
    with pytest.raises(OutOfBlocks, match="needs 5 new blocks; of the 5 free ones 1 hold its own beginning"):
        manager.admit("D", 6, "xpqrst")
    assert runs(manager.tree) == ["ab", "p", "xy"]
    assert manager.tree.num_protected == 1
    assert manager.tree.evict(1) == [2]


def test_a_prompt_that_is_cached_whole_still_computes_its_last_block():
    """GeeeekExplorer/nano-vllm#144: zero tokens were left to compute."""
    manager = RadixManager(8, 2)
    compute(manager, "A", "abcd")
    assert compute(manager, "B", "abcd") == (2, [1, 2])
    assert manager.num_free_blocks == 6


def test_what_was_not_published_is_gone_with_its_request():
    """sgl-project/sglang retracts a request without publishing: its blocks must not be found."""
    manager = RadixManager(8, 2)
    manager.admit("A", 6, ["ab", "cd", "ef"])
    manager.publish("A", ["ab"])
    manager.free("A")
    assert manager.cached_prefix(7, ["ab", "cd", "ef"]) == [1]


def test_a_preempted_request_finds_its_own_blocks_again():
    manager = RadixManager(8, 2)
    compute(manager, "A", "abcdef")
    manager.free("A")
    assert manager.admit("A", 7, ["ab", "cd", "ef"]) == 6


def test_after_a_reset_nothing_is_found_and_it_is_refused_while_a_block_is_used():
    """vllm-project/vllm#9744: the weights were updated, and old keys and values still served."""
    manager = RadixManager(4, 2)
    compute(manager, "A", "abcd")
    with pytest.raises(BlocksInUse, match="2 blocks are in use"):
        manager.reset_cache()
    manager.free("A")
    manager.reset_cache()
    assert manager.cached_prefix(5, ["ab", "cd"]) == []
    assert manager.num_free_blocks == 4


def test_the_first_of_two_answers_to_write_copies_the_block_and_the_second_does_not():
    manager = RadixManager(4, 4)
    compute(manager, "first", "abcdef")
    manager.fork("first", "second")
    assert manager.append("first") == (2, 3)
    assert manager.append("second") is None
    assert manager.table("second").entries() == [(1, 4), (2, 3)]


def test_bad_calls_are_refused_and_change_nothing():
    manager = RadixManager(4, 2)
    compute(manager, "A", "abc")
    calls = [
        (BadInput, "already holds memory", lambda: manager.admit("A", 2)),
        (BadInput, "num_tokens is 0", lambda: manager.admit("B", 0)),
        (BadInput, "cannot be looked up", lambda: manager.admit("B", 5, [[], "cd"])),
        (RequestTooLarge, "9 tokens need 5 blocks", lambda: manager.admit("B", 9)),
        (BadInput, "2 keys given, sequence 'A' has 1 full blocks", lambda: manager.publish("A", ["ab", "cd"])),
        (BadInput, "already holds memory", lambda: manager.fork("A", "A")),
        (UnknownSequence, "no sequence 'B'", lambda: manager.free("B")),
        (UnknownSequence, "no sequence 'B'", lambda: manager.fork("B", "C")),
        (UnknownSequence, "no sequence 'B'", lambda: manager.publish("B", ["ab"])),
    ]
    for error, words, call in calls:
        with pytest.raises(error, match=words):
            call()
    manager.append("A", 1)
    for bad in ([], None):
        with pytest.raises(BadInput, match="key"):
            manager.publish("A", ["ab", bad])
    assert manager.sequences == ["A"]
    assert manager.num_free_blocks == 2
    assert content(manager.tree) == {("ab",): 1}
    with pytest.raises(BadConfig, match="watermark is 1"):
        RadixManager(4, watermark=1)
    with pytest.raises(BadConfig, match="num_blocks is 0"):
        RadixManager(0)
