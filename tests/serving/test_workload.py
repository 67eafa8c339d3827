import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvlib.errors import BadConfig, BadInput
from kvlib.serving.workload import Arrival, all_at_once, poisson

ENDLESS = "an endless law of lengths"
rates = st.floats(0.01, 100)
seeds = st.integers(0, 2**64)


def endless():
    return zip(itertools.count(1), itertools.count(1001))


def workload(rate_per_s=2.0, seed=0, lengths=ENDLESS, **end):
    return list(poisson(endless() if lengths == ENDLESS else lengths, rate_per_s, seed, **end))


def test_an_arrival_unpacks_compares_and_shows_itself():
    arrival = Arrival(0.5, 10, 3)
    assert list(arrival) == [0.5, 10, 3, ()]
    assert arrival == Arrival(0.5, 10, 3)
    assert arrival not in (Arrival(0.5, 10, 3, (7,)), Arrival(0.25, 10, 3), (0.5, 10, 3, ()))
    assert repr(arrival) == "Arrival(0.5 s, 10 + 3 tokens)"


@given(rates, seeds, st.integers(1, 50))
def test_times_rise_from_zero_and_lengths_come_in_their_order(rate, seed, n):
    arrivals = workload(rate, seed, num_requests=n)
    times = [arrival.time_s for arrival in arrivals]
    assert times == sorted(times)
    assert times[0] >= 0
    assert [(a.num_prompt_tokens, a.num_output_tokens, a.block_ids) for a in arrivals] == [
        (k, 1000 + k, ()) for k in range(1, n + 1)
    ]


@given(rates, seeds, st.floats(0.1, 20), st.integers(1, 40))
def test_the_earlier_of_the_two_ends_counts(rate, seed, duration, n):
    both = workload(rate, seed, duration_s=duration, num_requests=n)
    assert both == [arrival for arrival in workload(rate, seed, num_requests=n) if arrival.time_s < duration]
    assert both == workload(rate, seed, duration_s=duration)[:n]


@given(seeds)
def test_one_seed_gives_one_workload_and_twice_the_rate_is_the_same_in_half_the_time(seed):
    slow = workload(1.5, seed, num_requests=20)
    assert slow == workload(1.5, seed, num_requests=20)
    fast = workload(3.0, seed, num_requests=20)
    assert [arrival.time_s for arrival in fast] == [arrival.time_s / 2 for arrival in slow]


def test_different_seeds_give_different_times():
    assert workload(seed=0, num_requests=3) != workload(seed=1, num_requests=3)


def test_counts_in_equal_spans_have_the_mean_and_the_variance_of_a_poisson_process():
    counts = [0] * 2000
    for arrival in workload(4.0, duration_s=2000):
        counts[int(arrival.time_s)] += 1
    mean = sum(counts) / len(counts)
    variance = sum((count - mean) ** 2 for count in counts) / len(counts)
    assert mean == pytest.approx(4, abs=5 * math.sqrt(4 / 2000))
    assert variance == pytest.approx(4, rel=0.15)


def test_all_at_once_takes_as_many_pairs_as_it_has_requests_and_lets_them_wait_at_zero():
    lengths = endless()
    assert list(all_at_once(lengths, 2)) == [Arrival(0.0, 1, 1001), Arrival(0.0, 2, 1002)]
    assert next(lengths) == (3, 1003)


def test_a_workload_is_drawn_as_it_is_consumed():
    lengths = endless()
    arrivals = poisson(lengths, 1.0, 0, num_requests=10**9)
    next(arrivals)
    assert next(lengths) == (2, 1002)


@pytest.mark.parametrize("rate", [0, -1.5, math.nan, math.inf, True, None, "2", 10**400, 1e-300])
def test_a_rate_that_is_no_positive_number_is_refused_at_the_call(rate):
    with pytest.raises(BadConfig, match=r"rate_per_s is .* requests a second, above 0"):
        poisson(endless(), rate, 0, num_requests=1)


@pytest.mark.parametrize("duration", [0, -60, math.nan, math.inf, True, "60"])
def test_a_duration_that_is_no_positive_number_is_refused_at_the_call(duration):
    with pytest.raises(BadConfig, match=r"duration_s is .* seconds, above 0"):
        poisson(endless(), 1.0, 0, duration_s=duration)


@pytest.mark.parametrize("n", [0, -1, 2.5, True, math.nan])
def test_a_number_of_requests_below_one_is_refused_at_the_call(n):
    for start in (lambda: poisson(endless(), 1.0, 0, num_requests=n), lambda: all_at_once(endless(), n)):
        with pytest.raises(BadConfig, match=r"num_requests is .* at least 1"):
            start()


@pytest.mark.parametrize("seed", [None, "0", 0.0, True, -1])
def test_a_seed_that_is_no_whole_number_is_refused_at_the_call(seed):
    with pytest.raises(BadConfig, match=r"seed is .* give a whole number"):
        poisson(endless(), 1.0, seed, num_requests=1)


def test_a_workload_without_an_end_is_refused():
    with pytest.raises(BadConfig, match="neither duration_s nor num_requests"):
        poisson(endless(), 1.0, 0)


@pytest.mark.parametrize("end", [{"num_requests": 3}, {"duration_s": 1000}])
def test_lengths_that_run_out_are_named_instead_of_ending_the_workload_early(end):
    with pytest.raises(BadInput, match=r"the lengths ended after 2 pairs and .*from_pairs"):
        workload(lengths=[(5, 5), (6, 6)], **end)
    with pytest.raises(BadInput, match="the lengths ended after 0 pairs"):
        workload(lengths=[], **end)


@pytest.mark.parametrize(
    ("pair", "named"),
    [
        ((0, 5), "num_prompt_tokens of pair 2 is 0"),
        ((5, -1), "num_output_tokens of pair 2 is -1"),
        ((5, math.nan), "num_output_tokens of pair 2 is nan"),
        ((True, 5), "num_prompt_tokens of pair 2 is True"),
        ((5,), r"pair 2 of the lengths is \(5,\)"),
        ("57", "pair 2 of the lengths is '57'"),
        (None, "pair 2 of the lengths is None"),
    ],
)
def test_a_pair_that_is_not_two_counts_is_named_when_its_turn_comes(pair, named):
    arrivals = all_at_once([(5, 5), pair], 2)
    assert next(arrivals) == Arrival(0.0, 5, 5)
    with pytest.raises(BadInput, match=named):
        next(arrivals)
