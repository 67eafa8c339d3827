"""The run: every row in turn until the time is over, the file written and predictions judged after each suite."""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch

from kvlib.bench.gpu import schema
from kvlib.bench.gpu.machine import Machine
from kvlib.bench.gpu.plan import Entry, plan
from kvlib.bench.gpu.pools import Pools
from kvlib.bench.gpu.predictions import predictions
from kvlib.bench.gpu.sizes import Sizes
from kvlib.bench.gpu.suites import DEADLINE_S, SHARES, chosen
from kvlib.bench.record import record
from kvlib.errors import BadConfig

Record = dict[str, Any]
Warm = Callable[[float], dict[str, Any]]
NOT_REACHED = "not reached"
WARM_SHARE = 0.75  # of the time for env


class Settings(NamedTuple):
    """suites: those wanted, of SHARES. max_bytes: rows whose caches take more are left out; None for no limit.
    deadline_s: seconds after which no row is begun."""

    suites: tuple[str, ...] = tuple(SHARES)
    max_bytes: int | None = None
    deadline_s: float = DEADLINE_S


class Runner:
    """One run of `kvlib bench gpu`.

    save is given the whole record, a valid file, before the first row and after each suite. tell receives a line now
    and then. warm has the kernels compiled, in so many seconds at most, and says how that went. clock: of the deadline.
    entries: the rows, in place of all that `plan` has.
    """

    def __init__(
        self,
        machine: Machine,
        sizes: Sizes,
        settings: Settings,
        save: Callable[[Record], None],
        tell: Callable[[str], None] = lambda line: None,
        warm: Warm | None = None,
        clock: Callable[[], float] = time.monotonic,
        entries: Sequence[Entry] | None = None,
    ) -> None:
        self._machine, self._settings = machine, settings
        self._save, self._tell, self._warm, self._clock = save, tell, warm, clock
        self._start = clock()
        self._pools = Pools(machine)
        self._suites = chosen(settings.suites)
        self._entries = plan(sizes, settings.suites) if entries is None else entries
        self._predictions = predictions(sizes)
        self._rows = {entry.fields["id"]: blank(entry) for entry in self._entries}
        self._lost = ""  # why the device answers no more
        self.record = self._header()

    def run(self) -> Record:
        """The record. A KeyboardInterrupt is raised on when all that was measured by then is saved."""
        self._save(self.record)
        seconds = WARM_SHARE * self._until("env") - self._elapsed()
        if self._warm is not None and seconds > 0:
            self._tell("compiling the kernels")
            self.record["env"]["compiled"] = self._warm(seconds)
        for suite in self._suites:
            entries = [entry for entry in self._entries if entry.suite == suite]
            self._tell(f"{suite}: {len(entries)} rows, {self._elapsed():.0f} s so far")
            try:
                self._fill(entries)
            finally:
                self._finish()
        return self.record

    def _fill(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            row = self._rows[entry.fields["id"]]
            row |= self._measured(entry)
            self._compare(row)

    def _measured(self, entry: Entry) -> dict[str, Any]:
        if reason := self._lost or self._refusal(entry):
            return {"status": "skipped", "note": reason}
        if self._elapsed() >= self._until(entry.suite):
            self.record["deadline_hit"] = True
            return {"status": "skipped", "note": f"the time for {entry.suite} was over"}
        try:
            return entry.fill(self._pools, self._machine)
        except BadConfig as error:
            return {"status": "skipped", "note": str(error)}
        except Exception as error:
            lines = str(error).strip().splitlines() or [""]
            note = f"{type(error).__name__}: {lines[0]}"[:300]
            self._lost = self._device_lost(entry)
            return {"status": "error", "note": note}

    def _refusal(self, entry: Entry) -> str:
        """Why this row cannot be measured here, empty if it can."""
        properties, limit = self._machine.properties, self._settings.max_bytes
        needed = entry.num_bytes(self._machine)
        if limit is not None and needed > limit:
            return f"its caches take {needed / 1e9:.2f} GB, and --max-bytes allows {limit / 1e9:.2f}"
        if torch.bfloat16 in entry.dtypes and self._machine.interpreted:
            return "Triton's interpreter computes bfloat16 wrongly"
        if torch.bfloat16 in entry.dtypes and not properties.has_bfloat16:
            return f"bfloat16 needs compute capability 8.0; {properties.name} has less"
        return ""

    def _device_lost(self, entry: Entry) -> str:
        try:
            self._machine.synchronize()
        except RuntimeError:
            return f"the device failed in {entry.fields['id']} and answers no more"
        return ""

    def _compare(self, row: dict[str, Any]) -> None:
        """Rates of a timed row, and its shares of the ceilings; of a row of env, the ceiling."""
        if not row["us_p50"]:
            return
        ceilings = self.record["ceilings"]
        row["gbps"] = row["kv_bytes"] / row["us_p50"] / 1e3
        if row["suite"] == "env" and row["status"] == "ok":
            ceilings[f"{row['impl'].replace('-', '_')}_gbps"] = row["gbps"]
        for share, ceiling in (("frac_copy", "copy_gbps"), ("frac_read", "read_gbps")):
            if ceilings[ceiling]:
                row[share] = row["gbps"] / ceilings[ceiling]

    def _finish(self) -> None:
        self.record["predictions"] = [each.judged(self._rows) for each in self._predictions]
        self.record["seconds"] = round(self._elapsed(), 1)
        self._save(self.record)

    def _until(self, suite: str) -> float:
        """Seconds after the start when this suite has to end: its share and those before it, of the suites wanted."""
        before = self._suites[: self._suites.index(suite) + 1]
        all_shares = sum(SHARES[name] for name in self._suites)
        return self._settings.deadline_s * sum(SHARES[name] for name in before) / all_shares

    def _elapsed(self) -> float:
        return self._clock() - self._start

    def _header(self) -> Record:
        about = record("torch", "triton", "numpy")
        about["versions"]["cuda"] = torch.version.cuda
        return {
            "schema": schema.VERSION,
            **about,
            "gpu": self._machine.describe(),
            "env": self._machine.environment(),
            "interpreted": self._machine.interpreted,
            "suites": self._suites,
            "deadline_s": self._settings.deadline_s,
            "deadline_hit": False,
            "seconds": 0.0,
            "ceilings": dict.fromkeys(schema.CEILINGS),
            "predictions": [each.judged({}) for each in self._predictions],
            "rows": list(self._rows.values()),
        }


def blank(entry: Entry) -> dict[str, Any]:
    """The row of an entry that was not reached."""
    empty = dict.fromkeys(schema.ROW) | {"rot_bytes": 0, "kv_bytes": 0, "extra_bytes": 0}
    return empty | {"status": "skipped", "note": NOT_REACHED} | entry.fields
