"""Faults that were reported of other block managers, prefix caches and schedulers: each as the law it broke.

A test's docstring cites the repository and the number of the report. Memories are small enough to follow by hand.
"""

import hashlib
import itertools
import sys
import types

import pytest

from kvlib.errors import BadInput, BlocksInUse, DoubleFree, OutOfBlocks, RequestTooLarge, UnknownSequence
from kvlib.memory import BlockManager, BlockPool, PrefixHasher, SwapBlockManager, WindowBlockManager
from kvlib.memory.pages import Pages
from kvlib.memory.radix import RadixCache
from kvlib.memory.radix_manager import RadixManager
from kvlib.serving.request import Request
from kvlib.serving.scheduler import Scheduler

SIZE = 4
both = pytest.mark.parametrize("kind", [BlockManager, RadixManager])


def start_keys(manager, **extra):
    """The keys of one text, of the kind that `manager` takes, none yet."""
    hasher = Pages if isinstance(manager, RadixManager) else PrefixHasher
    return hasher(manager.block_size).start(**extra)


def keys_of(manager, tokens, **extra):
    """The keys of the full blocks of `tokens`."""
    keys = start_keys(manager, **extra)
    keys.extend(tokens)
    return keys.keys


def hold(manager, seq, tokens, **extra):
    """Admit and publish a sequence of these tokens -> how many of them were cached."""
    keys = keys_of(manager, tokens, **extra)
    num_cached = manager.admit(seq, len(tokens), keys)
    manager.publish(seq, keys)
    return num_cached


def num_cached(manager, tokens, **extra):
    """How many of these tokens would be hits now."""
    return len(manager.cached_prefix(len(tokens), keys_of(manager, tokens, **extra))) * manager.block_size


def state(manager):
    """Every table, the count of every block, and what is free, to compare before and after."""
    tables = {seq: list(manager.table(seq).blocks) for seq in manager.sequences}
    return tables, list(manager.pool.ref_counts), manager.num_free_blocks


def check_counts(manager):
    """A block is free or named by tables, and its count is the number of tables that name it; the tree's is one."""
    named = [block for seq in manager.sequences for block in manager.table(seq).blocks if block]
    assert manager.num_free_blocks == manager.pool.num_blocks - len(set(named))
    in_tree = manager.tree if isinstance(manager, RadixManager) else ()
    for block in set(named):
        assert manager.pool.ref_counts[block] == named.count(block) + (block in in_tree)


class Server:
    """Requests with tokens, from their arrival to their end: one token of each is told after every step."""

    def __init__(self, manager, **settings):
        self.manager = manager
        self.scheduler = Scheduler(manager, **settings)
        self.keys = {}

    def add(self, name, prompt, max_tokens=1):
        self.keys[name] = start_keys(self.manager)
        self.keys[name].extend(prompt)
        request = Request(name, len(prompt), max_tokens, keys=self.keys[name].keys)
        self.scheduler.add(request)
        return request

    def turn(self, abort=None):
        """One step; `abort` is a request that goes away while it is computed."""
        step = self.scheduler.schedule()
        works = [*step.prefills, *step.decodes]
        for work in works:
            assert 0 <= work.start < work.stop <= work.sequence.num_tokens
            assert len(self.manager.table(work.sequence.seq_id).slots(work.start, work.stop)) == work.stop - work.start
        if abort:
            self.scheduler.abort(abort)
        self.scheduler.computed(step)
        for work in works:
            if work.gives_token and work.request in self.scheduler.running:
                self.tell(work.request)
        return step

    def tell(self, request):
        [sequence] = request.sequences
        sequence.append()
        self.keys[request.request_id].extend([10_000 + sequence.num_tokens])
        if sequence.num_tokens == request.num_prompt_tokens + request.max_tokens:
            self.scheduler.finish(request, "length")

    def run(self):
        """Turn until nobody is left -> the steps."""
        steps = []
        while self.scheduler.has_unfinished():
            steps.append(self.turn())
            assert len(steps) < 500, "the loop does not end"
        return steps


def text(first, length):
    """Tokens that no text of another `first` has."""
    return list(range(1000 * first, 1000 * first + length))


