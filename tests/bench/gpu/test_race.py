"""One row at a time: checked in the interpreter, and timed on what passes for a GPU."""

import pytest

from kvlib.bench.gpu import measure, schema
from kvlib.bench.gpu import race as module
from kvlib.bench.gpu.loads import equal
from kvlib.bench.gpu.machine import Interpreter
from kvlib.bench.gpu.race import TINY, Race, race_here, tiny

from .made_up import NAME, MadeUpGpu


@pytest.fixture
def small_copy(monkeypatch):
    monkeypatch.setattr(module, "ON_A_GPU", module.ON_A_GPU._replace(big=TINY))


STEP = TINY._replace(name="step")


@pytest.mark.parametrize("dtype", ["fp16", "e4m3"])
@pytest.mark.parametrize("block_size", [1, 16, 256])
def test_the_interpreter_finds_the_kernel_right_and_measures_nothing(dtype, block_size):
    race = Race(Interpreter())
    row = race.run(equal(64, 4096, block_size=block_size)._replace(dtype=dtype))
    assert (row["status"], row["us_p50"], row["page"], row["batch"]) == ("ok", None, block_size, 3)
    assert row["rel_err"] < 1e-3
    assert race.track is None


def test_the_interpreter_refuses_bfloat16_in_words():
    row = Race(Interpreter()).run(equal(64, 4096)._replace(dtype="bf16"))
    assert (row["status"], row["note"]) == ("skipped", "Triton's interpreter computes bfloat16 wrongly")


def test_the_copy_comes_first_and_once(small_copy):
    race = Race(MadeUpGpu([10.0, 40.0, 80.0]))
    first, second = race.run(STEP), race.run(STEP._replace(block_size=8))
    assert (first["us_p50"], second["us_p50"]) == (40.0, 80.0)
    for row in (first, second):
        assert row["frac_copy"] == pytest.approx(row["gbps"] / race.track.copy_gbps)


def test_the_rows_of_a_session_are_a_track(small_copy):
    race = Race(MadeUpGpu([10.0, 40.0, 80.0]))
    race.run(STEP)
    race.run(STEP._replace(block_size=8))
    assert (race.track.gpu, [row["page"] for row in race.track.rows]) == (NAME, [16, 8])


def test_a_row_that_is_run_again_replaces_the_first(small_copy):
    race = Race(MadeUpGpu([10.0, 40.0, 50.0]))
    race.run(STEP)
    race.run(STEP)
    assert [row["us_p50"] for row in race.track.rows] == [50.0]


def test_a_wrong_row_is_no_part_of_the_track(small_copy, monkeypatch):
    monkeypatch.setattr(measure, "BOUNDS", dict.fromkeys(measure.BOUNDS, 0.0))
    race = Race(MadeUpGpu([10.0, 40.0]))
    row = race.run(STEP)
    assert (row["status"], row["us_p50"]) == ("wrong", 40.0)
    assert race.track.rows == ()


def test_caches_above_the_limit_are_not_made(small_copy):
    race = Race(MadeUpGpu(), max_bytes=6 * 10**9)
    row = race.run(equal(128, 32768))
    assert (row["status"], row["us_p50"]) == ("skipped", None)
    assert row["note"] == (
        "the caches take 17.2 GB, and 6.0 GB of this GPU's memory are for them: "
        "choose fewer requests or a shorter context"
    )
    assert race.track is None


def test_every_row_is_one_of_the_schema(small_copy):
    race = Race(MadeUpGpu())
    assert race.run(STEP).keys() == schema.ROW.keys()


def test_tiny_keeps_dtype_and_block_size():
    assert tiny(equal(9, 9, block_size=24)._replace(dtype="e4m3"))[5:] == (24, "e4m3")


def test_here_is_the_interpreter():
    assert race_here().machine.interpreted
