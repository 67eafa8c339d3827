import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvlib.errors import BadConfig, BadInput, RequestTooLarge, UnknownSequence
from kvlib.events import EventLog
from kvlib.memory import BlockManager, RecordedBlockManager
from kvlib.serving.request import Request
from kvlib.serving.scheduler import Scheduler


def names(requests):
    return [request.request_id for request in requests]


def ids(works):
    return [work.request.request_id for work in works]


def run(scheduler, limit=10_000):
    """Let every request write its tokens; returns (finished ids in order, number of preemptions, steps)."""
    finished, num_preempted = [], 0
    for num_steps in range(limit):
        if not scheduler.has_unfinished():
            return finished, num_preempted, num_steps
        step = scheduler.schedule()
        num_preempted += len(step.preempted)
        scheduler.computed(step)
        for request, sequence, _, stop in step.prefills + step.decodes:
            table = scheduler.manager.table(request.request_id)
            assert table.num_tokens == sequence.num_tokens == stop
            sequence.append()
            if sequence.num_tokens == request.num_prompt_tokens + request.max_tokens:
                scheduler.finish(request, "length")
                finished.append(request.request_id)
    raise AssertionError("the loop does not end")


def test_requests_join_and_leave_at_every_step():
    scheduler = Scheduler(BlockManager(8, 4))
    scheduler.add(Request("A", 3, 2))
    first = scheduler.schedule()
    assert (ids(first.prefills), ids(first.decodes)) == (["A"], [])
    scheduler.computed(first)
    first.prefills[0].sequence.append()
    scheduler.add(Request("B", 5, 1))
    second = scheduler.schedule()
    assert (ids(second.prefills), ids(second.decodes)) == (["B"], ["A"])


def test_the_latest_yields_first_and_comes_back_first():
    scheduler = Scheduler(BlockManager(6, 4))
    for name in "ABC":
        scheduler.add(Request(name, 8, 5))
    step = scheduler.schedule()
    scheduler.computed(step)
    for work in step.prefills:
        work.sequence.append()
    step = scheduler.schedule()  # each wants a third block, none is free
    assert names(step.preempted) == ["C"]
    assert ids(step.decodes) == ["A", "B"]
    assert step.prefills == []
    assert names(scheduler.waiting) == ["C"]
    assert scheduler.waiting[0].sequences[0].num_tokens == 9


def test_the_head_of_the_queue_blocks_those_behind_it():
    scheduler = Scheduler(BlockManager(4, 4))
    scheduler.add(Request("long", 12, 1))
    scheduler.computed(scheduler.schedule())
    scheduler.add(Request("longer", 8, 1))
    scheduler.add(Request("short", 1, 1))
    assert scheduler.schedule().prefills == []


def test_the_token_budget_bounds_a_step_and_a_longer_prompt_runs_alone():
    scheduler = Scheduler(BlockManager(100, 4), max_num_batched_tokens=10)
    for name, length in (("A", 6), ("B", 4), ("C", 1), ("D", 50)):
        scheduler.add(Request(name, length, 1))
    steps = [ids(scheduler.schedule().prefills)]
    while scheduler.waiting:
        for request in list(scheduler.running):
            scheduler.finish(request, "length")
        steps.append(ids(scheduler.schedule().prefills))
    assert steps == [["A", "B"], ["C"], ["D"]]


def test_at_most_max_num_seqs_run():
    scheduler = Scheduler(BlockManager(100, 4), max_num_seqs=2)
    for name in "ABC":
        scheduler.add(Request(name, 1, 1))
    assert ids(scheduler.schedule().prefills) == ["A", "B"]


def test_abort_works_in_every_state_and_returns_the_memory():
    scheduler = Scheduler(BlockManager(2, 4), max_num_seqs=1)
    scheduler.add(Request("runs", 4, 2))
    scheduler.add(Request("waits", 4, 2))
    scheduler.schedule()
    scheduler.abort("waits")
    scheduler.abort("runs")
    assert scheduler.manager.num_free_blocks == 2
    assert not scheduler.has_unfinished()
    with pytest.raises(UnknownSequence, match="'runs'"):
        scheduler.abort("runs")