def names(requests):
    return [request.request_id for request in requests]


# Equal content


def test_keys_are_long_digests_and_not_pythons_own_hash():
    """vllm#12621, vllm#15297: `hash()` has a root that can be foretold, so a prompt could be forged to hit another."""
    [key] = keys_of(BlockManager(1, SIZE), text(1, SIZE))
    assert len(key) == 32
    assert len({key[i : i + 8] for i in range(0, 32, 8)}) == 4


def test_the_hash_that_can_be_forged_has_to_be_asked_for():
    """vllm#54727: keys of the xxhash family can be made to collide even by one who does not know the seed."""
    chosen, default = PrefixHasher(SIZE, "sha256").start(), PrefixHasher(SIZE).start()
    chosen.extend(text(1, SIZE))
    default.extend(text(1, SIZE))
    assert chosen.keys == default.keys


def test_a_fast_hash_starts_from_a_root_that_nobody_can_foretell(monkeypatch):
    """vllm#12621: with a root that is known, collisions can be worked out before the attack."""
    fast = types.SimpleNamespace(xxh3_128=lambda data: hashlib.blake2b(data, digest_size=16))
    monkeypatch.setitem(sys.modules, "xxhash", fast)
    one, other = PrefixHasher(SIZE, "xxh3").start(), PrefixHasher(SIZE, "xxh3").start()
    one.extend(text(1, SIZE))
    other.extend(text(1, SIZE))
    assert one.keys != other.keys


@both
@pytest.mark.parametrize("base", [31, 33, 37, 131, 257])
def test_changes_that_cancel_out_in_a_polynomial_give_another_key(kind, base):
    """NVIDIA/Megatron-LM#4158: one more on a token and the base less on its neighbour gave the same block hash."""
    manager = kind(8, SIZE)
    prompt = text(1, SIZE + 1)
    hold(manager, "A", prompt)
    for place, (one, other) in itertools.product(range(SIZE - 1), [(1, -base), (-base, 1), (1, -1)]):
        forged = list(prompt)
        forged[place] += one
        forged[place + 1] += other
        assert num_cached(manager, forged) == 0
    assert num_cached(manager, [prompt[1], prompt[0], *prompt[2:]]) == 0
    assert num_cached(manager, prompt) == SIZE


@both
@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param({}, {"adapter": "law"}, id="vllm#3263, #3264"),
        pytest.param({"adapter": "law", "adapter_id": 1}, {"adapter": "law", "adapter_id": 2}, id="vllm#30931"),
        pytest.param({"adapter": "law", "version": 1}, {"adapter": "law", "version": 2}, id="vllm#42125"),
        pytest.param({"adapter": "law"}, {"salt": "law"}, id="vllm#44701, #44706"),
        pytest.param({"adapter": "7"}, {"adapter": 7}, id="sglang#24638"),
        pytest.param({"a": "x", "b": "y"}, {"a": "xbstry"}, id="a value that reads like two"),
        pytest.param({"adapter": "law", "salt": "s"}, {"adapter": "s", "salt": "law"}, id="values without names"),
    ],
)
def test_whatever_else_decides_what_a_block_holds_is_in_its_key(kind, one, other):
    """vllm#3263, #3264: the adapter was missing. vllm#30931: only its name counted. vllm#42125: only its name, after
    it was loaded anew. vllm#44701, #44706: a salt could equal an adapter's name. sglang#24638: a key given by the
    user could equal an adapter's id."""
    manager = kind(8, SIZE)
    prompt = text(1, 9)
    hold(manager, "A", prompt, **one)
    assert num_cached(manager, prompt, **other) == 0
    assert num_cached(manager, prompt, **one) == 8


@both
def test_after_the_weights_changed_nothing_old_is_found(kind):
    """vllm#9744, vllm-omni#6739: the weights were updated and the old keys and values still served."""
    manager = kind(8, SIZE)
    prompt = text(1, 9)
    hold(manager, "A", prompt)
    before = state(manager)
    with pytest.raises(BlocksInUse):
        manager.reset_cache()
    assert state(manager) == before
    manager.free("A")
    manager.reset_cache()
    assert num_cached(manager, prompt) == 0
    assert hold(manager, "B", prompt) == 0
    assert num_cached(manager, prompt) == 8
    check_counts(manager)


