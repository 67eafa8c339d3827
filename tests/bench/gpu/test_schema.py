"""A file that breaks the schema is refused, with the name of the field."""

import copy
import math

import pytest

from kvlib.bench.gpu import schema
from kvlib.errors import BadInput

from .stubs import Stub, runner, took


@pytest.fixture(scope="module")
def record():
    return runner(Stub("env/copy", took(2.0)), Stub("decode/one", took(5.0)), Stub("decode/two", ValueError("x"))).run()


def changed(record, path, value):
    record = copy.deepcopy(record)
    place = record
    for step in path[:-1]:
        place = place[step]
    if value is KeyError:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return record


def test_a_file_of_a_run_is_valid(record):
    schema.check(record)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["schema"], 2, "schema is 2; this version of kvlib reads 1"),
        (["date"], 20261130, "date is 20261130; expected text: day of the run, UTC"),
        (["ceilings"], KeyError, "ceilings is missing"),
        (["ceilings", "copy_gbps"], "fast", "ceilings.copy_gbps is 'fast'; expected a finite number or null"),
        (["gpu"], {"name": "T4"}, "gpu.sm is missing"),
        (["interpreted"], 0, "interpreted is 0; expected true or false"),
        (["rows", 1, "us_p50"], "5", r"rows\[1\].us_p50 is '5'; expected a finite number or null: median microseconds"),
        (["rows", 1, "us_p50"], math.nan, r"rows\[1\].us_p50 is nan; expected a finite number"),
        (["rows", 1, "us_p50"], True, r"rows\[1\].us_p50 is True; expected a finite number"),
        (["rows", 1, "batch"], 2.5, r"rows\[1\].batch is 2.5; expected a whole number"),
        (["rows", 1, "batch"], True, r"rows\[1\].batch is True; expected a whole number"),
        (["rows", 1, "batch"], None, r"rows\[1\].batch is None; expected a whole number"),
        (["rows", 1, "colour"], "red", r"rows\[1\].colour is no field of this schema"),
        (["rows", 1, "regs"], KeyError, r"rows\[1\].regs is missing; expected registers of a thread"),
        (["rows", 1, "status"], "fine", r"rows\[1\].status is 'fine'; expected one of ok, wrong, skipped, error"),
        (["rows", 1, "rel_err"], None, r"rows\[1\].status is 'ok' without a checked result"),
        (["rows", 1, "finite"], False, r"rows\[1\].status is 'ok' without a checked result"),
        (["rows", 2, "note"], "", r"rows\[2\].note is empty; expected why the row is 'error'"),
        (["rows", 2, "us_p50"], 5.0, r"rows\[2\].us_p50 is 5.0, and the row is 'error'; expected null"),
        (["rows", 1, "id"], "env/copy", r"rows\[1\].id is 'env/copy', which another has"),
        (["rows", 1], [], r"rows\[1\] is \[\]; expected an object"),
        (["interpreted"], True, r"rows\[0\].us_p50 is 2.0, and the run was interpreted; expected null"),
        (["predictions", 0, "verdict"], "maybe", r"predictions\[0\].verdict is 'maybe'; expected one of confirmed"),
        (["predictions", 0, "over"], KeyError, r"predictions\[0\].over is missing"),
    ],
)
def test_a_file_with_a_fault_is_refused_by_the_name_of_the_field(record, path, value, words):
    with pytest.raises(BadInput, match=words):
        schema.check(changed(record, path, value))


def test_what_is_no_object_is_no_file():
    with pytest.raises(BadInput, match="the file is"):
        schema.check([1])


def test_a_whole_number_stands_for_a_time_too(record):
    schema.check(changed(record, ["rows", 1, "us_p50"], 5))
