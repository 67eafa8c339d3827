"""The report and the file of a run on a GPU."""

import json

import pytest

from kvlib.bench.gpu.report import as_json, as_text, suggested_file

from .stubs import Stub, TimedInterpreter, runner, took

GPU = {"name": "NVIDIA H200", "sm": "9.0", "sms": 132, "l2": 62914560, "driver": "570.1"}


class H200(TimedInterpreter):
    def describe(self):
        return GPU


@pytest.fixture(scope="module")
def record():
    entries = (
        Stub("env/copy", took(2.0)),
        Stub("grid/one"),
        Stub("grid/two", {**took(2.0), "rel_err": 0.25, "status": "wrong", "note": "relative error 0.25"}),
        Stub("decode/kvlib/2x80/fp16", took(2.5)),
        Stub("decode/kvlib/2x80/e4m3", took(1.25)),
        Stub("decode/late", num=10**12),
        Stub("baselines/flex/x", ValueError("no such thing")),
    )
    return runner(*entries, machine=H200(), max_bytes=10**9, clock=lambda: 0.0).run()


def test_it_says_what_was_measured(record):
    text = as_text(record)
    lines = text.splitlines()
    assert lines[0].startswith("NVIDIA H200, sm 9.0, 132 multiprocessors; ")
    assert ["a", "copy,", "read", "and", "written", "500", "GB/s"] in [line.split() for line in lines]
    assert "reading by tables         not measured" in lines
    assert "grid: 1 ok, 1 wrong" in lines
    [row] = [line.split() for line in lines if line.startswith("kvlib/2x80/fp16 ")]
    assert row == ["kvlib/2x80/fp16", "2.5", "2.5", "-", "2.5", "400", "80", "%", "1.0e-04"]
    assert "interpreter" not in text


def test_it_says_what_became_of_the_predictions(record):
    lines = as_text(record).splitlines()
    found = dict(line.rsplit(": ", 1) for line in lines if line.startswith(("goal: paging", "goal: flex")))
    assert set(found.values()) == {"not measured"}
    assert "goal: copy rate: decode at 2x80 reads at 75 % of the copy rate or more: confirmed: 0.80 share" in lines
    assert "goal: e4m3: fp16 takes 1.6 times as long as e4m3, or more: confirmed: 2.00 times" in lines


def test_it_says_what_went_wrong_and_what_was_left_out(record):
    lines = as_text(record).splitlines()
    assert "wrong: grid/two: relative error 0.25" in lines
    assert "error: baselines/flex/x: ValueError: no such thing" in lines
    assert "skipped, 1 rows: its caches take 1000.00 GB, and --max-bytes allows 1.00" in lines


def test_the_file_has_a_line_for_each_row_and_is_the_record(record):
    text = as_json(record)
    assert json.loads(text) == record
    assert sum(line.startswith('{"id"') for line in text.splitlines()) == len(record["rows"] + record["predictions"])


def test_the_file_is_named_after_the_gpu(record):
    assert suggested_file(record) == "data/measurements/h200.json"
    assert suggested_file({"gpu": {"name": "Tesla T4"}}) == "data/measurements/tesla-t4.json"
    assert suggested_file({"gpu": None}) == "data/measurements/interpreter.json"
