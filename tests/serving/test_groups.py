"""Sequence groups in every state: ids stay theirs, they yield, return and end whole, and nobody waits for ever."""

import pytest

from kvlib.errors import BadConfig, BadInput, UnknownSequence
from kvlib.events import EventLog
from kvlib.memory import BlockManager, PrefixHasher, RecordedBlockManager, SwapBlockManager, WindowBlockManager
from kvlib.serving.request import Request
from kvlib.serving.scheduler import Scheduler


def turn(scheduler):
    """One step, and a token for every sequence that it computed to its end."""
    step = scheduler.schedule()
    scheduler.computed(step)
    for work in step.prefills + step.decodes:
        if work.gives_token:
            work.sequence.append()
    return step


def finish_complete(scheduler):
    for request in list(scheduler.running):
        if not request.growing:
            scheduler.finish(request, "length")


def grouped(manager, *, max_tokens=8, num_prompt_tokens=8, **options):
    """A request "A" and the group "B", "B.1", both with their first token."""
    scheduler = Scheduler(manager, **options)
    a = Request("A", 8, 9)
    b = Request("B", num_prompt_tokens, max_tokens, num_sequences=2)
    scheduler.add(a)
    scheduler.add(b)
    scheduler.computed(scheduler.schedule())
    scheduler.fork(b, "B", "B.1")
    for sequence in a.sequences + b.sequences:
        sequence.append()
    return scheduler, a, b


def with_waiting_group(manager, **options):
    scheduler, a, b = grouped(manager, **options)
    while not scheduler.waiting:
        turn(scheduler)
    return scheduler, a, b


def test_the_ids_of_a_waiting_group_stay_its_own():
    scheduler, _, _ = with_waiting_group(BlockManager(6, 4))
    with pytest.raises(BadInput, match=r"'B\.1' is in use"):
        scheduler.add(Request("B.1", 1, 1))
    other = Request("C", 1, 1, num_sequences=2)
    scheduler.abort("A")
    scheduler.add(other)
    turn(scheduler)
    with pytest.raises(BadInput):
        scheduler.fork(other, "C", "B.1")
    with pytest.raises(UnknownSequence, match=r"no request 'B\.1'"):
        scheduler.abort("B.1")


def test_a_group_that_returns_computes_its_prompt_once_and_all_of_it():
    scheduler, _, b = with_waiting_group(BlockManager(9, 4))
    scheduler.abort("A")
    step = scheduler.schedule()
    assert [(work.sequence.seq_id, work.start) for work in step.prefills] == [("B", 0), ("B.1", 8)]
    assert scheduler.manager.table("B.1").blocks[:2] == scheduler.manager.table("B").blocks[:2]
    assert b in scheduler.running


def test_a_sequence_that_others_wait_for_is_not_dropped_before_it_is_computed():
    scheduler, _, b = with_waiting_group(BlockManager(9, 4), chunked_prefill=True)
    scheduler.abort("A")
    scheduler.max_num_batched_tokens = 3
    scheduler.computed(scheduler.schedule())
    with pytest.raises(BadInput, match="is being computed again"):
        scheduler.drop(b, "B")
    while scheduler._is_half_computed(b):
        scheduler.computed(scheduler.schedule())
    scheduler.drop(b, "B")
    assert scheduler.manager.sequences == ["B.1"]
    with pytest.raises(BadInput, match="'B' is in use"):
        scheduler.add(Request("B", 1, 1))
    scheduler.abort("B")
    assert scheduler.manager.num_free_blocks == 9


def test_a_sequence_with_all_its_tokens_asks_for_nothing_while_the_others_go_on():
    scheduler = Scheduler(BlockManager(3, 4))
    request = Request("A", 4, 5, num_sequences=2)
    scheduler.add(request)
    scheduler.computed(scheduler.schedule())
    scheduler.fork(request, "A", "B")
    request.sequences[0].append()  # one ahead of the other
    for _ in range(20):
        step = turn(scheduler)
        if not step.decodes:
            for sequence in request.growing:
                sequence.append()
        finish_complete(scheduler)
    assert not scheduler.has_unfinished()
    assert scheduler.manager.num_free_blocks == 3


@pytest.mark.parametrize("manager", [BlockManager(2, 4), SwapBlockManager(2, 4, num_host_blocks=4)])
def test_a_request_with_all_its_tokens_can_be_finished_at_any_time(manager):
    scheduler = Scheduler(manager, preemption="swap" if isinstance(manager, SwapBlockManager) else "recompute")
    scheduler.add(Request("A", 4, 5))
    for _ in range(5):
        turn(scheduler)
    for _ in range(3):
        step = turn(scheduler)
        assert step.prefills == step.decodes == step.preempted == []
    finish_complete(scheduler)
    assert manager.num_free_blocks == 2


