"""What of a measurement file may be plotted."""

import json

import pytest

from kvlib.bench.gpu import schema
from kvlib.bench.gpu.loads import equal
from kvlib.bench.gpu.recorded import recorded, track
from kvlib.errors import BadInput

from .made_up import BIG, NAME, record, row, write


def test_the_file_that_these_tests_make_up_is_valid():
    schema.check(record(row(BIG, 300.0)))


def test_a_right_and_timed_row_is_shown_with_its_gpu_and_the_copy_rate(tmp_path):
    write(tmp_path, row(BIG, 300.0))
    [found] = recorded(tmp_path)
    assert (found.gpu, found.copy_gbps, [each["us_p50"] for each in found.like(BIG)]) == (NAME, 4000.0, [300.0])


@pytest.mark.parametrize(
    "left_out",
    [
        row(BIG, 300.0, status="wrong", note="relative error 1"),
        row(BIG, None, status="skipped", note="no time"),
        row(BIG, None, status="error", note="RuntimeError"),
        row(BIG, None),
        row(BIG, 300.0, impl="naive"),
        row(BIG, 300.0, variant="heads unpacked"),
        row(BIG, 300.0, variant="block=64"),
    ],
    ids=["wrong", "skipped", "error", "not timed", "another kernel", "another way", "named for another block size"],
)
def test_what_is_no_result_of_the_kernel_as_it_is_is_left_out(tmp_path, left_out):
    write(tmp_path, left_out, row(equal(1, 1024), 9.0))
    [found] = recorded(tmp_path)
    assert [each["ctx_max"] for each in found.rows] == [1024]


def test_a_run_in_the_interpreter_is_no_measurement(tmp_path):
    write(tmp_path, row(BIG, None), interpreted=True)
    assert recorded(tmp_path) == []


def test_a_run_without_a_gpu_is_no_measurement():
    assert track(record(row(BIG, None), gpu=None)) is None


@pytest.mark.parametrize(
    "other",
    [
        BIG._replace(block_size=64),
        BIG._replace(dtype="bf16"),
        BIG._replace(dtype="e4m3"),
        BIG._replace(num_heads=64),
        BIG._replace(num_kv_heads=4),
        BIG._replace(head_size=64),
    ],
)
def test_a_row_with_another_shape_or_dtype_is_not_like_the_load(other):
    assert track(record(row(other, 300.0))).like(BIG) == ()


def test_batch_and_contexts_may_differ():
    found = track(record(row(equal(1, 32768), 50.0), row(BIG, 300.0)))
    assert [each["batch"] for each in found.like(BIG)] == [1, 64]


def test_the_ablation_of_the_block_size_counts():
    load = BIG._replace(block_size=64)
    found = track(record(row(load, 310.0, suite="ablations", variant="block=64")))
    assert [each["us_p50"] for each in found.like(load)] == [310.0]


def test_files_of_other_measurements_are_left_alone(tmp_path):
    write(tmp_path, row(BIG, 300.0))
    (tmp_path / "engine.json").write_text(json.dumps({"rates": []}), encoding="utf-8")
    (tmp_path / "list.json").write_text("[]", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("{", encoding="utf-8")
    assert len(recorded(tmp_path)) == 1


def test_files_come_in_the_order_of_their_names(tmp_path):
    for name in ("b", "a"):
        gpu = {"name": name, "sm": "9.0", "sms": 1, "l2": 1, "driver": None}
        write(tmp_path, row(BIG, 300.0), name=f"{name}.json", gpu=gpu)
    assert [each.gpu for each in recorded(tmp_path)] == ["a", "b"]


@pytest.mark.parametrize("text", ["{", '{"ceilings": {}}'])
def test_a_damaged_file_is_named(tmp_path, text):
    (tmp_path / "t4.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=r"^t4.json cannot be plotted: .*; write it anew with `kvlib bench gpu`"):
        recorded(tmp_path)


def test_the_files_of_this_package_can_be_read():
    for each in recorded():
        assert each.gpu
