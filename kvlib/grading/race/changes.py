"""What the lab *Race the kernel* lets a learner predict: a step, changes to it, and how the least time follows."""

from collections.abc import Mapping
from typing import NamedTuple

from kvlib.bench.gpu.loads import Load, equal
from kvlib.bench.gpu.race import Race
from kvlib.errors import BadInput
from kvlib.show.table import Table
from kvlib.shown import shown

BASE = equal(64, 4096)
"""64 requests of 4,096 tokens, 32 query heads, 8 KV heads of 128 numbers, blocks of 16, fp16: Llama-3-8B, one layer."""


class Change(NamedTuple):
    """BASE with one thing changed, and why that does to the least time what it does."""

    load: Load
    why: str

    @property
    def times(self) -> float:
        """The least time as a multiple of that of BASE, on any device."""
        return self.load.kv_bytes / BASE.kv_bytes


CHANGES = {
    "128 requests": Change(equal(128, 4096), "each request has a context of its own, and all are read"),
    "contexts of 1,024": Change(equal(64, 1024), "a quarter of the tokens, a quarter of the bytes"),
    "blocks of 64": Change(
        BASE._replace(name="64x4096-block64", block_size=64),
        "the same keys and values are read; only the block tables are shorter, and they are small",
    ),
    "an e4m3 cache": Change(BASE._replace(dtype="e4m3"), "a number has one byte in place of two"),
    "64 query heads": Change(
        BASE._replace(name="64x4096-group8", num_heads=64),
        "eight heads share what four shared; the keys and values are read once for all of them",
    ),
    "32 KV heads": Change(
        BASE._replace(name="64x4096-group1", num_kv_heads=32), "four times as many keys and values are stored and read"
    ),
}


def compared(predicted: Mapping[str, float], race: Race) -> Table:
    """What was predicted of each change, what the bytes say, and what the GPU at hand takes: multiples of BASE.

    Without a GPU nothing is run, and the last column says so. Raises BadInput where `predicted` is no dict.
    """
    if not isinstance(predicted, Mapping):
        raise BadInput(f"predicted is {shown(predicted)}; it is a dict, a number for each change: see part 2")
    measured = {} if race.machine.interpreted else {name: _us(race, load) for name, (load, _) in CHANGES.items()}
    base = _us(race, BASE) if measured else None
    rows = []
    for name, change in CHANGES.items():
        us = measured.get(name)
        found = f"{us / base:.2f}" if us and base else "not measured"
        rows.append([name, predicted.get(name, ""), f"{change.times:g}", found])
    return Table(["change", "yours", "by the bytes", "here"], rows)


def _us(race: Race, load: Load) -> float | None:
    row = race.run(load)
    return row["us_p50"] if row["status"] == "ok" else None
