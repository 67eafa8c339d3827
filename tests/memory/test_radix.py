"""Small trees that one can follow by hand, many of them faults that were reported elsewhere."""

import pytest

from kvlib.errors import BadInput, DoubleFree, OutOfBlocks
from kvlib.memory.radix import RadixCache

from .trees import check, content, nodes, runs


def grown(*texts):
    """A tree that was given these texts, a letter a page, in blocks 1, 2, 3 and so on."""
    tree, next_block = RadixCache(), 1
    for text in texts:
        tree.insert(text, list(range(next_block, next_block + len(text))))
        next_block += len(text)
    return tree


def test_two_texts_share_the_run_they_begin_with():
    tree = grown("abcd", "abxy")
    assert runs(tree) == ["ab", "cd", "xy"]
    assert tree.find("abxyz") == [1, 2, 7, 8]
    assert tree.find("b") == []


def test_a_match_that_ends_inside_a_run_splits_it_there():
    tree = grown("abcd")
    match = tree.match_prefix("abx")
    assert match.blocks == [1, 2]
    assert match.node.stop == 2
    assert runs(tree) == ["ab", "cd"]


def test_finding_does_not_split_and_does_not_make_younger():
    tree = grown("ab", "xy")
    tree.find("a")
    assert runs(tree) == ["ab", "xy"]
    assert tree.evict(2) == [2, 1]


def test_what_was_used_longest_ago_is_evicted_first_from_its_end_on():
    tree = grown("abc", "xyz")
    tree.match_prefix("abc")
    assert tree.evict(2) == [6, 5]
    assert tree.evict(2) == [4, 3]
    assert tree.find("abc") == [1, 2]


def test_a_parent_goes_after_its_last_child_and_what_is_younger_after_both():
    tree = grown("ab", "abcd", "xy")  # blocks 1 and 2, below them 5 and 6; then 7 and 8
    tree.match_prefix("abcd")
    assert tree.evict(3) == [8, 7, 6]
    tree.insert("pq", [20, 21])
    assert tree.evict(4) == [5, 2, 1, 21]


def test_a_parent_that_was_used_after_its_children_outlives_what_is_older():
    tree = grown("abcd", "xy")
    tree.match_prefix("ab")
    assert tree.evict(5) == [4, 3, 6, 5, 2]


def test_a_locked_path_outlives_every_eviction():
    tree = grown("abcd", "abxy")
    node = tree.match_prefix("abcd").node
    tree.lock(node)
    assert (tree.num_evictable, tree.num_protected) == (2, 4)
    assert tree.evict(2) == [8, 7]
    with pytest.raises(OutOfBlocks, match="1 blocks are to be evicted, 0 have no lock and 4 have one"):
        tree.evict(1)
    tree.unlock(node)
    assert tree.evict(4) == [4, 3, 2, 1]


def test_a_lock_moves_down_and_protects_each_run_once():
    tree = grown("ab", "abcd")
    upper, lower = tree.match_prefix("ab").node, tree.match_prefix("abcd").node
    tree.lock(upper)
    tree.lock(lower, above=upper)
    assert [node.num_locks for node, _ in nodes(tree)] == [1, 1]
    tree.unlock(lower)
    assert tree.num_protected == 0


def test_nothing_known_is_the_root_and_the_root_needs_no_lock():
    tree = RadixCache()
    match = tree.match_prefix("abc")
    assert match.blocks == []
    tree.lock(match.node)
    tree.unlock(match.node)
    assert (tree.num_evictable, tree.num_protected) == (0, 0)
    assert tree.evict(0) == []


def test_locking_a_match_protects_the_match():
    """sgl-project/mini-sglang#46: the handle kept the root, so locking locked nothing."""
    tree = grown("abcd")
    tree.lock(tree.match_prefix("ab").node)
    assert tree.num_protected == 2
    assert tree.evict(2) == [4, 3]
    assert tree.find("abcd") == [1, 2]


