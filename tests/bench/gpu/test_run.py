"""The run: what is left out and why, what is written when, and what a row means for the ceilings and predictions."""

import copy

import pytest
import torch

from kvlib.attention.triton.device import T4
from kvlib.bench.gpu import schema
from kvlib.bench.gpu.loads import Load
from kvlib.bench.gpu.plan import plan
from kvlib.bench.gpu.run import NOT_REACHED, Runner, Settings
from kvlib.bench.gpu.sizes import INTERPRETED
from kvlib.bench.gpu.suites import SHARES
from kvlib.errors import BadConfig, BadInput

from .stubs import RIGHT, Stub, TimedInterpreter, runner, took


def rows_of(record):
    schema.check(record)
    return {row["id"]: row for row in record["rows"]}


def test_after_the_deadline_every_row_is_there_and_says_so():
    record = Runner(TimedInterpreter(), INTERPRETED, Settings(deadline_s=1e-9), lambda record: None).run()
    rows = rows_of(record)
    assert set(rows) == {entry.fields["id"] for entry in plan(INTERPRETED, list(SHARES))}
    assert {row["status"] for row in rows.values()} == {"skipped"}
    assert record["deadline_hit"]
    assert rows["decode/kvlib/2x80/fp16"]["note"] == "the time for decode was over"


def test_the_deadline_is_looked_at_before_every_row():
    now = [0.0]

    def second():
        now[0] += 1

    entries = [Stub(f"env/{i}", before=second) for i in range(5)]
    record = runner(*entries, deadline_s=330, clock=lambda: now[0] * 25).run()
    assert [row["status"] for row in record["rows"]] == ["ok", "ok", "ok", "skipped", "skipped"]  # 60 of 330 s for env
    assert record["deadline_hit"]


def test_what_one_suite_leaves_of_its_time_is_the_next_ones():
    now = [0.0]

    def passes(seconds):
        return lambda: now.__setitem__(0, now[0] + seconds)

    slow = [Stub(f"grid/{i}", before=passes(40)) for i in range(4)]
    runs = [runner(Stub("env/copy", before=passes(first)), *slow, clock=lambda: now[0]).run() for first in (5, 65)]
    assert [sum(row["status"] == "ok" for row in record["rows"]) for record in runs] == [4, 2]


def test_a_run_of_one_suite_has_all_the_time():
    now = [0.0]
    entries = [Stub(f"decode/{i}", before=lambda: now.__setitem__(0, now[0] + 100)) for i in range(5)]
    one = Runner(
        TimedInterpreter(),
        INTERPRETED,
        Settings(("decode",), deadline_s=330),
        lambda record: None,
        clock=lambda: now[0],
        entries=entries,
    )
    assert [row["status"] for row in one.run()["rows"]] == ["ok"] * 4 + ["skipped"]
    assert one.record["suites"] == ["env", "decode"]


def test_the_file_is_written_before_the_first_row_and_after_each_suite():
    saved = []

    def save(record):
        schema.check(record)
        saved.append(copy.deepcopy(record))

    runner(Stub("env/copy"), Stub("grid/one"), Stub("grid/two"), Stub("decode/one"), save=save).run()
    reached = [sum(row["note"] != NOT_REACHED for row in record["rows"]) for record in saved]
    assert reached == [0, 1, 3, 4, 4, 4]  # five suites, the last two without a row
    assert all(len(record["predictions"]) > 10 for record in saved)


def test_a_run_that_is_interrupted_keeps_what_it_has():
    saved = []
    one = runner(Stub("env/copy"), Stub("grid/one", KeyboardInterrupt()), Stub("decode/one"), save=saved.append)
    with pytest.raises(KeyboardInterrupt):
        one.run()
    rows = rows_of(saved[-1])
    assert rows["env/copy"]["status"] == "ok"
    assert (rows["grid/one"]["note"], rows["decode/one"]["note"]) == (NOT_REACHED, NOT_REACHED)


def test_a_wrong_row_keeps_its_time_and_is_no_result():
    wrong = {**took(50.0), "rel_err": 0.3, "status": "wrong", "note": "relative error 0.3"}
    name = "decode/kvlib/2x80/fp16"
    record = runner(Stub("env/copy", took(1.0)), Stub(name, wrong)).run()
    row = rows_of(record)[name]
    assert (row["status"], row["us_p50"]) == ("wrong", 50.0)
    [goal] = [each for each in record["predictions"] if each["id"] == "goal: copy rate"]
    assert (goal["values"], goal["verdict"]) == ([None], "not measured")


