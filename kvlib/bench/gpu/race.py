"""One row of `kvlib bench gpu` at a time, for whoever asks: the decode kernel on a load of their choice."""

from typing import Any

import torch

from kvlib.attention.triton import INTERPRETED
from kvlib.bench.gpu.ceilings import copied
from kvlib.bench.gpu.change import Change
from kvlib.bench.gpu.contestants import ours
from kvlib.bench.gpu.loads import Load
from kvlib.bench.gpu.machine import Machine, find_machine
from kvlib.bench.gpu.measure import Timed
from kvlib.bench.gpu.plan import Entry
from kvlib.bench.gpu.recorded import Track, track
from kvlib.bench.gpu.run import Runner, Settings, blank
from kvlib.bench.gpu.sizes import ON_A_GPU

MEMORY_SHARE = 0.4  # of a GPU's memory for the caches: beside them lie copies that check them
TINY = Load("tiny", (200, 80, 33), num_heads=4, num_kv_heads=2, head_size=32)  # the interpreter takes its time


class Race:
    """The rows of one session, and the copy rate of its machine, which comes with the first row.

    max_bytes: no caches larger than that are made; None for no limit.
    """

    def __init__(self, machine: Machine, max_bytes: int | None = None) -> None:
        self.machine = machine
        self._max_bytes = max_bytes
        self._ceilings: dict[str, float | None] = {}
        self._rows: dict[str, dict[str, Any]] = {}
        self._record: dict[str, Any] = {}

    def run(self, load: Load) -> dict[str, Any]:
        """The decode row of `load`, checked and then timed: a row of `kvlib.bench.gpu.schema`.

        In the interpreter it is the row of `tiny(load)`, which is checked only. A row that failed says why in its note.
        """
        here = tiny(load) if self.machine.interpreted else load
        entry = Timed("decode", "kvlib", here, ours, Change(f"block={load.block_size}"))
        needed = entry.num_bytes(self.machine)
        if self._max_bytes is not None and needed > self._max_bytes:
            room = f"{self._max_bytes / 1e9:.1f} GB of this GPU's memory are for them"
            note = f"the caches take {needed / 1e9:.1f} GB, and {room}: choose fewer requests or a shorter context"
            return blank(entry) | {"status": "skipped", "note": note}
        entries: list[Entry] = [entry]
        if not self._ceilings and not self.machine.interpreted:
            entries.insert(0, Timed("env", "copy", ON_A_GPU.big, copied))
        runner = Runner(self.machine, ON_A_GPU, Settings(("decode",)), lambda record: None, entries=entries)
        runner.record["ceilings"] |= self._ceilings
        self._record = runner.run()
        if self._record["ceilings"]["copy_gbps"]:
            self._ceilings = self._record["ceilings"]
        row = self._record["rows"][-1]
        self._rows[row["id"]] = row
        return row

    @property
    def track(self) -> Track | None:
        """What was measured so far; None where nothing was, as in the interpreter."""
        return track(self._record | {"rows": list(self._rows.values())}) if self._rows else None


def tiny(load: Load) -> Load:
    """A load with the dtype and the block size of `load`, as small as the interpreter needs it."""
    return TINY._replace(block_size=load.block_size, dtype=load.dtype)


def race_here() -> Race:
    """On the GPU at hand, or in the interpreter if that is on. Raises BadConfig where there is neither."""
    machine = find_machine(INTERPRETED)
    if machine.interpreted:
        return Race(machine)
    return Race(machine, int(MEMORY_SHARE * torch.cuda.get_device_properties(machine.device).total_memory))
