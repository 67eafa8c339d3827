"""The measurement files of GPUs, as what a plot may show: rows whose result was right and whose time was measured."""

from collections.abc import Mapping
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

from kvlib.bench.gpu import schema
from kvlib.bench.gpu.loads import Load
from kvlib.bench.measurements import FOLDER, gpu_records

Row = Mapping[str, Any]


class Track(NamedTuple):
    """What the decode kernel did on one GPU: its name, the day, the rate of torch's copy there in GB/s (None: not
    measured), and rows of the measurement file."""

    gpu: str
    date: str
    copy_gbps: float | None
    rows: tuple[Row, ...]

    def like(self, load: Load) -> tuple[Row, ...]:
        """The rows with the heads, dtypes and block size of `load`, whatever their batch and contexts."""
        wanted = {name: load.fields[name] for name in ("nq", "nkv", "d", "page", "q_dtype", "kv_dtype")}
        return tuple(row for row in self.rows if all(row[name] == value for name, value in wanted.items()))


def track(record: Mapping[str, Any]) -> Track | None:
    """What of a measurement file may be plotted; None of one that was made without a GPU.

    Left out are rows that are wrong, skipped or failed, other kernels', and those with a change other than the block
    size. Raises BadInput unless `record` is a file of `kvlib.bench.gpu.schema`.
    """
    schema.check(record)
    if record["gpu"] is None or record["interpreted"]:
        return None
    rows = tuple(row for row in record["rows"] if _is_result(row))
    return Track(record["gpu"]["name"], record["date"], record["ceilings"]["copy_gbps"], rows)


def recorded(folder: Traversable = FOLDER) -> list[Track]:
    """The GPUs of the measurement files in `folder`, by default those that come with this package; in order of files.

    Raises BadInput as `kvlib.bench.measurements.gpu_records` does.
    """
    return [each for record in gpu_records(folder) if (each := track(record))]


def _is_result(row: Row) -> bool:
    unchanged = row["variant"] in ("", f"block={row['page']}")
    return row["status"] == "ok" and bool(row["us_p50"]) and row["impl"] == "kvlib" and unchanged