def test_a_ceiling_that_came_out_wrong_is_none():
    wrong = {**took(50.0), "rel_err": 0.3, "status": "wrong", "note": "relative error 0.3"}
    record = runner(Stub("env/copy", wrong), Stub("decode/one", took(50.0))).run()
    assert record["ceilings"]["copy_gbps"] is None
    assert rows_of(record)["decode/one"]["frac_copy"] is None


def test_rates_are_bytes_over_time_and_shares_are_of_the_ceilings():
    entries = (Stub("env/copy", took(2.0)), Stub("env/read", took(4.0)), Stub("env/paged-read", took(5.0)))
    record = runner(*entries, Stub("decode/one", took(8.0))).run()
    assert record["ceilings"] == {"copy_gbps": 500.0, "read_gbps": 250.0, "paged_read_gbps": 200.0}
    row = rows_of(record)["decode/one"]
    assert (row["gbps"], row["frac_copy"], row["frac_read"]) == (125.0, 0.25, 0.5)


def test_an_error_is_the_note_of_its_row_and_the_run_goes_on():
    record = runner(Stub("grid/bad", ValueError("no such thing\nat all")), Stub("grid/good")).run()
    rows = rows_of(record)
    assert (rows["grid/bad"]["status"], rows["grid/bad"]["note"]) == ("error", "ValueError: no such thing")
    assert rows["grid/good"]["status"] == "ok"


def test_what_a_kernel_refuses_is_an_error_and_what_a_device_lacks_is_skipped():
    rows = rows_of(runner(Stub("grid/one", BadInput("odd")), Stub("grid/two", BadConfig("too large"))).run())
    assert (rows["grid/one"]["status"], rows["grid/one"]["note"]) == ("error", "BadInput: odd")
    assert (rows["grid/two"]["status"], rows["grid/two"]["note"]) == ("skipped", "too large")


def test_a_device_that_answers_no_more_ends_the_rows_after_the_one_that_broke_it():
    class Broken(TimedInterpreter):
        def synchronize(self):
            raise RuntimeError("an illegal memory access was encountered")

    entries = (Stub("env/copy"), Stub("grid/one", RuntimeError("illegal memory access")), Stub("decode/two"))
    rows = rows_of(runner(*entries, machine=Broken()).run())
    assert [row["status"] for row in rows.values()] == ["ok", "error", "skipped"]
    assert rows["decode/two"]["note"] == "the device failed in grid/one and answers no more"


def test_rows_that_need_more_than_max_bytes_are_left_out_by_name():
    small, large = Stub("decode/small", num=999), Stub("decode/large", num=2 * 10**9)
    rows = rows_of(runner(small, large, max_bytes=10**9).run())
    assert rows["decode/small"]["status"] == "ok"
    assert rows["decode/large"]["note"] == "its caches take 2.00 GB, and --max-bytes allows 1.00"
    assert {row["status"] for row in rows_of(runner(small, large).run()).values()} == {"ok"}


@pytest.mark.parametrize(
    ("properties", "interpreted", "words"),
    [
        (T4, False, "bfloat16 needs compute capability 8.0; T4 has less"),
        (TimedInterpreter.properties, True, "Triton's interpreter computes bfloat16 wrongly"),
    ],
)
def test_bfloat16_is_left_out_where_it_cannot_be_had(properties, interpreted, words):
    machine = TimedInterpreter()
    machine.properties, machine.interpreted = properties, interpreted
    entry = Stub("decode/one", dtypes=(torch.bfloat16, torch.bfloat16))
    assert rows_of(runner(entry, machine=machine).run())["decode/one"]["note"] == words
    assert rows_of(runner(entry).run())["decode/one"]["status"] == "ok"


def test_kernels_are_compiled_first_in_a_part_of_the_time_and_not_after_the_deadline():
    budgets = []

    def warm(seconds):
        budgets.append(seconds)
        return {"workers": 3}

    record = runner(Stub("env/copy"), warm=warm, deadline_s=330, clock=lambda: 7.0).run()
    assert budgets == [45.0]
    assert record["env"]["compiled"] == {"workers": 3}
    runner(Stub("env/copy"), warm=warm, deadline_s=1, clock=iter(range(100)).__next__).run()
    assert budgets == [45.0]


def test_stages_are_told():
    lines = []
    runner(Stub("env/copy"), Stub("grid/one"), tell=lines.append, clock=lambda: 0.0).run()
    assert lines[:2] == ["env: 1 rows, 0 s so far", "grid: 1 rows, 0 s so far"]


def test_no_two_rows_of_the_plan_have_one_id():
    ids = [entry.fields["id"] for entry in plan(INTERPRETED, list(SHARES))]
    assert len(set(ids)) == len(ids)


def test_the_fields_of_a_load_are_those_of_a_row():
    assert set(Load("any", (1,)).fields) < set(schema.ROW)
    assert set(RIGHT) < set(schema.ROW)