def test_both_halves_of_a_split_keep_the_locks_and_the_age():
    """sgl-project/mini-sglang#124: a split prefix kept the age it had long before, and was evicted early."""
    tree = grown("abcd")
    lower = tree.match_prefix("abcd").node
    tree.lock(lower)
    tree.lock(lower)
    tree.insert("abxy", [5, 6, 7, 8])
    upper = lower.parent
    assert (upper.blocks, upper.num_locks, upper.last_use) == ([1, 2], 2, lower.last_use)
    assert (lower.blocks, lower.num_locks) == ([3, 4], 2)
    tree.unlock(lower)
    tree.unlock(lower)
    assert tree.num_protected == 0


def test_an_eviction_takes_as_many_as_are_asked_for_and_no_more():
    """sgl-project/sglang#4987: the loop never counted what it had evicted, and emptied the tree."""
    tree = grown("abcdefgh", "xyz")
    assert tree.evict(1) == [8]
    assert tree.num_evictable == 10
    check(tree)


def test_a_block_is_in_one_place_only():
    """sgl-project/sglang#35270: the same pages were counted under two nodes."""
    tree = grown("ab")
    for pages, blocks in (("xy", [2, 9]), ("abc", [7, 8, 1]), ("xy", [9, 9])):
        with pytest.raises(BadInput, match="in the tree twice"):
            tree.insert(pages, blocks)
    assert content(tree) == {("a",): 1, ("a", "b"): 2}
    check(tree)


def test_a_leaf_that_only_its_owner_locked_grows_and_one_that_others_locked_gets_a_child():
    tree = grown("ab")
    node = tree.match_prefix("ab").node
    tree.lock(node)
    assert tree.insert("cd", [3, 4], after=node).node is node
    assert (runs(tree), tree.num_protected) == (["abcd"], 4)
    tree.lock(node)
    assert tree.insert("ef", [5, 6], after=node).node is not node
    assert (runs(tree), tree.num_protected, tree.num_evictable) == (["abcd", "ef"], 4, 2)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda node: setattr(node, "num_locks", 1),
        lambda node: setattr(node, "stop", 9),
        lambda node: setattr(node, "pages", ["q", "r"]),
        lambda node: node.blocks.pop(),
        lambda node: node.blocks.__setitem__(0, 1),
        lambda node: node.blocks.__setitem__(0, 99),
    ],
)
def test_the_check_of_these_tests_sees_a_spoilt_tree(spoil):
    """sgl-project/mini-sglang#149: the integrity check did nothing."""
    tree = grown("ab", "abcd")
    check(tree)
    spoil(tree.match_prefix("abcd").node)
    with pytest.raises(AssertionError):
        check(tree)


def test_calls_that_make_no_sense_are_refused_and_change_nothing():
    tree = grown("abcd")
    gone = tree.match_prefix("abcd").node
    with pytest.raises(DoubleFree, match="no lock to give back"):
        tree.unlock(gone)
    with pytest.raises(BadInput, match="3 pages and 2 blocks"):
        tree.insert("xyz", [8, 9])
    for pages in (["x", []], [["x"], "y"]):
        with pytest.raises(BadInput, match="cannot be looked up"):
            tree.insert(pages, [8, 9])
    with pytest.raises(BadInput, match="cannot be looked up"):
        tree.find([[]])
    with pytest.raises(BadInput, match="num is -1"):
        tree.evict(-1)
    with pytest.raises(BadInput, match="is not on the path"):
        tree.lock(gone, above=RadixCache().match_prefix("x").node)
    assert content(tree) == {("a",): 1, ("a", "b"): 2, ("a", "b", "c"): 3, ("a", "b", "c", "d"): 4}
    tree.evict(4)
    for call in (lambda: tree.lock(gone), lambda: tree.insert("x", [9], after=gone)):
        with pytest.raises(BadInput, match="was evicted"):
            call()
