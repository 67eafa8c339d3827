"""The scheduler over a model of the tensors: whatever happens, every position read holds what its sequence wrote."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvlib.errors import BadConfig, BadInput, RequestTooLarge
from kvlib.events import EventLog
from kvlib.memory import BlockManager, Pages, PrefixHasher, RadixManager, RecordedBlockManager, SwapBlockManager
from kvlib.serving.request import Request
from kvlib.serving.scheduler import Scheduler
from kvlib.show.board import Board


class Server:
    """Runs a scheduler's steps on slots that hold (token, everything before it), in place of keys and values."""

    def __init__(self, scheduler, random, caching, reads_cache=True):
        self.scheduler = scheduler
        self.random = random
        self.manager = scheduler.manager
        is_tree = isinstance(self.manager, RadixManager)
        self.hasher = (Pages if is_tree else PrefixHasher)(self.manager.block_size) if caching else None
        self.reads_cache = reads_cache
        self.slots, self.host_slots = {}, {}
        self.texts, self.prefixes = {}, {}
        self.ended = {}
        self.num_computed = 0

    def add(self, name, prompt, max_tokens, num_sequences):
        self._begin(name, prompt)
        request = Request(
            name,
            len(prompt),
            max_tokens,
            num_sequences=num_sequences,
            keys=self._keys(name),
            reads_cache=self.reads_cache,
        )
        self.scheduler.add(request)

    def _begin(self, name, text):
        self.texts[name] = list(text)
        if self.hasher:
            self.prefixes[name] = self.hasher.start()
            self.prefixes[name].extend(self.texts[name])

    def _keys(self, name):
        return self.prefixes[name].keys if self.hasher else ()

    def step(self):
        step = self.scheduler.schedule()
        self._copy(step.swap_outs, self.slots, self.host_slots)
        self._copy(step.swap_ins, self.host_slots, self.slots)
        self._copy(step.copies, self.slots, self.slots)
        work = step.prefills + step.decodes
        for each in work:
            for position in range(each.start, each.stop):
                [slot] = self.manager.table(each.sequence.seq_id).slots(position, position + 1)
                self.slots[slot] = tuple(self.texts[each.sequence.seq_id][: position + 1])
                self.num_computed += 1
        for each in work:
            text = self.texts[each.sequence.seq_id]
            slots = self.manager.table(each.sequence.seq_id).slots(0, each.stop)
            assert [self.slots[slot] for slot in slots] == [tuple(text[: n + 1]) for n in range(each.stop)]
        assert len({each.sequence.seq_id for each in work}) == len(work)
        if self.random.random() < 0.1 and work:
            self.abort(self.random.choice(work).request.request_id)
        self.scheduler.computed(step)
        for each in work:
            self._extend(each)
        return step

    def _copy(self, copies, source, target):
        size = self.manager.block_size
        read = {(b, i): source.get(a * size + i) for a, b in copies for i in range(size)}
        target.update({b * size + i: held for (b, i), held in read.items()})

    def _extend(self, work):
        request, sequence = work.request, work.sequence
        if request.request_id in self.ended or sequence not in request.sequences or not work.gives_token:
            return
        if sequence.num_tokens == request.num_prompt_tokens and len(request.sequences) == 1:
            for number in range(1, request.num_sequences):
                name = f"{request.request_id}.{number}"
                self._begin(name, self.texts[sequence.seq_id])
                self.scheduler.fork(request, sequence.seq_id, name, self._keys(name))
            for each in list(request.sequences):
                self._write(each)
        else:
            self._write(sequence)
        if len(request.sequences) > 1 and self.random.random() < 0.05:
            whole = [each for each in request.sequences if not self.is_being_computed(each)]
            if whole:
                self.scheduler.drop(request, self.random.choice(whole).seq_id)
        if all(each.num_tokens == each.most_tokens for each in request.sequences):
            self.scheduler.finish(request, "length")
            self.ended[request.request_id] = "length"

    def is_being_computed(self, sequence):
        held = sequence.seq_id in self.manager
        return held and sequence.num_computed < self.manager.table(sequence.seq_id).num_tokens

    def _write(self, sequence):
        token = self.random.randrange(2)
        self.texts[sequence.seq_id].append(token)
        if self.hasher:
            self.prefixes[sequence.seq_id].extend([token])
        sequence.append()

    def abort(self, name):
        self.scheduler.abort(name)
        self.ended[name] = "abort"

    def run(self, limit=3000):
        for _ in range(limit):
            if not self.scheduler.has_unfinished():
                return
            self.step()
        raise AssertionError("the loop does not end")


