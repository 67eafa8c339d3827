"""The time law of an iteration."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvlib.errors import BadConfig
from kvlib.serving.cost import IterationCost

PLAIN = {"bandwidth": 100.0, "flops": 1000.0, "weight_bytes": 50.0, "num_parameters": 10.0, "kv_bytes_per_token": 2.0}
EXACT = {"iteration_s": 0.5, "sequence_s": 0.25, "bandwidth_reached": 1.0, "flops_reached": 1.0}


def test_the_terms_by_hand():
    law = IterationCost(**PLAIN, **EXACT)
    assert law.seconds(1, 1, 5) == 0.5 + 0.25 + 50 / 100 + 5 * 2 / 100  # weights are read longer than they compute
    assert law.seconds(3, 40, 0) == 0.5 + 3 * 0.25 + 2 * 10 * 40 / 1000  # and 25 new tokens are where it turns
    assert law.seconds(0, 25, 0) == law.seconds(0, 0, 0)


def test_only_the_share_reached_counts():
    half = IterationCost(**PLAIN, **(EXACT | {"bandwidth_reached": 0.5}))
    assert half.seconds(0, 0, 5) == pytest.approx(0.5 + 2 * (50 / 100 + 5 * 2 / 100))
    half = IterationCost(**PLAIN, **(EXACT | {"flops_reached": 0.5}))
    assert half.seconds(0, 40, 0) == pytest.approx(0.5 + 2 * (2 * 10 * 40 / 1000))


def test_a_slower_attention_slows_the_reading_of_the_cache_alone():
    slow = IterationCost(**PLAIN, **EXACT, attention_slowdown=1.5)
    plain = IterationCost(**PLAIN, **EXACT)
    assert slow.seconds(2, 3, 0) == plain.seconds(2, 3, 0)
    assert slow.seconds(2, 3, 100) - slow.seconds(2, 3, 0) == pytest.approx(1.5 * 100 * 2 / 100)


counts = st.integers(0, 10_000)


@given(a=counts, b=counts, c=counts, more=counts)
def test_more_work_never_takes_less_time(a, b, c, more):
    law = IterationCost(**PLAIN)
    assert law.seconds(a, b, c) <= min(
        law.seconds(a + more, b, c), law.seconds(a, b + more, c), law.seconds(a, b, c + more)
    )


@pytest.mark.parametrize("name", [*PLAIN, "bandwidth_reached", "flops_reached", "attention_slowdown"])
@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf, "1", True, None])
def test_a_setting_that_is_no_number_above_0_is_named(name, value):
    with pytest.raises(BadConfig, match=name):
        IterationCost(**(PLAIN | {name: value}))


@pytest.mark.parametrize("name", ["iteration_s", "sequence_s"])
def test_a_constant_may_be_0_and_not_less(name):
    assert getattr(IterationCost(**PLAIN, **{name: 0}), name) == 0
    with pytest.raises(BadConfig, match=name):
        IterationCost(**PLAIN, **{name: -0.001})


@pytest.mark.parametrize("name", ["bandwidth_reached", "flops_reached"])
def test_nobody_reaches_more_than_everything(name):
    with pytest.raises(BadConfig, match=name):
        IterationCost(**PLAIN, **{name: 1.01})
