"""The block manager against a model so naive that it cannot be wrong: it remembers every token of every sequence.

The invariants are those that block managers elsewhere were reported to break. KVBOOK_EXAMPLES sets how many
runs are tried; the default is what the test command uses.
"""

import os

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from kvlib.errors import BlocksInUse, OutOfBlocks, RequestTooLarge, UnknownSequence
from kvlib.events import EventLog
from kvlib.memory import NULL_BLOCK, RecordedBlockManager
from kvlib.show.board import Board

tokens = st.lists(st.integers(0, 1), min_size=1, max_size=14)  # two symbols, so that beginnings are often equal


class Memory(RuleBasedStateMachine):
    sequences = Bundle("sequences")

    @initialize(
        num_blocks=st.integers(1, 9),
        block_size=st.integers(1, 4),
        num_host_blocks=st.integers(0, 9),
        watermark=st.sampled_from([0.0, 0.3]),
    )
    def start(self, num_blocks, block_size, num_host_blocks, watermark):
        self.log = EventLog()
        self.manager = RecordedBlockManager(
            num_blocks, block_size, self.log, num_host_blocks=num_host_blocks, watermark=watermark
        )
        self.board, self.num_seen = Board(self.log), 0
        self.texts = {}  # sequence -> its tokens
        self.slots = {}  # slot -> the token written there last
        self.host_slots = {}
        self.swapped = set()
        self.computed = set()  # keys that were published
        self.next_id = 0

    def keys_of(self, text):
        size = self.manager.block_size
        return [tuple(text[: end + size]) for end in range(0, len(text) - size + 1, size)]

    def write(self, seq, start):
        slots = self.manager.table(seq).slots(start, len(self.texts[seq]))
        self.slots.update(zip(slots, self.texts[seq][start:]))

    def snapshot(self):
        pool = self.manager.pool
        tables = {seq: (list(t.blocks), t.num_tokens) for seq, t in self.manager._tables.items()}
        host = {seq: (list(t.blocks), t.num_tokens) for seq, t in self.manager._host_tables.items()}
        host_pool = self.manager.host_pool
        pools = [[list(p.ref_counts), list(p.keys), list(p._free), list(p._cached)] for p in (pool, host_pool)]
        return tables, host, pools

    def new_id(self):
        self.next_id += 1
        return f"s{self.next_id}"

    @rule(target=sequences, text=tokens, cached=st.booleans())
    def admit(self, text, cached):
        seq, before = self.new_id(), self.snapshot()
        keys = self.keys_of(text) if cached else []
        possible = self.manager.can_admit(len(text), keys)
        try:
            num_cached = self.manager.admit(seq, len(text), keys)
        except RequestTooLarge:
            assert self.manager.blocks_for(len(text)) > self.manager.pool.num_blocks
            assert self.snapshot() == before
            return multiple()
        except OutOfBlocks:
            assert not possible
            assert self.snapshot() == before
            return multiple()
        assert possible
        assert num_cached < len(text)
        assert num_cached % self.manager.block_size == 0
        assert cached or num_cached == 0
        self.texts[seq] = list(text)
        self.write(seq, num_cached)
        if cached:
            self.manager.publish(seq, keys)
            self.computed.update(keys)
        return seq

    @rule(seq=sequences, more=tokens)
    def append(self, seq, more):
        before = self.snapshot()
        if seq in self.swapped:
            with pytest.raises(UnknownSequence):
                self.manager.append(seq, len(more))
            return
        possible = self.manager.can_append([seq])
        try:
            copy = self.manager.append(seq, len(more))
        except OutOfBlocks:
            assert len(more) > 1 or not possible
            assert self.snapshot() == before
            return
        assert possible
        size = self.manager.block_size
        if copy:
            source, target = copy
            self.slots.update({target * size + i: self.slots.get(source * size + i) for i in range(size)})
        start = len(self.texts[seq])
        self.texts[seq] += more
        self.write(seq, start)

    @rule(seqs=st.lists(sequences, min_size=1, max_size=3, unique=True), token=st.integers(0, 1))
    def append_each(self, seqs, token):
        here = [seq for seq in seqs if seq not in self.swapped]
        possible = self.manager.can_append(here)
        copies = self.manager.append_each(here)
        assert (len(copies) == len(here)) == possible
        size = self.manager.block_size
        for seq, copy in zip(here, copies):
            if copy:
                source, target = copy
                self.slots.update({target * size + i: self.slots.get(source * size + i) for i in range(size)})
            self.texts[seq].append(token)
            self.write(seq, len(self.texts[seq]) - 1)

    @rule(target=sequences, parent=sequences, part=st.one_of(st.none(), st.floats(0, 1)))
    def fork(self, parent, part):
        if parent in self.swapped:
            return multiple()
        child, size = self.new_id(), self.manager.block_size
        num_blocks = None if part is None else round(part * (len(self.texts[parent]) // size))
        if num_blocks == 0:
            return multiple()
        self.manager.fork(parent, child, num_blocks)
        self.texts[child] = self.texts[parent][: None if part is None else num_blocks * size]
        return child

    @rule(seqs=st.lists(sequences, min_size=1, max_size=3, unique=True))
    def swap_out(self, seqs):
        before = self.snapshot()
        seqs = [seq for seq in seqs if seq not in self.swapped]
        possible = self.manager.can_swap_out(seqs)
        try:
            copies = self.manager.swap_out(seqs)
        except OutOfBlocks:
            assert not possible
            assert self.snapshot() == before
            return
        assert possible
        self.move(copies, self.slots, self.host_slots)
        self.swapped.update(seqs)

    @rule(seqs=st.lists(sequences, min_size=1, max_size=3, unique=True))
    def swap_in(self, seqs):
        before = self.snapshot()
        seqs = [seq for seq in seqs if seq in self.swapped]
        roomy = self.manager.can_swap_in(seqs)
        try:
            copies = self.manager.swap_in(seqs)
        except OutOfBlocks:
            assert not roomy
            assert self.snapshot() == before
            return
        self.move(copies, self.host_slots, self.slots)
        self.swapped.difference_update(seqs)
        assert self.manager.can_append(seqs) or not roomy

    def move(self, copies, source, target):
        assert len({block for block, _ in copies}) == len(copies)
        size = self.manager.block_size
        target.update({b * size + i: source.get(a * size + i) for a, b in copies for i in range(size)})

    @rule()
    def reset(self):
        before, is_used = self.snapshot(), bool(self.texts)
        try:
            self.manager.reset_cache()
        except BlocksInUse:
            assert is_used
            assert self.snapshot() == before
            return
        assert not is_used
        assert not any(self.manager.pool.keys)
        self.computed.clear()

    @rule(seq=sequences)
    def publish(self, seq):
        if seq in self.swapped:
            return
        keys = self.keys_of(self.texts[seq])
        self.manager.publish(seq, keys)
        self.computed.update(keys)

    @rule(seq=consumes(sequences))
    def free(self, seq):
        self.manager.free(seq)
        self.swapped.discard(seq)
        del self.texts[seq]
        with pytest.raises(UnknownSequence):
            self.manager.free(seq)

    @invariant()
    def every_block_is_in_exactly_one_state(self):
        pool = self.manager.pool
        used = {block for block in range(1, pool.num_blocks + 1) if pool.ref_counts[block]}
        states = [*pool._free, *pool._cached, *used]
        assert sorted(states) == list(range(1, pool.num_blocks + 1))
        assert NULL_BLOCK not in states
        assert pool.num_free == pool.num_blocks - len(used)

    @invariant()
    def a_count_is_the_number_of_entries_that_name_the_block(self):
        pool = self.manager.pool
        for each, tables in ((pool, self.manager._tables), (self.manager.host_pool, self.manager._host_tables)):
            named = [block for table in tables.values() for block in table.blocks]
            assert each.ref_counts == [named.count(block) for block in range(each.num_blocks + 1)]
        assert self.manager._host_tables.keys() == self.swapped
        assert all(pool.keys[block] is None for block in pool._free)
        assert all(pool.keys[block] is not None for block in pool._cached)

    @invariant()
    def what_can_be_written_without_asking_is_the_sequences_own(self):
        for table in self.manager._tables.values():
            assert table.writable_to <= len(table.blocks) * self.manager.block_size
            if table.num_tokens < table.writable_to:
                assert self.manager.pool.ref_counts[table.blocks[-1]] == 1

    @invariant()
    def reading_through_the_table_gives_the_sequence_back(self):
        for seq, text in self.texts.items():
            out = seq in self.swapped
            table = self.manager.host_table(seq) if out else self.manager.table(seq)
            slots = self.host_slots if out else self.slots
            assert [slots[slot] for slot in table.slots(0, table.num_tokens)] == text
            assert len(table.blocks) == self.manager.blocks_for(len(text))

    @invariant()
    def a_key_stands_for_what_its_block_holds(self):
        pool, size = self.manager.pool, self.manager.block_size
        for block in range(1, pool.num_blocks + 1):
            if (key := pool.keys[block]) is not None:
                assert key in self.computed
                assert [self.slots[block * size + i] for i in range(size)] == list(key[-size:])
                assert pool.find([key])
        for key in self.computed:
            found = pool.find([key])
            assert not found or pool.keys[found[0]] == key

    @invariant()
    def what_a_cached_block_continues_is_evicted_after_it(self):
        pool = self.manager.pool
        queue = list(pool._cached)
        for place, block in enumerate(queue):
            parent = pool.keys[block][: -self.manager.block_size]
            holders = [b for b in range(1, pool.num_blocks + 1) if pool.keys[b] == parent]
            assert not parent or any(pool.ref_counts[b] or b in queue[place:] for b in holders)

    @invariant()
    def the_events_tell_the_same_story(self):
        for number, event in enumerate(self.log.events[self.num_seen :], self.num_seen):
            self.board.apply(event, number)
        self.num_seen = len(self.log)
        assert self.board.counts == self.manager.pool.ref_counts
        told = [
            {seq: (table.blocks, table.num_tokens) for seq, table in tables.items()}
            for tables in (self.board.tables, self.board.swapped)
        ]
        assert told == list(self.snapshot()[:2])

    def teardown(self):
        if not hasattr(self, "manager"):
            return
        for seq in list(self.texts):
            self.manager.free(seq)
        assert self.manager.num_free_blocks == self.manager.pool.num_blocks
        assert EventLog.from_json(self.log.to_json()).events == self.log.events


TestMemory = Memory.TestCase
TestMemory.settings = settings(
    max_examples=int(os.environ.get("KVBOOK_EXAMPLES", "500")), stateful_step_count=30, deadline=None
)