# Map and block agree


@both
def test_a_block_that_is_handed_out_again_is_not_found_by_what_it_held(kind):
    """nano-vllm#163, vllm#4764: a block was reused under its old key, and a later hit read foreign data."""
    manager = kind(2, SIZE)
    hold(manager, "A", text(1, 8))
    manager.free("A")
    manager.admit("B", 8)
    assert num_cached(manager, [*text(1, 8), 0]) == 0
    manager.publish("B", keys_of(manager, text(2, 8)))
    assert manager.cached_prefix(9, keys_of(manager, text(2, 9))) == manager.table("B").blocks


@both
def test_blocks_admitted_without_keys_take_theirs_later_and_once(kind):
    """vllm-ascend#2083: with caching off keys were set all the same, and a second time: "already has a hash"."""
    manager = kind(8, SIZE)
    prompt = text(1, 9)
    manager.admit("A", 9)
    manager.fork("A", "B")
    for seq in ("A", "B", "A"):
        manager.publish(seq, keys_of(manager, prompt))
    assert manager.cached_prefix(9, keys_of(manager, prompt)) == manager.table("A").blocks[:2]
    check_counts(manager)


@pytest.mark.parametrize(("first", "second"), [("A", "B"), ("B", "A")])
def test_of_two_equal_prompts_in_one_step_either_can_be_evicted_and_the_other_is_found(first, second):
    """nano-vllm#219: the second one's entry took the place of the first one's."""
    manager = BlockManager(4, SIZE)
    keys = keys_of(manager, text(1, 8))
    manager.admit("A", 8, keys)
    manager.admit("B", 8, keys)
    manager.publish("A", keys)
    manager.publish("B", keys)
    kept = list(manager.table(second).blocks)
    manager.free(first)
    manager.admit("C", 8)
    assert manager.cached_prefix(9, keys) == kept
    manager.free(second)
    manager.admit("D", 8)
    assert manager.cached_prefix(9, keys) == []


# Visible only when computed


@both
def test_blocks_are_not_found_before_the_step_that_writes_them_is_done(kind):
    """vllm#37152, vllm#38715: published when they were scheduled, blocks were hit in the same step, still unwritten."""
    server = Server(kind(8, SIZE))
    prompt = text(1, 9)
    server.add("A", prompt)
    server.add("B", prompt)
    step = server.scheduler.schedule()
    assert [(work.start, work.stop) for work in step.prefills] == [(0, 9), (0, 9)]
    assert server.manager.cached_prefix(9, server.keys["A"].keys) == []
    server.scheduler.computed(step)
    assert len(server.manager.cached_prefix(9, server.keys["A"].keys)) == 2


@both
@pytest.mark.parametrize("when", ["while its second piece is computed", "after its first piece"])
def test_a_prompt_that_is_aborted_half_computed_leaves_only_what_was_computed(kind, when):
    """vllm#56525: aborted after its blocks were published, it let a retry hit a state that was never written."""
    server = Server(kind(8, SIZE), chunked_prefill=True, max_num_batched_tokens=8)
    prompt = text(1, 20)
    server.add("A", prompt)
    server.turn()
    if when == "after its first piece":
        server.scheduler.abort("A")
    else:
        step = server.scheduler.schedule()
        server.scheduler.abort("A")
        server.scheduler.computed(step)
    server.add("retry", prompt)
    [work] = server.turn().prefills
    assert work.start == 8


# Counts and ownership


def test_a_fork_counts_a_block_once_for_each_place_that_names_it_and_the_empty_places_of_a_window_never():
    """vllm#3347, for vllm#1556: with a sliding window a fork counted wrong, and the end freed twice."""
    manager = WindowBlockManager(12, 2, window=4)
    manager.admit("A", 12)
    manager.slide("A", 12)
    manager.fork("A", "B")
    assert manager.table("B").blocks[:4] == [0, 0, 0, 0]
    manager.append("A")
    manager.slide("A", 13)
    check_counts(manager)
    manager.free("A")
    check_counts(manager)
    manager.free("B")
    assert sorted(manager.pool.take(12)) == list(range(1, 13))


