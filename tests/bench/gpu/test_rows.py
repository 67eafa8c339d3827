"""A timed row: every contestant is right under every change, and one that is not is found out."""

import math

import pytest
import torch

from kvlib.bench.gpu.change import NOTHING, Change
from kvlib.bench.gpu.contestants import Prepared, ours
from kvlib.bench.gpu.loads import Load
from kvlib.bench.gpu.machine import Interpreter
from kvlib.bench.gpu.measure import Timed
from kvlib.bench.gpu.plan import plan
from kvlib.bench.gpu.pools import Pools
from kvlib.bench.gpu.proof import Proved
from kvlib.bench.gpu.replay import Captured
from kvlib.bench.gpu.sizes import INTERPRETED
from kvlib.bench.kernels.trials import outcome

from .stubs import TimedInterpreter

LOAD = Load("ragged", (33, 5, 70, 1, 20), num_heads=4, num_kv_heads=2, head_size=32)


def filled(contestant, change=NOTHING, load=LOAD, **options):
    machine = TimedInterpreter(**options)
    return Timed("decode", "someone", load, contestant, change).fill(Pools(machine), machine)


def spoiled(spoil):
    """Our kernel, and `spoil` has its way with every output afterwards: spoil(output, times called)."""

    def contestant(pool, change, machine):
        prepared = ours(pool, change, machine)
        called = []

        def spoiling(call):
            def spoiled_call():
                output = call()
                called.append(1)
                spoil(output, len(called))
                return output

            return spoiled_call

        return prepared._replace(calls=[spoiling(call) for call in prepared.calls])

    return contestant


def test_our_kernel_is_right_and_says_what_it_ran_with():
    row = filled(ours, Change("splits=2", num_splits=2, tokens=32), times=[50.0])
    assert (row["status"], row["finite"], row["us_p50"]) == ("ok", True, 50.0)
    assert 0 < row["rel_err"] < 1e-3
    assert (row["splits"], row["bn"], row["bm"]) == (2, 32, 16)
    parts = 5 * 4 * 2 * 33 * 4  # sequences, heads, splits, head size and the logarithm, bytes
    query = 5 * 4 * 32 * 2
    assert row["extra_bytes"] == 2 * parts + 2 * query + 4 * (3 + 1 + 5 + 1 + 2)
    assert row["rot_bytes"] == LOAD.kv_bytes


@pytest.mark.parametrize(
    ("spoil", "finite"),
    [
        (lambda output, times: output.mul_(1.01), True),
        (lambda output, times: output[2].zero_(), True),  # the longest sequence
        (lambda output, times: output[1, 0].fill_(math.nan), False),  # one that is not computed in float64
        (lambda output, times: output.fill_(math.inf), False),
        (lambda output, times: output.mul_(1.01) if times > 1 else None, True),  # right once, wrong when timed
    ],
    ids=["off", "one row", "NaN", "infinite", "later"],
)
def test_a_wrong_output_is_wrong_whatever_time_it_took(spoil, finite):
    row = filled(spoiled(spoil), times=[50.0])
    assert (row["status"], row["finite"], row["us_p50"]) == ("wrong", finite, 50.0)
    assert "of which 0.001 is allowed" in row["note"]


def test_an_output_that_nobody_writes_to_is_found_out():
    def idle(pool, change, machine):
        output = torch.zeros_like(pool.query)
        return Prepared([lambda: output], owned=[output])

    assert filled(idle)["status"] == "wrong"


def test_what_was_written_before_the_first_call_does_not_count():
    def idle(pool, change, machine):
        prepared = ours(pool, change, machine)
        prepared.calls[0]()
        return prepared._replace(calls=[lambda: prepared.owned[0]])

    machine = Interpreter()
    assert Timed("decode", "someone", LOAD, idle).fill(Pools(machine), machine)["status"] == "wrong"


def test_what_was_written_before_does_not_count_for_the_timed_calls():
    """A contestant that works once, and then leaves its output alone."""

    def lazy(pool, change, machine):
        prepared = ours(pool, change, machine)
        left = [prepared.calls[0]]
        return prepared._replace(calls=[lambda: left.pop()() if left else prepared.owned[0]])

    assert filled(lazy)["status"] == "wrong"


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
@pytest.mark.parametrize("suite", ["env", "ablations", "baselines"])
def test_every_row_of_a_suite_is_right_in_the_interpreter(suite):
    machine = TimedInterpreter()
    pools = Pools(machine)
    small = INTERPRETED._replace(splits=(1, 3), blocks=(1, 24), long=INTERPRETED.big, ragged=INTERPRETED.ragged[:1])
    entries = [entry for entry in plan(small, [suite]) if entry.suite == suite]
    entries = [entry for entry in entries if entry.fields["impl"] != "sdpa-cudnn"]
    machine.interpreted = True  # FlexAttention is not compiled
    found = {entry.fields["id"]: entry.fill(pools, machine)["status"] for entry in entries}
    assert set(found.values()) == {"ok"}
    assert len(found) > 2


def test_a_copy_counts_what_it_reads_and_what_it_writes_and_reading_what_it_reads():
    machine = TimedInterpreter()
    pools = Pools(machine)
    load = INTERPRETED.big
    copy, read, paged_read = (entry.fill(pools, machine) for entry in plan(INTERPRETED, ["env"]))
    cache_bytes = pools.take(load, NOTHING).key_cache.nbytes
    assert (copy["kv_bytes"], read["kv_bytes"]) == (2 * cache_bytes, cache_bytes)
    assert "kv_bytes" not in paged_read  # that of the load


def test_a_trial_is_a_row_with_its_error_and_infinity_is_none():
    machine = TimedInterpreter()
    [proved] = [entry for entry in plan(INTERPRETED, ["grid"]) if isinstance(entry, Proved)][:1]
    row = proved.fill(Pools(machine), machine)
    assert (row["status"], row["rel_err"]) == ("ok", outcome(proved.trial))


def test_a_trial_that_comes_out_wrong_is_wrong(monkeypatch):
    machine = TimedInterpreter()
    [proved] = [entry for entry in plan(INTERPRETED, ["grid"]) if isinstance(entry, Proved)][:1]
    for error, rel_err in ((0.1, 0.1), (math.inf, None)):
        monkeypatch.setattr("kvlib.bench.gpu.proof.outcome", lambda trial, device, error=error: error)
        row = proved.fill(Pools(machine), machine)
        assert (row["status"], row["rel_err"], row["finite"]) == ("wrong", rel_err, rel_err is not None)


def test_a_captured_call_is_right_with_other_lengths_and_tables():
    machine = TimedInterpreter()
    assert Captured(LOAD).fill(Pools(machine), machine)["status"] == "ok"


def test_a_captured_call_that_keeps_old_lengths_is_wrong():
    class Stale(TimedInterpreter):
        """Replays what the tensors held when it captured."""

        def capture(self, call):
            call()
            return lambda: None

    machine = Stale()
    assert Captured(LOAD).fill(Pools(machine), machine)["status"] == "wrong"


def test_a_captured_call_that_reads_lengths_once_is_wrong(monkeypatch):
    """A kernel launched with the longest context at hand, as where the grid is made of the lengths."""
    from kvlib.bench.gpu import replay

    real = replay.paged_decode

    def by_lengths(*args, context_lens, **options):
        return real(*args, context_lens=torch.zeros_like(context_lens), **options)

    monkeypatch.setattr(replay, "paged_decode", by_lengths)
    machine = TimedInterpreter()
    assert Captured(LOAD).fill(Pools(machine), machine)["status"] == "wrong"
