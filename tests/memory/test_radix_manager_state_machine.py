"""The radix manager against a model that remembers every token of every sequence, and what each slot must hold.

KVBOOK_EXAMPLES sets how many runs are tried; the default is what the test command uses.
"""

import os

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from kvlib.errors import BlocksInUse, OutOfBlocks, RequestTooLarge, UnknownSequence
from kvlib.memory.pages import Pages
from kvlib.memory.prefix import PrefixHasher
from kvlib.memory.radix_manager import RadixManager

from .trees import check, content, nodes

tokens = st.lists(st.integers(0, 1), min_size=1, max_size=14)  # two symbols, so that beginnings are often equal


class Memory(RuleBasedStateMachine):
    sequences = Bundle("sequences")

    @initialize(
        num_blocks=st.integers(1, 40),
        block_size=st.integers(1, 3),
        watermark=st.sampled_from([0.0, 0.3]),
        keys=st.sampled_from([Pages, PrefixHasher]),
    )
    def start(self, num_blocks, block_size, watermark, keys):
        self.manager = RadixManager(num_blocks, block_size, watermark=watermark)
        self.new_keys = keys(block_size).start
        self.texts = {}  # sequence -> its tokens
        self.keys = {}  # sequence -> its keys
        self.users = {}  # sequence -> its extra key
        self.slots = {}  # slot -> the extra key and all tokens up to the one stored there
        self.cached = {}  # every published beginning, as the tuple of its keys -> what its last block holds
        self.next_id = 0

    def what_is_stored(self, user, text):
        return [(user, *text[: end + 1]) for end in range(len(text))]

    def write(self, seq, start):
        stored = self.what_is_stored(self.users[seq], self.texts[seq])[start:]
        self.slots.update(zip(self.manager.table(seq).slots(start, len(self.texts[seq])), stored))

    def snapshot(self):
        manager, tree = self.manager, self.manager.tree
        tables = {seq: (list(table.blocks), table.num_tokens, table.num_keyed) for seq, table in self.tables()}
        ages = [(path, node.blocks, node.num_locks, node.last_use) for node, path in nodes(tree)]
        return tables, list(manager.pool.ref_counts), manager.num_free_blocks, ages

    def tables(self):
        return [(seq, self.manager.table(seq)) for seq in self.manager.sequences]

    def new_sequence(self, text, user):
        self.next_id += 1
        seq = f"s{self.next_id}"
        self.texts[seq], self.users[seq] = list(text), user
        self.keys[seq] = self.new_keys(**({"salt": user} if user else {}))
        self.keys[seq].extend(text)
        return seq

    def note_evictions(self, num_unused, new_blocks):
        """Of `new_blocks`, only those beyond the unused ones came out of the cache, and out of it they are."""
        held = content(self.manager.tree)
        gone = [beginning for beginning in self.cached if beginning not in held]
        assert len(gone) == max(0, len(new_blocks) - num_unused)
        for beginning in gone:
            del self.cached[beginning]

    def num_unused(self):
        return sum(count == 0 for count in self.manager.pool.ref_counts[1:])

    @rule(target=sequences, text=tokens, user=st.sampled_from(["", "x"]), cached=st.booleans())
    def admit(self, text, user, cached):
        seq, before, num_unused = self.new_sequence(text, user), self.snapshot(), self.num_unused()
        keys = self.keys[seq].keys if cached else []
        possible = self.manager.can_admit(len(text), keys)
        hits = self.manager.cached_prefix(len(text), keys)
        assert self.snapshot() == before
        size = self.manager.block_size
        usable = keys[: (len(text) - 1) // size]
        assert len(hits) == max(n for n in range(len(usable) + 1) if n == 0 or tuple(usable[:n]) in self.cached)
        try:
            num_cached = self.manager.admit(seq, len(text), keys)
        except (OutOfBlocks, RequestTooLarge):
            assert not possible
            assert self.snapshot() == before
            del self.texts[seq]
            return multiple()
        assert possible
        assert num_cached == len(hits) * size < len(text)
        blocks = self.manager.table(seq).blocks
        assert blocks[: len(hits)] == hits
        self.note_evictions(num_unused, blocks[len(hits) :])
        self.write(seq, num_cached)
        return seq

    @rule(seq=sequences, more=tokens)
    def append(self, seq, more):
        before, num_unused = self.snapshot(), self.num_unused()
        named = list(self.manager.table(seq).blocks)
        try:
            copy = self.manager.append(seq, len(more))
        except OutOfBlocks:
            assert self.snapshot() == before
            return
        size = self.manager.block_size
        if copy:
            source, target = copy
            self.slots.update({target * size + i: self.slots.get(source * size + i) for i in range(size)})
        self.note_evictions(num_unused, [block for block in self.manager.table(seq).blocks if block not in named])
        start = len(self.texts[seq])
        self.texts[seq] += more
        self.keys[seq].extend(more)
        self.write(seq, start)

    @rule(target=sequences, parent=sequences, data=st.data())
    def fork(self, parent, data):
        full = len(self.texts[parent]) // self.manager.block_size
        num_blocks = data.draw(st.none() | st.integers(0, full))
        stop = None if num_blocks is None else num_blocks * self.manager.block_size
        child = self.new_sequence(self.texts[parent][:stop], self.users[parent])
        self.manager.fork(parent, child, num_blocks)
        return child

    @rule(seq=sequences, data=st.data())
    def publish(self, seq, data):
        keys = self.keys[seq].keys[: data.draw(st.integers(0, len(self.keys[seq].keys)))]
        self.manager.publish(seq, keys)
        size, stored = self.manager.block_size, self.what_is_stored(self.users[seq], self.texts[seq])
        for stop in range(1, len(keys) + 1):
            self.cached.setdefault(tuple(keys[:stop]), stored[(stop - 1) * size : stop * size])

    @rule(seq=consumes(sequences))
    def free(self, seq):
        self.manager.free(seq)
        del self.texts[seq]
        with pytest.raises(UnknownSequence):
            self.manager.free(seq)

    @rule()
    def reset_cache(self):
        if any(self.manager.table(seq).blocks for seq in self.texts):
            with pytest.raises(BlocksInUse):
                self.manager.reset_cache()
        else:
            self.manager.reset_cache()
            self.cached.clear()

    @invariant()
    def the_tree_holds_what_was_published_and_not_evicted(self):
        check(self.manager.tree)
        held, size = content(self.manager.tree), self.manager.block_size
        assert {beginning: [self.slots[b * size + i] for i in range(size)] for beginning, b in held.items()} == (
            self.cached
        )

    @invariant()
    def reading_through_the_table_gives_the_sequence_back(self):
        for seq, text in self.texts.items():
            table = self.manager.table(seq)
            stored = [self.slots[slot] for slot in table.slots(0, table.num_tokens)]
            assert stored == self.what_is_stored(self.users[seq], text)

    @invariant()
    def a_count_is_the_tables_that_name_the_block_and_one_for_the_tree(self):
        named = [block for _, table in self.tables() for block in table.blocks]
        owners = named + list(content(self.manager.tree).values())
        counts = self.manager.pool.ref_counts
        assert counts == [owners.count(block) for block in range(len(counts))]
        assert self.manager.num_free_blocks == self.manager.pool.num_blocks - len(set(named))

    @invariant()
    def what_a_table_has_from_the_tree_is_locked_and_the_rest_is_not_in_it(self):
        tree = self.manager.tree
        locked = {block for node, _ in nodes(tree) if node.num_locks for block in node.blocks}
        named = {block for _, table in self.tables() for block in table.blocks[: table.num_keyed]}
        assert locked == named
        assert not any(block in tree for _, table in self.tables() for block in table.blocks[table.num_keyed :])

    def teardown(self):
        if not hasattr(self, "manager"):
            return
        for seq in list(self.texts):
            self.manager.free(seq)
        assert self.manager.num_free_blocks == self.manager.pool.num_blocks
        assert self.manager.tree.num_protected == 0
        self.manager.reset_cache()
        assert self.manager.pool.ref_counts == [0] * (self.manager.pool.num_blocks + 1)


TestMemory = Memory.TestCase
TestMemory.settings = settings(
    max_examples=int(os.environ.get("KVBOOK_EXAMPLES", "200")), stateful_step_count=30, deadline=None
)