def make_scheduler(kind, num_blocks, block_size, watermark, **options):
    if kind == "tree":
        return Scheduler(RadixManager(num_blocks, block_size, watermark=watermark), **options)
    if kind == "swap":
        manager = SwapBlockManager(num_blocks, block_size, num_host_blocks=num_blocks // 2 + 1, watermark=watermark)
    else:
        manager = BlockManager(num_blocks, block_size, watermark=watermark)
    return Scheduler(manager, preemption=kind, **options)


REQUESTS = st.lists(st.tuples(st.integers(1, 20), st.integers(1, 12), st.integers(1, 3)), min_size=1, max_size=8)


@settings(max_examples=300, deadline=None)
@given(
    kind=st.sampled_from(["recompute", "swap", "tree"]),
    num_blocks=st.integers(3, 24),
    block_size=st.integers(1, 5),
    watermark=st.sampled_from([0.0, 0.2]),
    chunked=st.booleans(),
    budget=st.integers(1, 30),
    caching=st.booleans(),
    reads_cache=st.booleans(),
    requests=REQUESTS,
    random=st.randoms(use_true_random=False),
)
def test_every_request_reads_what_it_wrote_and_ends_and_all_memory_returns(
    kind, num_blocks, block_size, watermark, chunked, budget, caching, reads_cache, requests, random
):
    scheduler = make_scheduler(
        kind, num_blocks, block_size, watermark, chunked_prefill=chunked, max_num_batched_tokens=budget, max_num_seqs=6
    )
    server = Server(scheduler, random, caching, reads_cache)
    refused = set()
    for number, (num_prompt_tokens, max_tokens, num_sequences) in enumerate(requests):
        try:
            server.add(str(number), [random.randrange(2) for _ in range(num_prompt_tokens)], max_tokens, num_sequences)
        except RequestTooLarge:
            refused.add(str(number))
        if random.random() < 0.5:
            server.step() if scheduler.has_unfinished() else None
    server.run()
    assert server.ended.keys() | refused == {str(number) for number in range(len(requests))}
    assert scheduler.manager.num_free_blocks == num_blocks
    assert not scheduler.manager.sequences
    if kind == "swap":
        assert scheduler.manager.host_pool.num_free == scheduler.manager.host_pool.num_blocks


@settings(max_examples=60, deadline=None)
@given(
    requests=REQUESTS,
    num_blocks=st.integers(6, 20),
    kind=st.sampled_from(["recompute", "swap"]),
    seed=st.integers(0, 99),
)
def test_the_log_of_any_run_tells_a_memory_that_can_be(requests, num_blocks, kind, seed):
    log = EventLog()
    manager = RecordedBlockManager(num_blocks, 4, log, num_host_blocks=num_blocks)
    scheduler = Scheduler(manager, preemption=kind, log=log, max_num_seqs=6)
    server = Server(scheduler, Random(seed), caching=True)
    for number, (num_prompt_tokens, max_tokens, num_sequences) in enumerate(requests):
        try:
            server.add(str(number), [0] * num_prompt_tokens, max_tokens, num_sequences)
        except RequestTooLarge:
            continue
    board, num_seen = Board(log), 0
    while scheduler.has_unfinished():
        assert log.step < 1000, "the loop does not end"
        server.step()
        for number, event in enumerate(log.events[num_seen:], num_seen):
            board.apply(event, number)
        num_seen = len(log)
        assert board.counts == manager.pool.ref_counts
        assert {seq: table.blocks for seq, table in board.tables.items()} == {
            seq: manager.table(seq).blocks for seq in manager.sequences
        }
    assert EventLog.from_json(log.to_json()) == log


def run_all(kind="recompute", **options):
    """Six requests through a memory too small for them: (order of preemptions, tables at every step, server)."""
    server = Server(make_scheduler(kind, 12, 4, 0.0, **options), Random(1), caching=False)
    server.abort = lambda name: None
    for number in range(6):
        server.add(str(number), [number] * 9, 9, 1)
    told = []
    while server.scheduler.has_unfinished():
        step = server.step()
        tables = {seq: list(server.manager.table(seq).blocks) for seq in server.manager.sequences}
        told.append(([request.request_id for request in step.preempted], tables, set(server.ended)))
    return told, server


def test_the_same_requests_give_the_same_tables_at_every_step():
    assert run_all()[0] == run_all()[0]


@pytest.mark.parametrize("kind", ["recompute", "swap"])
def test_the_latest_yields_and_nobody_new_runs_before_it_is_back(kind):
    told, _ = run_all(kind)
    assert any(preempted for preempted, _, _ in told)
    out = []
    for preempted, tables, ended in told:
        out = sorted({*out, *map(int, preempted)} - {int(seq) for seq in (*tables, *ended)})
        running = [int(seq) for seq in tables]
        assert running == sorted(running)
        assert not (out and running) or max(running) < out[0]


def test_swapping_computes_no_token_twice_and_recompute_does():
    assert run_all("swap")[1].num_computed < run_all("recompute")[1].num_computed
    assert run_all("swap")[1].num_computed == 6 * (9 + 9 - 1)


def test_a_prompt_in_chunks_never_exceeds_the_budget_and_gives_its_token_once():
    scheduler = Scheduler(BlockManager(40, 4), chunked_prefill=True, max_num_batched_tokens=8)
    scheduler.add(Request("A", 20, 2))
    given_ = []
    for _ in range(3):
        step = scheduler.schedule()
        scheduler.computed(step)
        [work] = step.prefills
        given_.append((work.start, work.stop, work.gives_token))
    assert given_ == [(0, 8, False), (8, 16, False), (16, 20, True)]


def test_a_sequence_is_told_no_more_tokens_than_it_asked_for():
    request = Request("A", 3, 1)
    request.sequences[0].append()
    with pytest.raises(BadInput, match="finish the request"):
        request.sequences[0].append()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda scheduler, request: scheduler.fork(request, "A", "B"), "not computed to its end"),
        (lambda scheduler, request: scheduler.fork(request, "C", "B"), "no sequence 'C'"),
        (lambda scheduler, request: scheduler.drop(request, "A"), "has no other sequence"),
    ],
)
def test_a_fork_or_an_end_out_of_turn_is_refused_and_changes_nothing(call, words):
    scheduler = Scheduler(BlockManager(4, 4))
    request = Request("A", 3, 2, num_sequences=2)
    scheduler.add(request)
    scheduler.schedule()
    with pytest.raises(BadInput, match=words):
        call(scheduler, request)
    assert request.seq_ids == scheduler.manager.sequences == ["A"]