def test_one_block_twice_in_one_release_is_queued_once():
    """vllm#42571: it was queued twice, and handed out to two requests."""
    pool = BlockPool(3)
    pool.take(1)
    pool.share([1])
    pool.release([1, 1])
    assert sorted(pool.take(3)) == [1, 2, 3]
    with pytest.raises(DoubleFree):
        pool.release([1, 1])
    assert pool.ref_counts[1:] == [1, 1, 1]


@both
def test_a_fork_into_a_sequence_that_has_blocks_of_its_own_is_refused(kind):
    """vllm#417: forked although both had separate blocks, one went on in the other's text."""
    manager = kind(8, SIZE)
    hold(manager, "A", text(1, 9))
    hold(manager, "B", text(2, 9))
    before = state(manager)
    with pytest.raises(BadInput, match="already holds memory"):
        manager.fork("A", "B")
    assert state(manager) == before


@both
def test_an_admission_never_evicts_its_own_beginning(kind):
    """vllm#10507, vllm#33775, vllm#44409: new blocks were taken before the hits were counted as used."""
    manager = kind(4, SIZE)
    prompt = text(1, 16)
    hold(manager, "A", prompt[:8])
    hold(manager, "B", text(2, 8))
    beginning = list(manager.table("A").blocks)
    manager.free("A")  # its blocks are the oldest, and B's behind them the only others
    manager.free("B")
    assert hold(manager, "C", prompt) == 8
    assert manager.table("C").blocks[:2] == beginning
    assert sorted(manager.table("C").blocks) == [1, 2, 3, 4]
    check_counts(manager)


def test_a_duplicate_is_freed_only_when_no_table_names_it_any_more():
    """mini-sglang#142: duplicates were freed while the table of the running request still named them."""
    manager = RadixManager(16, SIZE)
    prompt = text(1, 9)
    keys = keys_of(manager, prompt)
    for seq in ("A", "B"):
        manager.admit(seq, 9, keys)
    manager.fork("B", "C")  # a third table that names the duplicates
    for seq in ("A", "B"):
        manager.publish(seq, keys)
        check_counts(manager)
    first, second, third = (manager.table(seq).blocks for seq in ("A", "B", "C"))
    assert first[:2] == second[:2] == third[:2]
    others = manager.pool.take(manager.num_free_blocks)
    assert set(others).isdisjoint({*first, *second, *third})


def test_what_a_running_sequence_has_hit_cannot_be_evicted_under_it():
    """mini-sglang#46: the handle kept the root in place of the node that was matched, so a lock locked nothing."""
    manager = RadixManager(4, SIZE)
    prompt = text(1, 9)
    hold(manager, "A", prompt)
    manager.free("A")
    assert hold(manager, "B", prompt) == 8
    assert (manager.tree.num_protected, manager.tree.num_evictable) == (2, 0)
    with pytest.raises(OutOfBlocks):
        manager.admit("C", 8)
    manager.admit("C", 4)
    assert num_cached(manager, prompt) == 8
    check_counts(manager)


def test_the_upper_half_of_a_run_that_is_split_is_as_young_as_the_match_that_split_it():
    """mini-sglang#124: a split beginning kept its old age, and was evicted before what nobody had asked for since."""
    tree = RadixCache()
    tree.insert("abcdef", [1, 2, 3, 4, 5, 6])
    tree.insert("xyz", [7, 8, 9])
    tree.match_prefix("abc")
    assert tree.evict(3) == [6, 5, 4]
    assert tree.evict(3) == [9, 8, 7]
    assert tree.find("abc") == [1, 2, 3]


