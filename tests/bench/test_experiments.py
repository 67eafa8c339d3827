"""The experiments, each small: what must hold at every seed, and a closed loop that has the paper's exact numbers."""

import math

import pytest

from kvlib.bench import experiments
from kvlib.bench.experiments import batching, beam, latency_s, parallel, queued, sustained_rate
from kvlib.bench.policies import POLICIES

# The paper's figures 2 and 13a.
STORED = {"max": 0.204, "pow2": 0.268, "oracle": 0.382, "paged": 0.963}
RUNNING = {"max": 7.00, "pow2": 9.81, "oracle": 13.62, "paged": 30.42}


@pytest.fixture(scope="module")
def full():
    """Each policy with a queue that never ends."""
    return {policy: queued(0, policy, until_s=1000) for policy in POLICIES}


def test_max_batches_exactly_seven_and_leaves_exactly_what_seven_reservations_leave(full):
    assert round(full["max"].mean_running, 2) == 7.00
    assert full["max"].external == pytest.approx(1 - 7 * 2048 / 15_728)
    assert f"{full['max'].external:.1%}" == "8.9%"


@pytest.mark.parametrize("policy", ["pow2", "oracle"])
def test_pow2_and_oracle_batch_the_papers_number_within_5_percent(full, policy):
    assert full[policy].mean_running == pytest.approx(RUNNING[policy], rel=0.05)


def test_paged_memory_batches_30_to_37(full):
    assert 30 <= full["paged"].mean_running <= 37


@pytest.mark.parametrize("policy", POLICIES)
def test_the_share_of_token_states_is_the_papers_within_2_points(full, policy):
    assert full[policy].stored == pytest.approx(STORED[policy], abs=0.02)


@pytest.mark.parametrize("measure", ["mean_running", "stored", "num_finished"])
def test_the_policies_order_is_strict(full, measure):
    values = [getattr(full[policy], measure) for policy in ("max", "pow2", "oracle", "paged")]
    assert values == sorted(set(values))


@pytest.mark.parametrize("policy", POLICIES)
def test_the_four_shares_are_the_whole_memory(full, policy):
    result = full[policy]
    shares = (result.stored, result.reserved, result.internal, result.external)
    assert min(shares) >= 0
    assert sum(shares) == pytest.approx(1)


def test_only_paged_memory_preempts(full):
    assert [full[policy].num_preemptions > 0 for policy in POLICIES] == [False, False, False, True]


def test_a_trace_is_the_same_for_the_same_seed(monkeypatch):
    monkeypatch.setattr(experiments, "HOUR_S", 100)
    first, again, other = (batching(seed, "paged", "sharegpt", 2.0) for seed in (1, 1, 2))
    assert first == again != other
    assert first.simulated_s == pytest.approx(100, abs=0.5)


def test_the_sustained_rate_is_where_the_latency_passes_the_limit(monkeypatch):
    monkeypatch.setattr(experiments, "HOUR_S", 300)
    rate = sustained_rate(0, "max", "sharegpt", 0.3, 2.0)
    below, above = (latency_s(0, "max", "sharegpt", rate * factor) for factor in (0.9, 1.1))
    assert below < experiments.LIMIT_S < above


def test_a_rate_outside_of_the_search_is_not_a_number(monkeypatch):
    monkeypatch.setattr(experiments, "HOUR_S", 60)
    assert math.isnan(sustained_rate(0, "paged", "sharegpt", 0.1, 0.2))
    assert math.isnan(sustained_rate(0, "max", "sharegpt", 5.0, 6.0))


def test_a_prefix_that_is_held_and_computed_once_costs_less_than_one_for_each_request(monkeypatch):
    monkeypatch.setitem(experiments.TRACE_S, "translation", 60)
    plain, shared = latency_s(0, "paged", "translation", 9.0), latency_s(0, "paged", "translation", 9.0, 16, 341)
    assert plain < shared < latency_s(0, "oracle", "translation", 9.0, 16, 341)


def test_larger_blocks_leave_less_room(monkeypatch):
    monkeypatch.setitem(experiments.TRACE_S, "alpaca", 200)
    assert latency_s(0, "paged", "alpaca", 30.0, 16) < latency_s(0, "paged", "alpaca", 30.0, 256)


@pytest.mark.parametrize("share", [lambda n: parallel(0, "alpaca", n), lambda n: beam(0, "alpaca", n)])
def test_more_samples_and_beams_share_more_and_never_as_much_as_there_are(monkeypatch, share):
    monkeypatch.setitem(experiments.BEAMS, "alpaca", 100)
    assert 0 < share(2) < share(4) < share(6) < 1 - 1 / 6
