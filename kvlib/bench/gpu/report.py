"""What `kvlib bench gpu` measured, for people and for programs."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
NOT_MEASURED = "not measured"


def as_json(record: Mapping[str, Any]) -> str:
    """The measurement for programs: one line for each row and prediction, so that two files can be compared."""
    lines = []
    for name, value in record.items():
        text = json.dumps(value, allow_nan=False)
        if isinstance(value, list) and value and isinstance(value[0], dict):
            text = "[\n" + ",\n".join(json.dumps(each, allow_nan=False) for each in value) + "\n]"
        lines.append(f"{json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def as_text(record: Mapping[str, Any]) -> str:
    """The measurement for people: the machine, the proof, decode, what was predicted, and what went wrong."""
    rows: list[Row] = record["rows"]
    decode = [row for row in rows if row["suite"] == "decode"]
    baselines = [row for row in rows if row["suite"] == "baselines"]
    parts = [
        _about(record),
        _proof([row for row in rows if row["suite"] == "grid"]),
        *(_table(each) for each in (decode, baselines) if each),
        _predictions(record["predictions"]),
        _others(rows),
    ]
    return "\n\n".join("\n".join(lines) for lines in map(list, parts) if lines)


def suggested_file(record: Mapping[str, Any]) -> str:
    """Where in the clone the measurement of this device belongs."""
    name = record["gpu"]["name"] if record["gpu"] else "interpreter"
    return f"data/measurements/{'-'.join(name.lower().removeprefix('nvidia ').split())}.json"


def _about(record: Mapping[str, Any]) -> Iterator[str]:
    gpu = record["gpu"]
    device = f"{gpu['name']}, sm {gpu['sm']}, {gpu['sms']} multiprocessors" if gpu else record["device"]
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items() if version)
    yield f"{device}; {record['date']}; {versions}"
    if record["interpreted"]:
        yield "Triton's interpreter on a CPU: the results are checked, and no time is a measurement."
    yield f"{record['seconds']:.0f} s" + (", cut off by the deadline" if record["deadline_hit"] else "")
    for name, words in (("copy", "a copy, read and written"), ("read", "reading"), ("paged_read", "reading by tables")):
        yield f"{words:26}{_shown(record['ceilings'][f'{name}_gbps'], '.0f', ' GB/s')}"


def _proof(rows: Sequence[Row]) -> Iterator[str]:
    if not rows:
        return
    worst: dict[str, float] = {}
    for row in rows:
        if row["rel_err"] is not None:
            worst[row["kv_dtype"]] = max(row["rel_err"], worst.get(row["kv_dtype"], 0.0))
    counts = Counter(row["status"] for row in rows)
    yield "grid: " + ", ".join(f"{count} {status}" for status, count in counts.items())
    yield "worst relative error by dtype of the cache: " + ", ".join(
        f"{key} {value:.1e}" for key, value in worst.items()
    )


def _table(rows: Sequence[Row]) -> Iterator[str]:
    width = max(len(_title(row)) for row in rows)
    yield f"{rows[0]['suite']:{width}}      median us   20 % - 80 %    GB/s  of copy  rel. error"
    for row in rows:
        spread = f"{row['us_p20']:.1f} - {row['us_p80']:.1f}" if row["us_p20"] else ""
        share = _shown(row["frac_copy"] and 100 * row["frac_copy"], ".0f", " %") if row["us_p50"] else ""
        yield (
            f"{_title(row):{width}}{_shown(row['us_p50'], '.1f'):>15}{spread:>14}{_rate(row):>8}{share:>9}"
            f"{_shown(row['rel_err'], '.1e', instead=''):>12}{'' if row['status'] == 'ok' else '  ' + row['status']}"
        ).rstrip()


def _predictions(predictions: Sequence[Row]) -> Iterator[str]:
    yield "predicted before the run"
    for each in predictions:
        values = ", ".join(_shown(value, ".2f", f" {each['unit']}") for value in each["values"])
        found = f"{each['verdict']}: {values}" if any(each["values"]) else NOT_MEASURED
        yield f"{each['id']}: {each['claim']}: {found}"


def _others(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        if row["status"] in ("wrong", "error"):
            yield f"{row['status']}: {row['id']}: {row['note']}"
    skipped = Counter(row["note"] for row in rows if row["status"] == "skipped")
    for note, count in skipped.items():
        yield f"skipped, {count} rows: {note}"


def _title(row: Row) -> str:
    return row["id"].partition("/")[2]


def _rate(row: Row) -> str:
    return _shown(row["gbps"], ".0f", instead="")


def _shown(value: float | None, form: str, unit: str = "", instead: str = NOT_MEASURED) -> str:
    return instead if value is None else f"{value:{form}}{unit}"
