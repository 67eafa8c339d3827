"""The radix tree against a model so naive that it cannot be wrong: a dict from every cached beginning to a block.

KVBOOK_EXAMPLES sets how many runs are tried; the default is what the test command uses.
"""

import os

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kvlib.errors import DoubleFree, OutOfBlocks
from kvlib.memory.radix import RadixCache

from .trees import check, content, nodes

some_pages = st.lists(st.integers(0, 1), max_size=9)  # two symbols, so that beginnings are often equal


class Tree(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.tree = RadixCache()
        self.blocks = {}  # beginning -> block
        self.last_use = {}  # beginning -> when it or what continues it was used last
        self.locked = []  # (beginning, node), one for each lock
        self.now = self.num_blocks = 0

    def known(self, pages):
        """The longest cached beginning of `pages`."""
        return max((b for b in [(), *self.blocks] if b == tuple(pages[: len(b)])), key=len)

    def use(self, beginning):
        self.now += 1
        self.last_use.update((beginning[:stop], self.now) for stop in range(1, len(beginning) + 1))

    def blocks_of(self, beginning):
        return [self.blocks[beginning[:stop]] for stop in range(1, len(beginning) + 1)]

    def is_free(self, beginning):
        return not any(locked[: len(beginning)] == beginning for locked, _ in self.locked)

    def insert(self, start, pages, after):
        whole = start + tuple(pages)
        new = list(range(self.num_blocks, self.num_blocks + len(pages)))
        self.num_blocks += len(pages)
        num_known = max(0, len(self.known(whole)) - len(start))
        self.blocks.update((whole[: len(start) + i + 1], new[i]) for i in range(num_known, len(pages)))
        inserted = self.tree.insert(pages, new, after)
        self.use(whole)
        assert inserted.blocks == self.blocks_of(whole)[len(start) :]
        assert inserted.num_known == num_known
        assert inserted.node.stop == len(whole)

    @rule(pages=some_pages)
    def insert_below_the_root(self, pages):
        self.insert((), pages, None)

    @precondition(lambda self: self.locked)
    @rule(data=st.data(), pages=some_pages)
    def insert_after_a_locked_node_and_move_the_lock_there(self, data, pages):
        place = data.draw(st.integers(0, len(self.locked) - 1))
        start, node = self.locked[place]
        self.insert(start, pages, node)
        match = self.tree.match_prefix([*start, *pages])
        self.use(start + tuple(pages))
        self.tree.lock(match.node, above=node)
        self.locked[place] = (start + tuple(pages), match.node)

    @rule(pages=some_pages)
    def find(self, pages):
        assert self.tree.find(pages) == self.blocks_of(self.known(pages))

    @rule(pages=some_pages, locks=st.booleans())
    def match_and_perhaps_lock(self, pages, locks):
        match, known = self.tree.match_prefix(pages), self.known(pages)
        self.use(known)
        assert match.blocks == self.blocks_of(known)
        if locks:
            self.tree.lock(match.node)
            self.locked.append((known, match.node))

    @precondition(lambda self: self.locked)
    @rule(data=st.data())
    def unlock(self, data):
        beginning, node = self.locked.pop(data.draw(st.integers(0, len(self.locked) - 1)))
        self.tree.unlock(node)
        self.use(beginning)
        if beginning and self.is_free(beginning):
            with pytest.raises(DoubleFree, match="no lock to give back"):
                self.tree.unlock(node)

    @rule(num=st.integers(0, 6))
    def evict(self, num):
        if num > sum(map(self.is_free, self.blocks)):
            before = content(self.tree)
            with pytest.raises(OutOfBlocks, match=f"{num} blocks are to be evicted"):
                self.tree.evict(num)
            assert content(self.tree) == before
            return
        assert self.tree.evict(num) == [self.evict_one() for _ in range(num)]

    def evict_one(self):
        ends = [b for b in self.blocks if not any(c[:-1] == b for c in self.blocks) and self.is_free(b)]
        oldest = min(ends, key=self.last_use.__getitem__)
        return self.blocks.pop(oldest)

    @invariant()
    def it_holds_what_the_model_holds(self):
        check(self.tree)
        assert content(self.tree) == self.blocks
        assert not any(block in self.tree for block in set(range(self.num_blocks)) - set(self.blocks.values()))

    @invariant()
    def a_lock_is_counted_on_the_path_to_its_node_and_nowhere_else(self):
        path_to = {id(node): path for node, path in nodes(self.tree)}
        for beginning, node in self.locked:
            assert path_to.get(id(node), ()) == beginning
        for node, path in nodes(self.tree):
            assert node.num_locks == sum(beginning[: len(path)] == path for beginning, _ in self.locked)

    def teardown(self):
        for _, node in self.locked:
            self.tree.unlock(node)
        assert self.tree.num_protected == 0
        assert sorted(self.tree.evict(len(self.blocks))) == sorted(self.blocks.values())
        assert not self.tree.root.children


TestTree = Tree.TestCase
TestTree.settings = settings(
    max_examples=int(os.environ.get("KVBOOK_EXAMPLES", "200")), stateful_step_count=30, deadline=None
)
