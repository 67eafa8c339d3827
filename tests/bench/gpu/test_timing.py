"""A call's time is a median, of single calls or of a graph's, and it is taken twice."""

from collections import Counter
from types import SimpleNamespace

import pytest
import torch

from kvlib.bench.gpu import timing
from kvlib.bench.gpu.timing import LAUNCHES, REPLAYS, Stopwatch, at_share


class Event:
    """Stands on a clock that replays move on."""

    now_ms = 0.0

    def __init__(self, enable_timing):
        assert enable_timing

    def record(self):
        self.at = Event.now_ms

    def elapsed_time(self, other):
        return other.at - self.at


@pytest.fixture
def gpu(monkeypatch):
    """A GPU that does nothing: what do_bench answers, in ms, is taken from `samples`, what a call takes on the host
    from `host_us`, and every replay takes `replay_ms`."""

    state = SimpleNamespace(samples=[[0.1]], host_us=1.0, replay_ms=0.2, benched=[])

    def do_bench(call, warmup, repeat, *, return_mode):
        assert return_mode == "all"
        state.benched.append(repeat)
        call()
        return state.samples.pop(0) if len(state.samples) > 1 else state.samples[0]

    def captured(call):
        call()

        def replay():
            Event.now_ms += state.replay_ms

        return replay

    monkeypatch.setattr(timing, "do_bench", do_bench)
    monkeypatch.setattr(timing, "captured", captured)
    monkeypatch.setattr(timing, "host_time", lambda call: call() or state.host_us)
    monkeypatch.setattr(timing, "FLUSHED_BYTES", 100)
    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    return state


def stopwatch():
    return Stopwatch(torch.device("cpu"), 10)


def nothing():
    return None


def test_it_is_the_median_not_the_mean_with_a_fifth_on_either_side(gpu):
    gpu.samples = [[0.1], [0.1, 0.2, 0.3, 0.4, 0.5, 9.0], [0.35, 0.25, 0.3]]
    found = stopwatch().time([nothing])
    assert found.us_p50 == pytest.approx(350)
    assert (found.us_p20, found.us_p80) == (pytest.approx(200), pytest.approx(500))
    assert found.us_p50_repeat == pytest.approx(300)
    assert found.graph is False
    assert gpu.benched == [20, 100, 100]


def test_a_call_of_less_than_30_us_is_timed_in_a_graph(gpu):
    gpu.samples = [[0.029]]
    found = stopwatch().time([nothing])
    assert found.graph is True
    assert found.us_p50 == pytest.approx(0.2 * 1000 / LAUNCHES)
    assert found.us_p50_repeat == pytest.approx(found.us_p50)
    assert gpu.benched == [20]


def test_a_call_of_30_us_is_timed_alone_unless_python_is_slower(gpu):
    gpu.samples = [[0.030]]
    assert stopwatch().time([nothing]).graph is False
    gpu.host_us = 31.0
    found = stopwatch().time([nothing])
    assert (found.graph, found.host_us) == (True, 31.0)


def test_what_no_graph_can_hold_is_timed_alone(gpu, monkeypatch):
    def refuses(call):
        raise RuntimeError("operation not permitted when stream is capturing")

    monkeypatch.setattr(timing, "captured", refuses)
    gpu.samples = [[0.010]]
    found = stopwatch().time([nothing])
    assert (found.graph, found.us_p50) == (False, pytest.approx(10))


@pytest.mark.parametrize("us", [10, 100])
def test_calls_take_turns_over_the_memory_they_read(gpu, us):
    gpu.samples = [[us / 1000]]
    turns = []
    calls = [lambda i=i: turns.append(i) for i in range(3)]
    stopwatch().time(calls)
    assert turns == [i % 3 for i in range(len(turns))]
    assert len(turns) == 10 + (1 + LAUNCHES if us == 10 else 3)  # the host's time, do_bench, a graph


def test_each_replay_begins_with_other_memory_in_the_cache(gpu, monkeypatch):
    gpu.samples = [[0.010]]
    watch = stopwatch()
    flushes = Counter()

    class Flushed:
        def zero_(self):
            flushes[Event.now_ms] += 1

    watch._flushed = Flushed()
    watch.time([nothing])
    assert list(flushes.values()) == [1] * 2 * REPLAYS


def test_what_is_flushed_is_larger_than_the_cache():
    assert len(Stopwatch(torch.device("cpu"), 400 * 10**6)._flushed) == 800 * 10**6


@pytest.mark.parametrize(("share", "number"), [(0.0, 1), (0.2, 2), (0.5, 3), (0.8, 4), (1.0, 5)])
def test_a_share_of_sorted_numbers(share, number):
    assert at_share([1, 2, 3, 4, 5], share) == number