def test_a_child_that_was_told_no_token_yet_returns_with_its_group():
    scheduler = Scheduler(BlockManager(5, 4))
    a, b = Request("A", 8, 9), Request("B", 8, 2, num_sequences=2)
    scheduler.add(a)
    scheduler.add(b)
    scheduler.computed(scheduler.schedule())
    scheduler.fork(b, "B", "B.1")
    a.sequences[0].append()
    b.sequences[0].append()
    while not scheduler.waiting:
        scheduler.computed(scheduler.schedule())
        a.sequences[0].append()
    scheduler.abort("A")
    step = turn(scheduler)
    assert [work.sequence.seq_id for work in step.prefills] == ["B"]
    b.sequence("B.1").append()
    step = turn(scheduler)
    assert [work.sequence.seq_id for work in step.decodes] == ["B.1"]
    finish_complete(scheduler)
    assert scheduler.manager.num_free_blocks == 5


@pytest.mark.parametrize("keys", [[None], [[]], ["a", "b", "c"], None, 5, "ab"])
def test_keys_that_cannot_be_those_of_the_prompt_are_refused_on_arrival(keys):
    scheduler = Scheduler(BlockManager(8, 4))
    with pytest.raises(BadInput):
        scheduler.add(Request("A", 8, 1, keys=keys))
    assert not scheduler.has_unfinished()


def test_keys_of_another_block_size_are_refused():
    prefix = PrefixHasher(2).start()
    prefix.extend(list(range(8)))
    with pytest.raises(BadInput, match="one for each of its 2 full blocks"):
        Scheduler(BlockManager(8, 4)).add(Request("A", 8, 1, keys=prefix.keys))


def test_a_step_of_an_ended_request_publishes_nothing_for_its_namesake():
    scheduler = Scheduler(BlockManager(8, 4))
    scheduler.add(Request("A", 8, 1, keys=["a", "b"]))
    step = scheduler.schedule()
    scheduler.abort("A")
    scheduler.add(Request("A", 8, 1, keys=["c", "d"]))
    scheduler.schedule()
    scheduler.computed(step)
    assert scheduler.manager.cached_prefix(9, ["a", "b"]) == []


def test_a_request_is_added_once():
    scheduler = Scheduler(BlockManager(4, 4))
    request = Request("A", 4, 1)
    scheduler.add(request)
    scheduler.abort("A")
    with pytest.raises(BadInput, match="was added before"):
        scheduler.add(request)


def test_under_a_sliding_window_a_returning_group_shares_no_block_that_is_out_of_sight():
    manager = WindowBlockManager(8, 4, window=5)
    scheduler = Scheduler(manager)
    b = Request("B", 8, 8, num_sequences=2, keys=["a", "b"])
    scheduler.add(b)
    scheduler.computed(scheduler.schedule())
    scheduler.fork(b, "B", "C")
    for _ in range(5):
        for sequence in b.sequences:
            sequence.append()
        scheduler.computed(scheduler.schedule())
    for seq in "BC":
        manager.slide(seq, 12)
    for sequence in b.sequences:
        sequence.append()
    scheduler._preempt_latest(scheduler.schedule())
    scheduler.schedule()
    assert 0 not in manager.table("C").blocks
    assert [table.num_tokens for table in map(manager.table, "BC")] == [14, 14]


def test_nobody_joins_in_a_step_in_which_somebody_yields():
    scheduler, _, _ = grouped(BlockManager(6, 4))
    scheduler.add(Request("C", 1, 1))
    while True:
        step = turn(scheduler)
        if step.preempted:
            break
    assert step.prefills == []


def test_a_block_that_a_decode_fills_can_be_found_right_after_that_step():
    scheduler = Scheduler(BlockManager(8, 4))
    keys = ["a"]
    request = Request("A", 7, 4, keys=keys)
    scheduler.add(request)
    turn(scheduler)
    keys.append("b")
    turn(scheduler)
    assert scheduler.manager.cached_prefix(9, ["a", "b"]) == [1, 2]


def test_sequences_not_forked_yet_count_towards_those_that_run():
    scheduler = Scheduler(BlockManager(20, 4), max_num_seqs=3)
    scheduler.add(Request("A", 4, 2, num_sequences=2))
    scheduler.add(Request("B", 4, 2, num_sequences=2))
    scheduler.schedule()
    assert [request.request_id for request in scheduler.running] == ["A"]
    scheduler.abort("A")
    scheduler.schedule()
    assert [request.request_id for request in scheduler.running] == ["B"]


def test_who_does_not_read_the_cache_computes_its_whole_prompt_and_can_be_found():
    scheduler = Scheduler(BlockManager(8, 4))
    for name in "AB":
        scheduler.add(Request(name, 8, 1, keys=["a", "b"], reads_cache=False))
    step = turn(scheduler)
    assert [(work.start, work.stop) for work in step.prefills] == [(0, 8), (0, 8)]
    assert scheduler.manager.cached_prefix(9, ["a", "b"]) == [1, 2]
    assert scheduler.hits.num_queried == 0


def test_without_keys_no_lookup_is_counted():
    scheduler = Scheduler(BlockManager(8, 4))
    scheduler.add(Request("A", 8, 1))
    turn(scheduler)
    assert scheduler.hits.num_queried == 0