def test_a_group_has_no_more_sequences_than_it_asked_for_and_no_id_of_another():
    scheduler = Scheduler(BlockManager(8, 4))
    request = Request("A", 3, 2, num_sequences=2)
    scheduler.add(request)
    scheduler.add(Request("Z", 3, 2))
    scheduler.computed(scheduler.schedule())
    with pytest.raises(BadInput, match="'Z' is in use by"):
        scheduler.fork(request, "A", "Z")
    scheduler.fork(request, "A", "A.1")
    with pytest.raises(BadInput, match="has all its 2 sequences"):
        scheduler.fork(request, "A", "A.2")


def test_a_group_that_could_never_run_whole_is_refused_on_arrival():
    scheduler = Scheduler(BlockManager(4, 4), max_num_seqs=2)
    with pytest.raises(RequestTooLarge, match="2 times 9 tokens need 5 blocks of 4, the pool has 4"):
        scheduler.add(Request("A", 5, 5, num_sequences=2))
    with pytest.raises(RequestTooLarge, match="has 3 sequences, which run together, and max_num_seqs is 2"):
        scheduler.add(Request("A", 1, 1, num_sequences=3))
    assert not scheduler.has_unfinished()


@pytest.mark.parametrize(
    ("manager", "preemption", "words"),
    [
        (BlockManager(4, 4), "drop", "preemption is 'drop'; choose one of recompute, swap"),
        (BlockManager(4, 4), "swap", "needs blocks on the host"),
        (SwapBlockManager(4, 4), "swap", "needs blocks on the host"),
    ],
)
def test_a_way_back_that_is_not_there_is_refused(manager, preemption, words):
    with pytest.raises(BadConfig, match=words):
        Scheduler(manager, preemption=preemption)


def test_hits_of_resumed_requests_are_counted_apart():
    server = Server(make_scheduler("recompute", 8, 4, 0.0), Random(2), caching=True)
    server.abort = lambda name: None
    for number in range(3):
        server.add(str(number), [number] * 9, 9, 1)
    server.run()
    hits = server.scheduler.hits
    assert (hits.num_queried, hits.num_hit) == (27, 0)
    assert 0 < hits.num_hit_resumed < hits.num_queried_resumed
