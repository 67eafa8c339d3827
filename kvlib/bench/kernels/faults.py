"""`kvlib bench faults`: each planted fault, the checks that catch it and how."""

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from kvlib.bench.kernels.apart import NOT_RUN, ROOT, run_apart
from kvlib.bench.kernels.checks import CHECKS, FATAL, RIGHT
from kvlib.bench.kernels.fault import Fault
from kvlib.bench.kernels.planted_decode import DECODE
from kvlib.bench.kernels.planted_prefill import NAIVE, PREFILL
from kvlib.bench.kernels.planted_storing import STORING
from kvlib.bench.kernels.planted_tile import TILE
from kvlib.bench.record import record

FAULTS = (*TILE, *DECODE, *PREFILL, *NAIVE, *STORING)
Tell = Callable[[str], None]


def measure(processes: int = 2, tell: Tell = lambda line: None, faults: Sequence[Fault] = FAULTS) -> dict[str, Any]:
    """Every fault planted in a copy of the package and put to the checks -> a row for each: some five minutes on two
    cores.

    found: {check: what it gave, where that was not "right"}; empty for a fault that none caught.
    """
    rows = []
    with ThreadPoolExecutor(processes) as pool:  # each waits for a process of its own
        for row in pool.map(catch, faults):
            rows.append(row)
            tell(f"{len(rows)} of {len(faults)}: {row['fault']}: {', '.join(row['found']) or 'not caught'}")
    return {**record("triton", "torch", "numpy"), "checks": list(CHECKS), "rows": rows}


def as_json(measured: Mapping[str, Any]) -> str:
    """The table for programs."""
    return json.dumps(measured, indent=1)


def as_text(measured: Mapping[str, Any]) -> str:
    """The table for people: each fault, and the checks that catch it."""
    rows = measured["rows"]
    lines = []
    for row in rows:
        by = ", ".join(f"{name} ({how})" for name, how in row["found"].items())
        lines += [row["fault"], f"    {by or 'not caught'}"]
        lines += [f"    harmless: {row['harmless']}"] if row["harmless"] else []
    caught = sum(bool(row["found"]) for row in rows)
    harmless = sum(bool(row["harmless"]) for row in rows)
    return "\n".join([f"{caught} of {len(rows)} faults caught, {harmless} harmless", "", *lines])


def catch(fault: Fault) -> dict[str, Any]:
    """The row of one fault: itself, and `found`, {check: how it was noticed}.

    The checks that a wrong kernel may not survive are tried only where none of the others noticed anything.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        shutil.copytree(ROOT / "kvlib", root / "kvlib", ignore=shutil.ignore_patterns("__pycache__"))
        fault.plant(root)
        names = checks_for(fault)
        found = _noticed([name for name in names if name not in FATAL], root)
        found = found or _noticed([name for name in names if name in FATAL], root)
    return {"fault": fault.name, "file": fault.file, "found": found, "harmless": fault.harmless}


def checks_for(fault: Fault) -> list[str]:
    """The checks that run the kernels of the fault's file."""
    kinds = {"cache.py": ("write", "copy"), "naive.py": ("first kernel",)}
    if fault.file in kinds:
        return [name for name in CHECKS if name.startswith(kinds[fault.file])]
    return [name for name in CHECKS if not name.startswith(("write", "copy"))]


def _noticed(names: Sequence[str], root: Path) -> dict[str, str]:
    return {name: how for name, how in run_apart(names, root).items() if how not in (RIGHT, NOT_RUN)}