def test_free_evictable_locked_and_unpublished_blocks_are_the_pool_at_every_moment():
    """sglang#11970, sglang#6888: the sum differed from the pool's size."""
    manager = RadixManager(16, SIZE)
    prompt = text(1, 17)

    def check():
        tree = manager.tree
        named = {block for seq in manager.sequences for block in manager.table(seq).blocks}
        in_tree = {block for block in range(1, 17) if block in tree}
        assert tree.num_protected == len(named & in_tree)
        assert tree.num_evictable == len(in_tree - named)
        assert manager.num_free_blocks == 16 - len(named)

    moves = [
        lambda: hold(manager, "A", prompt),
        lambda: manager.fork("A", "B"),
        lambda: manager.append("A", 3),
        lambda: manager.publish("A", keys_of(manager, [*prompt, 1, 2, 3])),
        lambda: hold(manager, "C", [*prompt[:8], *text(2, 5)]),
        lambda: manager.free("A"),
        lambda: manager.admit("D", 5 * SIZE),
        lambda: manager.free("B"),
        lambda: manager.free("D"),
        lambda: manager.free("C"),
        lambda: manager.admit("E", 16 * SIZE),
    ]
    for move in moves:
        move()
        check()


def test_a_block_is_in_one_place_of_the_tree_only():
    """sglang#35270: the tree counted the same pages under two nodes."""
    tree = RadixCache()
    tree.insert("abc", [1, 2, 3])
    for pages, blocks in (("xy", [9, 2]), ("xy", [9, 9]), ("abcd", [1, 2, 3, 3])):
        with pytest.raises(BadInput, match="in the tree twice"):
            tree.insert(pages, blocks)
    assert tree.num_evictable == 3
    assert tree.insert("abcd", [1, 2, 3, 4]).num_known == 3
    assert tree.num_evictable == 4


@both
def test_the_last_partly_filled_block_comes_back_once(kind):
    """sglang-jax#982: the last slot was freed on two paths, by the cache and by the end of the request."""
    manager = kind(4, SIZE)
    hold(manager, "A", text(1, 10))
    manager.free("A")
    with pytest.raises(UnknownSequence):
        manager.free("A")
    assert manager.num_free_blocks == 4
    assert sorted(manager.pool.take(4)) == [1, 2, 3, 4]


@both
def test_a_text_that_rounds_to_no_block_has_no_key_and_leaves_nothing_behind(kind):
    """sglang#10637: with pages longer than a token a key rounded to nothing, and sizes were counted in two ways."""
    manager = kind(8, SIZE)
    assert keys_of(manager, text(1, SIZE - 1)) == []
    hold(manager, "A", text(1, SIZE - 1))
    with pytest.raises(BadInput, match="0 full blocks"):
        manager.publish("A", keys_of(manager, text(1, SIZE)))
    manager.free("A")
    assert sorted(manager.pool.take(8)) == list(range(1, 9))
    longer = kind(8, SIZE)
    hold(longer, "B", text(1, 2 * SIZE - 1))
    assert num_cached(longer, [*text(1, 2 * SIZE - 1), 0]) == SIZE


@both
def test_eviction_stops_at_what_is_wanted(kind):
    """sglang#4987: the loop never advanced its counter, and evicted without bound."""
    manager = kind(8, SIZE)
    prompt = text(1, 33)
    hold(manager, "A", prompt[:32])
    manager.free("A")
    for wanted in (1, 2, 3):
        left = num_cached(manager, prompt)
        manager.admit(wanted, wanted * SIZE)
        assert num_cached(manager, prompt) == left - wanted * SIZE


# Abort


@pytest.mark.parametrize("preemption", ["recompute", "swap"])
def test_an_abort_in_any_state_gives_everything_back_and_the_others_go_on(preemption):
    """sglang#8587: a request was dropped from a queue in which it owned memory already. vllm#46283: aborted while its
    blocks were elsewhere (there in a transfer, here on the host), it never gave them back."""
    seen = set()
    for moment, name in itertools.product(range(24), "ABC"):
        manager = SwapBlockManager(9, SIZE, num_host_blocks=9)
        server = Server(manager, preemption=preemption, chunked_prefill=True, max_num_batched_tokens=10)
        requests = {other: server.add(other, text(number, 10), 12) for number, other in enumerate("ABC")}
        for _ in range(moment):
            server.turn()
        if (found := state_of(requests[name], server.scheduler)) != "finished":
            seen.add(found)
            server.turn(abort=name)
            assert name not in manager
        server.run()
        assert (manager.num_free_blocks, manager.host_pool.num_free) == (9, 9)
    assert seen == {"waiting", "half computed", "running", "swapped" if preemption == "swap" else "preempted"}