def test_a_prompt_above_the_budget_does_not_join_decodes():
    scheduler = Scheduler(BlockManager(40, 4), max_num_batched_tokens=8)
    scheduler.add(Request("A", 4, 9))
    turn(scheduler)
    scheduler.add(Request("B", 20, 1))
    assert turn(scheduler).prefills == []
    scheduler.abort("A")
    assert len(turn(scheduler).prefills) == 1


def test_in_chunks_nobody_is_admitted_without_budget():
    scheduler = Scheduler(BlockManager(40, 4), max_num_batched_tokens=4, chunked_prefill=True)
    scheduler.add(Request("A", 8, 1))
    scheduler.add(Request("B", 8, 1))
    turn(scheduler)
    assert [request.request_id for request in scheduler.waiting] == ["B"]


def test_a_parent_half_computed_is_not_forked_and_a_fork_computes_nothing_again():
    scheduler = Scheduler(BlockManager(40, 4), max_num_batched_tokens=4, chunked_prefill=True)
    request = Request("A", 8, 3, num_sequences=2)
    scheduler.add(request)
    scheduler.computed(scheduler.schedule())
    with pytest.raises(BadInput, match="not computed to its end"):
        scheduler.fork(request, "A", "B")
    scheduler.computed(scheduler.schedule())
    child = scheduler.fork(request, "A", "B")
    child.append()
    assert [(work.start, work.stop) for work in scheduler.schedule().decodes] == [(8, 9)]


@pytest.mark.parametrize("kind", ["recompute", "swap"])
def test_a_waiting_or_swapped_group_is_neither_dropped_from_nor_finished_and_can_be_aborted(kind):
    log = EventLog()
    manager = RecordedBlockManager(6, 4, log, num_host_blocks=6)
    scheduler, _, b = grouped(manager, preemption=kind, log=log)
    while b in scheduler.running:
        turn(scheduler)
    with pytest.raises(BadInput, match="does not run"):
        scheduler.drop(b, "B.1")
    with pytest.raises(UnknownSequence, match="or waits"):
        scheduler.finish(b, "length")
    scheduler.abort("B")
    scheduler.abort("A")
    assert [e["how"] for e in log.events if e["kind"] == "preempt"] == [kind]
    assert [e["reason"] for e in log.events if e["kind"] == "finish"] == ["abort", "abort"]
    assert manager.num_free_blocks == manager.host_pool.num_free == 6


def test_who_yields_by_recompute_has_nothing_computed_left():
    _, _, b = with_waiting_group(BlockManager(6, 4))
    assert [sequence.num_computed for sequence in b.sequences] == [0, 0]


def test_of_two_that_yield_to_the_host_in_one_step_the_earlier_returns_first():
    manager = SwapBlockManager(4, 4, num_host_blocks=4)
    scheduler = Scheduler(manager, preemption="swap")
    for name, length in (("A", 4), ("B", 2), ("C", 2)):
        scheduler.add(Request(name, length, 9))
    scheduler.computed(scheduler.schedule())
    manager.admit("guest", 4)
    for request in scheduler.running:
        request.sequences[0].append()
    scheduler._preempt_latest(scheduler.schedule())
    scheduler._preempt_latest(scheduler.schedule())
    waiting = [request.request_id for request in scheduler.swapped]
    assert waiting == sorted(waiting)


def test_the_watermark_holds_for_those_who_return_from_the_host():
    manager = SwapBlockManager(10, 4, num_host_blocks=5, watermark=0.3)
    manager.admit("A", 14)  # four blocks, the last with room
    manager.swap_out(["A"])
    manager.admit("B", 13)
    assert manager.num_free_blocks == 6
    assert not manager.can_swap_in(["A"])  # three are kept back
    manager.free("B")
    manager.admit("B", 12)
    assert manager.can_swap_in(["A"])


def test_what_returned_from_the_host_can_be_published_and_found_again():
    manager = SwapBlockManager(4, 4, num_host_blocks=4)
    manager.admit("A", 9)
    manager.publish("A", ["x", "y"])
    manager.swap_out(["A"])
    manager.pool.forget()
    manager.swap_in(["A"])
    manager.publish("A", ["x", "y"])
    assert manager.cached_prefix(9, ["x", "y"]) == manager.table("A").blocks[:2]


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"chunked_prefill": "no"}, "chunked_prefill is 'no'"), ({"manager": None}, "manager is None")],
)
def test_a_setting_of_the_wrong_kind_is_named(settings, words):
    with pytest.raises(BadConfig, match=words):
        Scheduler(**{"manager": BlockManager(4, 4), **settings})


def test_a_complete_sequence_that_gave_its_memory_up_can_be_dropped():
    scheduler, _, b = grouped(BlockManager(6, 4), max_tokens=2)
    b.sequence("B.1").append()  # all its tokens; B lacks one
    scheduler._preempt_latest(scheduler.schedule())
    scheduler.abort("A")
    turn(scheduler)
    assert "B.1" not in scheduler.manager
    scheduler.drop(b, "B.1")
    finish_complete(scheduler)
    assert scheduler.manager.num_free_blocks == 6