def test_preemption_and_the_end_are_logged():
    log = EventLog()
    scheduler = Scheduler(RecordedBlockManager(2, 4, log), log=log)
    scheduler.add(Request("A", 4, 2))
    scheduler.add(Request("B", 4, 2))
    run(scheduler)
    told = [(e["kind"], e["seq"]) for e in log.events if e["kind"] in ("preempt", "finish")]
    assert told == [("preempt", "B"), ("finish", "A"), ("finish", "B")]


def test_every_iteration_is_a_step_of_the_log_the_first_one_too():
    log = EventLog()
    scheduler = Scheduler(RecordedBlockManager(2, 4, log), log=log)
    scheduler.add(Request("A", 3, 3))
    run(scheduler)
    assert [(e["step"], e["kind"]) for e in log.events if e["kind"] != "free"] == [
        (0, "arrive"),
        (1, "allocate"),
        (1, "write"),
        (2, "write"),
        (3, "allocate"),
        (3, "write"),
        (3, "finish"),
    ]


@given(
    num_blocks=st.integers(4, 12),
    block_size=st.integers(1, 5),
    watermark=st.sampled_from([0.0, 0.25]),
    lengths=st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=8),
)
def test_every_request_that_fits_alone_is_written_to_its_end(num_blocks, block_size, watermark, lengths):
    scheduler = Scheduler(BlockManager(num_blocks, block_size, watermark=watermark))
    added = []
    for number, (num_prompt_tokens, max_tokens) in enumerate(lengths):
        request = Request(str(number), num_prompt_tokens, max_tokens)
        fits = scheduler.manager.blocks_for(num_prompt_tokens + max_tokens - 1) <= num_blocks
        if fits:
            scheduler.add(request)
            added.append(request.request_id)
        else:
            with pytest.raises(RequestTooLarge, match="can never run"):
                scheduler.add(request)
    finished, _, _ = run(scheduler)
    assert sorted(finished) == sorted(added)
    assert scheduler.manager.num_free_blocks == num_blocks


@pytest.mark.parametrize("setting", [{"max_num_seqs": 0}, {"max_num_batched_tokens": 1.5}])
def test_bad_settings_are_named(setting):
    with pytest.raises(BadConfig, match=next(iter(setting))):
        Scheduler(BlockManager(4, 4), **setting)


def test_a_request_id_in_use_is_refused():
    scheduler = Scheduler(BlockManager(4, 4))
    scheduler.add(Request("A", 1, 1))
    with pytest.raises(BadInput, match="'A' is in use"):
        scheduler.add(Request("A", 1, 1))


@pytest.mark.parametrize(("num_prompt_tokens", "max_tokens"), [(0, 2), (-3, 2), (2.5, 2), (True, 2), (4, -5), (4, 0)])
def test_a_request_with_impossible_numbers_is_refused_before_it_can_block_the_queue(num_prompt_tokens, max_tokens):
    with pytest.raises(BadInput, match="give a whole number"):
        Request("A", num_prompt_tokens, max_tokens)


def test_an_id_that_holds_memory_or_has_a_text_in_the_log_is_refused():
    log = EventLog()
    scheduler = Scheduler(RecordedBlockManager(4, 4, log), log=log)
    scheduler.manager.admit("A", 4)
    log.say("B", ["Once"])
    for name, words in (("A", "in use"), ("B", "in the log already")):
        with pytest.raises(BadInput, match=words):
            scheduler.add(Request(name, 1, 1))


def test_a_request_finishes_once():
    scheduler = Scheduler(BlockManager(4, 4))
    scheduler.add(Request("A", 1, 1))
    [(request, *_)] = scheduler.schedule().prefills
    scheduler.finish(request, "length")
    with pytest.raises(UnknownSequence, match="does not run"):
        scheduler.finish(request, "length")