def state_of(request, scheduler):
    """In which state a request is between two steps."""
    if request in scheduler.running:
        computed = request.sequences[0].num_computed
        return "half computed" if computed < request.num_prompt_tokens else "running"
    if request in scheduler.swapped:
        return "swapped"
    if request in scheduler.waiting:
        return "preempted" if request.num_preemptions else "waiting"
    return "finished"


@both
def test_a_head_that_does_not_fit_is_looked_up_again_and_again_and_holds_nothing(kind):
    """sglang#16067: when scheduling failed after the match, what the match had locked stayed locked."""
    manager = kind(6, SIZE)
    prompt = text(1, 9)
    hold(manager, "cached", prompt)
    manager.free("cached")
    server = Server(manager)
    server.add("runs", text(2, 13), 4)
    server.turn()
    server.add("head", [*prompt, *text(3, 8)])
    before = state(manager)
    for _ in range(2):
        server.turn()
        with pytest.raises(OutOfBlocks):
            manager.admit("another", 17, server.keys["head"].keys)
        assert state(manager) == before
    assert names(server.scheduler.waiting) == ["head"]
    server.run()
    manager.admit("all", 6 * SIZE)


# Progress


@pytest.mark.parametrize(("num_prompt_tokens", "max_tokens"), [(17, 1), (8, 10)])
def test_a_request_larger_than_the_pool_is_refused_and_blocks_nobody(num_prompt_tokens, max_tokens):
    """vllm#35541, vllm#39734: it stayed at the head of the queue, and nobody behind it ever ran."""
    server = Server(BlockManager(4, SIZE))
    with pytest.raises(RequestTooLarge, match="can never run"):
        server.add("large", text(1, num_prompt_tokens), max_tokens)
    server.add("small", text(2, 16))
    assert len(server.run()) == 1


def test_no_two_prompts_wait_for_each_others_blocks():
    """vllm#45388: two prompts computed in pieces each held half of what they needed, forever."""
    server = Server(BlockManager(8, SIZE), chunked_prefill=True, max_num_batched_tokens=SIZE)
    requests = [server.add(name, text(number, 24)) for number, name in enumerate("AB")]
    for _ in range(3):
        server.turn()
        assert names(server.scheduler.running) == ["A"]
        assert server.manager.table("A").num_tokens == 24
    server.run()
    assert [request.num_preemptions for request in requests] == [0, 0]


def test_who_has_yielded_returns_when_there_is_room_for_all_of_it_and_not_for_a_first_piece():
    """vllm#25538: only the first piece was checked, so a request was resumed and preempted in turn."""
    server = Server(BlockManager(8, SIZE), chunked_prefill=True, max_num_batched_tokens=SIZE)
    requests = [server.add(name, text(number, 12), 20) for number, name in enumerate("AB")]
    server.run()
    assert [request.num_preemptions for request in requests] == [0, 1]


def test_nobody_yields_once_there_is_room():
    """vllm-ascend#16315: what a victim held came back later only, and the loop preempted everybody meanwhile."""
    server = Server(BlockManager(8, SIZE))
    for number, name in enumerate("ABCD"):
        server.add(name, text(number, 8), 5)
    server.turn()
    step = server.turn()  # all four want a third block, and none is free
    assert names(step.preempted) == ["D", "C"]
    assert names(work.request for work in step.decodes) == ["A", "B"]
    assert server.manager.num_free_blocks == 2


@pytest.mark.parametrize("kind", [BlockManager, SwapBlockManager])
def test_the_last_request_runs_to_its_end_whatever_is_kept_free_for_others(kind):
    """sglang#19881: when not even the last one fitted the server crashed."""
    server = Server(kind(4, SIZE, watermark=0.5))
    request = server.add("A", text(1, 12), 5)  # 16 tokens to store: every block
    assert len(server.run()) == 5
    assert request.num_preemptions == 0


# Scheduling


