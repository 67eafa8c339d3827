"""Measurement files that are made up for tests: of no GPU, and never to be kept."""

import json
from pathlib import Path
from typing import Any

from kvlib.bench.gpu import schema
from kvlib.bench.gpu.loads import Load, equal
from kvlib.bench.gpu.run import Record

from .stubs import RIGHT, TimedInterpreter, runner

NAME = "made up for a test"
BIG = equal(64, 4096)


class MadeUpGpu(TimedInterpreter):
    """The interpreter, which says that it is a GPU."""

    def describe(self):
        return {"name": NAME, "sm": "9.0", "sms": 1, "l2": 1000, "driver": None}


def row(load: Load, us: float | None, **fields: Any) -> dict[str, Any]:
    """A row of the decode suite that took so many microseconds."""
    id = f"decode/{fields.get('impl', 'kvlib')}/{load.name}/{load.dtype}/{load.block_size}/{fields.get('variant', '')}"
    empty = dict.fromkeys(schema.ROW) | {"suite": "decode", "impl": "kvlib", "variant": "", "rot_bytes": 0}
    times = dict.fromkeys(("us_p50", "us_p20", "us_p80", "us_p50_repeat"), us)
    rate = us and load.kv_bytes / us / 1000
    shares = {"gbps": rate, "frac_copy": rate and rate / 4000, "host_us": us and 7.0}
    return empty | {"extra_bytes": 0, "id": id} | load.fields | RIGHT | times | shares | fields


def record(*rows: dict[str, Any], **fields: Any) -> Record:
    """A valid file with these rows, of a GPU whose copy reached 4,000 GB/s."""
    gpu = {"name": NAME, "sm": "9.0", "sms": 100, "l2": 10**6, "driver": None}
    ceilings = {"copy_gbps": 4000.0, "read_gbps": None, "paged_read_gbps": None}
    return runner().record | {"gpu": gpu, "ceilings": ceilings, "rows": list(rows)} | fields


def write(folder: Path, *rows: dict[str, Any], name: str = "made-up.json", **fields: Any) -> None:
    (folder / name).write_text(json.dumps(record(*rows, **fields)), encoding="utf-8")
