"""The simulator: its sums against the real block manager, its ends, its averages, and what it refuses."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvlib.errors import BadConfig, BadInput, BlocksInUse, OutOfBlocks, RequestTooLarge
from kvlib.memory import BlockManager
from kvlib.memory.contiguous import Max, Oracle, Pow2
from kvlib.serving.counted import CountedBlocks
from kvlib.serving.reserved import Reservations
from kvlib.serving.simulator import Simulation, simulate
from kvlib.serving.workload import Arrival


class Steady:
    """A cost law for hand-made cases: every iteration takes one second."""

    def seconds(self, num_seqs, num_new_tokens, num_kv_tokens):
        return 1.0


def arrivals(*requests):
    return [Arrival(*request) for request in requests]


class Walk:
    """The same rules, sequence by sequence, on the real block manager: an iteration a second."""

    def __init__(self, requests, manager, max_num_seqs, max_prompt_tokens):
        self.coming = [(number, *request) for number, request in enumerate(requests, 1)]
        self.final = {number: prompt + output - 1 for number, _, prompt, output in self.coming}
        self.known = {number: prompt for number, _, prompt, _ in self.coming}
        self.manager = manager
        self.max_num_seqs, self.max_prompt_tokens = max_num_seqs, max_prompt_tokens
        self.waiting, self.running, self.preempted, self.finished = [], [], [], []

    def step(self, now_s):
        while self.coming and self.coming[0][1] <= now_s:
            self.waiting.append(self.coming.pop(0)[0])
        self.preempted, self.finished = [], []
        decoded = 0
        while decoded < len(self.running):
            try:
                self.manager.append(self.running[decoded])
                decoded += 1
            except OutOfBlocks:
                latest = self.running.pop()
                self.manager.free(latest)
                self.waiting.insert(0, latest)
                self.preempted.append(latest)
        budget = self.max_prompt_tokens
        while self.waiting and not self.preempted and len(self.running) < self.max_num_seqs:
            head = self.waiting[0]
            first = budget == self.max_prompt_tokens
            if (self.known[head] > budget and not first) or not self.manager.can_admit(self.known[head]):
                break
            self.manager.admit(head, self.known[head])
            budget -= self.known[head]
            self.running.append(self.waiting.pop(0))

    def end(self):
        for number in list(self.running):
            self.known[number] += 1
            if self.manager.table(number).num_tokens == self.final[number]:
                self.running.remove(number)
                self.manager.free(number)
                self.finished.append(number)

    def tables(self):
        return [self.manager.table(number) for number in self.running]


def unused_slots(walk):
    """Slots of the last blocks that their sequences will never fill, from the tables."""
    size = walk.manager.block_size
    return sum(max(0, len(walk.manager.table(n).blocks) * size - walk.final[n]) for n in walk.running)


class Counts:
    """What the simulator hands to its metrics, kept for the comparison."""

    def __init__(self, metrics):
        self.last, self.add = None, metrics.add_iteration
        metrics.add_iteration = self.keep

    def keep(self, seconds, *counts):
        self.last = counts
        self.add(seconds, *counts)


requests = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 20), st.integers(1, 20)), min_size=1, max_size=14)


@given(
    requests=requests,
    num_blocks=st.integers(1, 20),
    block_size=st.integers(1, 8),
    watermark=st.sampled_from([0.0, 0.01, 0.1, 0.5]),
    max_num_seqs=st.integers(1, 6),
    max_prompt_tokens=st.integers(1, 60),
)
def test_every_iteration_is_the_block_managers(
    requests, num_blocks, block_size, watermark, max_num_seqs, max_prompt_tokens
):
    """Who runs, waits, yields and ends, blocks free, tokens stored, slots held and never filled."""
    requests = [r for r in sorted(requests) if -(-(r[1] + r[2] - 1) // block_size) <= num_blocks] or [(0, 1, 1)]
    manager = BlockManager(num_blocks, block_size, watermark=watermark)
    walk = Walk(requests, manager, max_num_seqs, max_prompt_tokens)
    memory = CountedBlocks(num_blocks, block_size, watermark=watermark)
    limits = {"max_num_seqs": max_num_seqs, "max_prompt_tokens": max_prompt_tokens}
    simulation = Simulation(arrivals(*requests), memory, Steady(), **limits)
    counts = Counts(simulation.metrics)
    num_preemptions = num_finished = 0
    preempted = set()
    while simulation.step():
        walk.step(simulation.now_s - 1)
        stored = sum(table.num_tokens for table in walk.tables())
        held = sum(len(table.blocks) for table in walk.tables()) * block_size
        assert counts.last == (len(walk.running), stored, held, unused_slots(walk))
        walk.end()
        assert [sequence.number for sequence in simulation.batch.running] == walk.running
        assert [sequence.number for sequence in simulation.queue] == walk.waiting
        assert memory.num_free_blocks == manager.num_free_blocks
        assert simulation.batch.num_stored == sum(table.num_tokens for table in walk.tables())
        num_preemptions += len(walk.preempted)
        preempted.update(walk.preempted)
        num_finished += len(walk.finished)
        metrics = simulation.metrics
        assert (metrics.num_preemptions, metrics.num_preempted) == (num_preemptions, len(preempted))
        assert metrics.num_finished == num_finished
    assert num_finished == len(requests)
    assert memory.num_free_blocks == num_blocks


POLICIES = st.sampled_from([Max, Pow2, Oracle])


@given(requests=requests, policy=POLICIES, num_slots=st.integers(64, 200), max_num_seqs=st.integers(1, 6))
def test_every_iteration_of_reserved_memory_is_the_contiguous_managers(requests, policy, num_slots, max_num_seqs):
    """The manager that hands out the chunks counts tokens and slots on its own; and nobody ever yields."""
    memory = Reservations(num_slots, policy(64))
    simulation = Simulation(arrivals(*sorted(requests)), memory, Steady(), max_num_seqs=max_num_seqs)
    counts = Counts(simulation.metrics)
    while simulation.step():
        num_running, num_stored, num_held, num_unused = counts.last
        assert 1 <= num_running <= max_num_seqs
        assert num_stored <= num_held - num_unused <= num_held <= num_slots
        split = memory.manager.split()
        assert simulation.batch.num_stored == split.stored
        assert (memory.num_held, memory.num_unused) == (num_slots - split.external - split.free, split.internal)
    result = simulation.result()
    assert (result.num_finished, result.num_preemptions) == (len(requests), 0)
    assert memory.manager.split().free == num_slots


@given(requests=requests, policy=POLICIES)
def test_first_come_first_served_even_where_a_later_one_would_fit(requests, policy):
    simulation = Simulation(arrivals(*sorted(requests)), Reservations(64, policy(64)), Steady())
    begun = []
    while simulation.step():
        waiting = [request.number for request in simulation.queue]
        assert waiting == sorted(waiting)
        begun += [request.number for request in simulation.batch.running if request.number not in begun]
    assert begun == sorted(begun)


def test_two_requests_by_hand():
    """Blocks of 2, four of them; A: prompt 3 and 2 tokens, B, a second later: prompt 1 and 3 tokens.

    iteration  A stores  B stores  slots held  never filled
    1          3         -         4           0
    2          4 (ends)  1         6           0
    3          -         2         2           0
    4          -         3 (ends)  4           1
    """
    memory = CountedBlocks(4, 2, watermark=0)
    result = simulate(arrivals((0, 3, 2), (1, 1, 3)), memory, Steady())
    assert result._asdict() == {
        "num_finished": 2,
        "num_refused": 0,
        "num_unfinished": 0,
        "num_iterations": 4,
        "simulated_s": 4.0,
        "mean_running": (1 + 2 + 1 + 1) / 4,
        "peak_running": 2,
        "stored": (3 + 5 + 2 + 3) / 4 / 8,
        "reserved": pytest.approx((1 + 1 + 0 + 0) / 4 / 8),
        "internal": 1 / 4 / 8,
        "external": pytest.approx(1 - (4 + 6 + 2 + 4) / 4 / 8),
        "peak_held": 6 / 8,
        "normalized_latency_s": (2 / 2 + 3 / 3) / 2,
        "num_preemptions": 0,
        "num_preempted": 0,
    }


def test_the_cost_law_is_told_sequences_new_tokens_and_tokens_read():
    class Told(Steady):
        def __init__(self):
            self.calls = []

        def seconds(self, *counts):
            self.calls.append(counts)
            return 1.0

    cost = Told()
    simulate(arrivals((0, 3, 2), (1, 1, 3)), CountedBlocks(4, 2, watermark=0), cost)
    assert cost.calls == [(1, 3, 3), (2, 2, 5), (1, 1, 2), (1, 1, 3)]


def test_the_latest_yields_and_nobody_joins_while_it_does():
    """Three blocks of 4: A and B take one each; A then takes the third, and B, whose turn comes next, yields."""
    simulation = Simulation(arrivals((0, 4, 3), (0, 4, 3), (1, 1, 1)), CountedBlocks(3, 4, watermark=0), Steady())
    assert simulation.step()
    assert [request.number for request in simulation.batch.running] == [1, 2]
    assert simulation.step()
    assert [request.number for request in simulation.batch.running] == [1]
    assert [request.number for request in simulation.queue] == [2, 3]  # a block is free, and 3 would need no more
    assert simulation.queue[0].num_tokens == 5
    while simulation.step():
        pass
    assert (simulation.result().num_preemptions, simulation.result().num_preempted) == (1, 1)


def test_a_request_that_yields_twice_counts_once_as_preempted():
    metrics = simulate(arrivals(*[(0, 1, 9)] * 4), CountedBlocks(10, 1, watermark=0), Steady())
    assert metrics.num_preemptions > metrics.num_preempted > 0


def test_idle_time_counts_in_the_averages():
    result = simulate(arrivals((0, 1, 1), (9, 1, 1)), CountedBlocks(1, 1), Steady())
    assert (result.simulated_s, result.num_iterations) == (10.0, 2)
    assert (result.mean_running, result.stored, result.external) == (0.2, 0.2, 0.8)


def test_a_stop_counts_who_has_not_finished():
    result = simulate(arrivals((0, 1, 2), (0, 1, 9), (1, 1, 9), (99, 1, 1)), CountedBlocks(9), Steady(), until_s=3)
    assert (result.simulated_s, result.num_finished, result.num_unfinished) == (3.0, 1, 2)
    assert result.normalized_latency_s == 2 / 2


def test_a_stop_in_idle_time_ends_there():
    result = simulate(arrivals((0, 1, 1), (99, 1, 1)), CountedBlocks(9), Steady(), until_s=4.5)
    assert (result.simulated_s, result.mean_running, result.num_finished) == (4.5, 1 / 4.5, 1)


def test_a_stop_before_the_first_request_has_no_latency():
    result = simulate(arrivals((5, 1, 1)), CountedBlocks(9), Steady(), until_s=2)
    assert (result.simulated_s, result.num_iterations, result.normalized_latency_s) == (2, 0, None)


def test_arrivals_are_read_one_ahead_and_no_further():
    read = []

    def endless():
        for number in range(10**9):
            read.append(number)
            yield Arrival(float(number), 1, 1)

    simulate(endless(), CountedBlocks(9), Steady(), until_s=20)
    assert len(read) <= 22


def test_prompts_that_join_together_keep_to_the_budget_but_for_the_first():
    simulation = Simulation(
        arrivals(*[(0, n, 1) for n in (5, 5, 1, 30, 1)]), CountedBlocks(99), Steady(), max_prompt_tokens=10
    )
    counts = Counts(simulation.metrics)
    joined = []
    while simulation.step():
        joined.append(counts.last[1])
    assert joined == [10, 1, 30, 1]


def test_a_request_that_can_never_fit_is_refused_when_it_comes():
    simulation = Simulation(arrivals((0, 1, 4), (2, 60, 5), (3, 1, 1)), CountedBlocks(3, 16), Steady())
    assert simulation.step()
    assert simulation.step()
    with pytest.raises(RequestTooLarge, match=r"request 2 .* 60 \+ 5 tokens need 4 blocks of 16, the memory has 3"):
        simulation.step()


@pytest.mark.parametrize("memory", [CountedBlocks(3, 16), Reservations(48, Max(32))])
def test_or_is_left_out_and_counted(memory):
    result = simulate(arrivals((0, 1, 4), (2, 60, 5), (3, 1, 1)), memory, Steady(), skip_too_large=True)
    assert (result.num_finished, result.num_refused) == (2, 1)


def test_the_longest_that_fits_is_served_alone():
    assert simulate(arrivals((0, 40, 9)), CountedBlocks(3, 16, watermark=0.9), Steady()).peak_held == 1


def test_a_workload_of_requests_that_are_all_left_out_ends():
    result = simulate(arrivals((0, 99, 1), (5, 99, 1)), CountedBlocks(1), Steady(), skip_too_large=True)
    assert (result.num_finished, result.num_refused, result.mean_running, result.external) == (0, 2, 0, 1)


@pytest.mark.parametrize(
    ("requests", "message"),
    [
        ([], "no request"),
        ([(3, 1, 1), (2, 1, 1)], "request 2 comes at 2 s, the one before it at 3 s"),
        ([(-1, 1, 1)], "request 1 comes at -1"),
        ([(math.nan, 1, 1)], "request 1 comes at nan"),
        ([(math.inf, 1, 1)], "request 1 comes at inf"),
        ([("now", 1, 1)], "request 1 comes at 'now'"),
        ([(0, 1, 1), (0, 0, 1)], "num_prompt_tokens of request 2 is 0"),
        ([(0, 1, -4)], "num_output_tokens of request 1 is -4"),
        ([(0, 1.5, 1)], r"num_prompt_tokens of request 1 is 1\.5"),
    ],
)
def test_a_bad_workload_is_named(requests, message):
    with pytest.raises(BadInput, match=message):
        simulate(arrivals(*requests), CountedBlocks(9), Steady())


@pytest.mark.parametrize(
    "setting",
    [
        {"max_num_seqs": 0},
        {"max_prompt_tokens": 0},
        {"until_s": 0},
        {"until_s": -1.0},
        {"until_s": math.nan},
        {"until_s": "1"},
        {"until_s": True},
    ],
)
def test_a_bad_setting_is_named(setting):
    with pytest.raises(BadConfig, match=next(iter(setting))):
        simulate(arrivals((0, 1, 1)), CountedBlocks(9), Steady(), **setting)


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("num_blocks", (0, 16)),
        ("block_size", (9, 0)),
        ("block_size", (9, 1.0)),
        ("num_blocks", (True, 16)),
    ],
)
def test_counted_blocks_refuses_a_memory_without_slots(name, setting):
    with pytest.raises(BadConfig, match=name):
        CountedBlocks(*setting)


@pytest.mark.parametrize("watermark", [-0.1, 1, math.nan, "0.1", True])
def test_counted_blocks_refuses_a_watermark_that_is_no_share(watermark):
    with pytest.raises(BadConfig, match="watermark"):
        CountedBlocks(9, 16, watermark=watermark)


def test_a_memory_in_use_is_refused():
    memory = CountedBlocks(9)
    simulate(arrivals((0, 1, 9)), memory, Steady(), until_s=2)
    with pytest.raises(BlocksInUse, match="0 requests, 0 tokens, 16 held"):
        simulate(arrivals((0, 1, 1)), memory, Steady())


def test_sums_that_do_not_come_back_to_zero_are_reported():
    simulation = Simulation(arrivals((0, 1, 1)), CountedBlocks(9), Steady())
    simulation.memory.num_free_blocks -= 1  # a leak
    assert simulation.step()
    with pytest.raises(BlocksInUse, match="0 tokens, 16 held"):
        simulation.step()


@pytest.mark.parametrize("other", [None, (1.0, 5, 5), "later"])
def test_what_is_no_arrival_is_named_and_does_not_end_the_workload(other):
    with pytest.raises(BadInput, match=r"request 2 is .*; give Arrivals"):
        Simulation([Arrival(0.0, 5, 5), other, Arrival(1.0, 5, 5)], CountedBlocks(100), None).step()


def test_a_block_too_large_to_be_counted_is_refused():
    with pytest.raises(BadConfig, match="block_size is 99999999999; give at most"):
        CountedBlocks(1, 99_999_999_999)