@both
@pytest.mark.parametrize("length", [8, 9, 11])
def test_a_prompt_that_is_cached_whole_still_computes_its_last_token(kind, length):
    """nano-vllm#144: cached whole, and a multiple of the block, it left zero tokens to compute."""
    server = Server(kind(8, SIZE))
    server.add("A", text(1, length))
    server.run()
    server.add("B", text(1, length))
    [work] = server.turn().prefills
    assert (work.start, work.stop) == (4 if length == 8 else 8, length)


@both
def test_what_a_resumed_request_computes_is_counted_after_its_lookup(kind):
    """nano-vllm#211, nano-vllm#233: counted before, it was out of step with the blocks that were found."""
    server = Server(kind(8, SIZE), max_num_batched_tokens=11)
    server.add("A", text(1, 4), 17)
    server.add("B", text(2, 4), 6)
    last = server.add("C", text(3, 9), 8)
    prefills = [(work, step) for step in server.run() for work in step.prefills if work.request is last]
    [(first, _), (again, beside)] = prefills
    assert (first.start, first.stop) == (0, 9)
    assert (again.start, again.stop) == (8, 13)  # 13 tokens are too many for a step with others, 5 are not
    assert names(work.request for work in beside.decodes) == ["A"]


@pytest.mark.parametrize("preemption", ["recompute", "swap"])
def test_who_yields_has_no_part_in_the_step(preemption):
    """vllm#23347: a victim that was scheduled in this step already broke an assertion."""
    manager = SwapBlockManager(12, SIZE, num_host_blocks=6)
    server = Server(manager, preemption=preemption, chunked_prefill=True, max_num_batched_tokens=9)
    requests = [server.add(str(number), text(number, 7), 15) for number in range(6)]
    steps = server.run()
    assert sum(len(step.preempted) for step in steps) > 3
    for step in steps:
        assert {work.request for work in (*step.prefills, *step.decodes)}.isdisjoint(step.preempted)
    assert all(request.sequences[0].num_tokens == 22 for request in requests)


@pytest.mark.parametrize("window", [1, 3, 4, 5, 9])
def test_a_window_lets_go_of_no_block_that_a_token_still_to_be_computed_can_see(window):
    """vllm#47728: blocks of a window were freed while a step that read them was under way."""
    manager = WindowBlockManager(8, SIZE, window=window)
    manager.admit("A", 30)
    for num_computed in range(30):
        manager.slide("A", num_computed)
        table = manager.table("A")
        table.slots(max(0, num_computed + 1 - window), 30)
        assert manager.pool.num_free == table.blocks.count(0) == max(0, num_computed + 1 - window) // SIZE


def test_hits_of_requests_that_resume_are_no_hits_of_the_cache():
    """vllm#25780: they were counted, and random prompts, which share nothing, had a hit rate of 32 %."""
    server = Server(BlockManager(9, SIZE))
    requests = [server.add(name, text(number, 10), 14) for number, name in enumerate("ABC")]
    server.run()
    hits = server.scheduler.hits
    assert sum(request.num_preemptions for request in requests) > 0
    assert hits.num_hit_resumed > 0
    assert hits.rate == hits.num_hit == 0
    assert hits.num_queried == 30


@both
def test_eviction_begins_at_the_end_of_a_chain_and_strands_nothing(kind):
    """llm-d-inference-sim#704: evicted from its middle, a chain kept blocks that could never be hit again."""
    manager = kind(8, SIZE)
    prompt = text(1, 33)
    hold(manager, "A", prompt[:32])
    manager.free("A")
    for evicted in range(1, 8):
        manager.admit(evicted, SIZE)
        assert num_cached(manager, prompt) == (8 - evicted) * SIZE


@both
def test_hits_end_at_the_first_gap(kind):
    """llm-d-inference-sim#701: blocks behind a gap were counted as hits."""
    manager = kind(8, SIZE)
    prompt = text(1, 17)
    hold(manager, "A", prompt)
    keys = list(keys_of(manager, prompt))
    keys[1] = keys_of(manager, text(2, SIZE))[0]
    assert manager.cached_prefix(17, keys) == manager.table("A").blocks[:1]
