"""What a measurement file of `kvlib bench gpu` holds: every field, its type, its unit. The book plots it as it is.

A figure that was not measured is null. In the interpreter no time is a measurement, so all times are null there.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from kvlib.errors import BadInput
from kvlib.shown import shown

VERSION = 1
STATUSES = ("ok", "wrong", "skipped", "error")
VERDICTS = ("confirmed", "refuted", "not measured")


class Field(NamedTuple):
    """The Python type that JSON gives back, and what the field means."""

    kind: Any
    meaning: str


FILE = {
    "schema": Field(int, "version of this schema"),
    "date": Field(str, "day of the run, UTC"),
    "device": Field(str, "processor and system"),
    "versions": Field(dict, "of Python, kvlib, torch, triton, numpy and cuda; null: not there"),
    "commit": Field(str | None, 'of the clone; "+": with changes'),
    "gpu": Field(dict | None, "name, sm: compute capability, sms: multiprocessors, l2: bytes, driver; null: none"),
    "env": Field(dict, "settings that change compiled code or clocks, as found"),
    "interpreted": Field(bool, "kernels ran in Triton's interpreter: correctness only"),
    "suites": Field(list, "that were asked for"),
    "deadline_s": Field(float, "after which no row was begun"),
    "deadline_hit": Field(bool, "whether a row was left out for it"),
    "seconds": Field(float, "that the run has taken"),
    "ceilings": Field(dict, "copy_gbps: read plus written; read_gbps; paged_read_gbps"),
    "predictions": Field(list, "written before the first row, judged after the last"),
    "rows": Field(list, "one for each measurement, those left out included"),
}

GPU = {
    "name": Field(str, "as the driver gives it"),
    "sm": Field(str, 'compute capability, "9.0"'),
    "sms": Field(int, "multiprocessors"),
    "l2": Field(int, "bytes"),
    "driver": Field(str | None, "version"),
}

CEILINGS = {
    "copy_gbps": Field(float | None, "torch's copy, bytes read plus bytes written, GB/s"),
    "read_gbps": Field(float | None, "a kernel that only reads, GB/s"),
    "paged_read_gbps": Field(float | None, "a kernel that only reads keys and values through block tables, GB/s"),
}

PREDICTION = {
    "id": Field(str, "short name"),
    "claim": Field(str, "in words"),
    "unit": Field(str, "of low, high and values"),
    "low": Field(float | None, "least value that confirms it"),
    "high": Field(float | None, "largest value that confirms it"),
    "rows": Field(list, "ids of the rows that it speaks of"),
    "over": Field(list, "ids of the rows by whose us_p50 those of rows are divided; empty: not divided"),
    "values": Field(list, "found, one for each row or pair of rows; null: not measured"),
    "verdict": Field(str, ", ".join(VERDICTS)),
}

ROW = {
    "id": Field(str, "suite/impl/shape/dtype/variant, unique in the file"),
    "suite": Field(str, "part of the run"),
    "impl": Field(str, "whose code ran"),
    "variant": Field(str, "what differs from the defaults"),
    "batch": Field(int, "sequences"),
    "ctx_kind": Field(str, "equal or ragged"),
    "ctx_sum": Field(int, "tokens of all contexts"),
    "ctx_max": Field(int, "tokens of the longest"),
    "nq": Field(int, "query heads"),
    "nkv": Field(int, "KV heads"),
    "d": Field(int, "head size"),
    "page": Field(int, "block size in tokens; 0: contiguous"),
    "q_dtype": Field(str, "of the query"),
    "kv_dtype": Field(str, "of the caches"),
    "window": Field(int | None, "sliding window in tokens"),
    "splits": Field(int | None, "programs for one context and KV head"),
    "bm": Field(int | None, "rows of a tile"),
    "bn": Field(int | None, "tokens of a tile"),
    "warps": Field(int | None, "of a program"),
    "stages": Field(int | None, "of Triton's pipeline"),
    "graph": Field(bool | None, "timed as a CUDA graph; else by do_bench"),
    "rot_bytes": Field(int, "distinct bytes of keys and values that the timed launches take turns at"),
    "us_p50": Field(float | None, "median microseconds of one call"),
    "us_p20": Field(float | None, "a fifth of the calls took less"),
    "us_p80": Field(float | None, "a fifth of the calls took more"),
    "us_p50_repeat": Field(float | None, "the median of a second, independent run"),
    "host_us": Field(float | None, "microseconds until a call returns to Python, the GPU still at work"),
    "kv_bytes": Field(int, "keys and values of all contexts, once; of a copy, what it reads and writes"),
    "extra_bytes": Field(int, "query, output, tables and partial results"),
    "gbps": Field(float | None, "kv_bytes a nanosecond, GB/s"),
    "frac_copy": Field(float | None, "gbps as a share of copy_gbps"),
    "frac_read": Field(float | None, "gbps as a share of read_gbps"),
    "rel_err": Field(float | None, "largest relative L2 error of a checked row of output, against float64"),
    "max_abs": Field(float | None, "largest absolute error there"),
    "finite": Field(bool | None, "whether all of the output is"),
    "shared_b": Field(int | None, "bytes of shared memory of a program"),
    "regs": Field(int | None, "registers of a thread"),
    "spill_b": Field(int | None, "registers that did not fit, as the driver counts them"),
    "status": Field(str, "ok; wrong: timed, but no result; skipped and error: the note says why"),
    "note": Field(str, "in words"),
}

TIMES = ("us_p50", "us_p20", "us_p80", "us_p50_repeat", "host_us", "gbps", "frac_copy", "frac_read")


def check(record: Mapping[str, Any]) -> None:
    """Raise BadInput, naming the field, unless `record` is a whole measurement file of this schema."""
    _fields("", record, FILE)
    if record["schema"] != VERSION:
        raise BadInput(f"schema is {record['schema']}; this version of kvlib reads {VERSION}")
    _fields("ceilings.", record["ceilings"], CEILINGS)
    if record["gpu"] is not None:
        _fields("gpu.", record["gpu"], GPU)
    for i, prediction in enumerate(record["predictions"]):
        _fields(f"predictions[{i}].", prediction, PREDICTION)
        _one_of(f"predictions[{i}].verdict", prediction["verdict"], VERDICTS)
    for i, row in enumerate(record["rows"]):
        _fields(f"rows[{i}].", row, ROW)
        _row(f"rows[{i}].", row, record["interpreted"])
    _unique("rows", record["rows"])
    _unique("predictions", record["predictions"])


def _fields(place: str, found: object, fields: Mapping[str, Field]) -> None:
    if not isinstance(found, dict):
        raise BadInput(f"{place.rstrip('.') or 'the file'} is {shown(found)}; expected an object")
    for name, (kind, meaning) in fields.items():
        if name not in found:
            raise BadInput(f"{place}{name} is missing; expected {meaning}")
        if not _is(found[name], kind):
            raise BadInput(f"{place}{name} is {shown(found[name])}; expected {_named(kind)}: {meaning}")
    for name in found:
        if name not in fields:
            raise BadInput(f"{place}{name} is no field of this schema; known are {', '.join(fields)}")


def _row(place: str, row: Mapping[str, Any], interpreted: bool) -> None:
    _one_of(f"{place}status", row["status"], STATUSES)
    if row["status"] == "ok" and (row["rel_err"] is None or not row["finite"]):
        raise BadInput(f"{place}status is 'ok' without a checked result; expected rel_err, and finite to be true")
    if row["status"] in ("skipped", "error") and not row["note"]:
        raise BadInput(f"{place}note is empty; expected why the row is {row['status']!r}")
    timed = [name for name in TIMES if row[name] is not None]
    if timed and (interpreted or row["status"] in ("skipped", "error")):
        why = "the run was interpreted" if interpreted else f"the row is {row['status']!r}"
        raise BadInput(f"{place}{timed[0]} is {row[timed[0]]}, and {why}; expected null")


def _is(value: object, kind: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value) and isinstance(0.0, kind)
    if isinstance(value, bool):
        return kind is bool or kind == bool | None
    return isinstance(value, kind) or (isinstance(value, int) and isinstance(0.0, kind))


def _named(kind: Any) -> str:
    names = {str: "text", int: "a whole number", float: "a finite number", dict: "an object", list: "a list"}
    names |= {bool: "true or false", type(None): "null"}
    return " or ".join(names[each] for each in getattr(kind, "__args__", (kind,)))


def _one_of(place: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise BadInput(f"{place} is {shown(value)}; expected one of {', '.join(allowed)}")


def _unique(name: str, entries: list[Mapping[str, Any]]) -> None:
    seen = set()
    for i, entry in enumerate(entries):
        if entry["id"] in seen:
            raise BadInput(f"{name}[{i}].id is {shown(entry['id'])}, which another has; expected its own")
        seen.add(entry["id"])
