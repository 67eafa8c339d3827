"""What is free on the machine at hand."""

import importlib
import importlib.util
import re
from pathlib import Path

MEMINFO = Path("/proc/meminfo")


def free_memory() -> int | None:
    """Bytes that a program can still take without swapping; None where nothing says so.

    Linux says it in a file; elsewhere psutil does, which comes with ipykernel.
    """
    if MEMINFO.exists():
        found = re.search(r"MemAvailable:\s+(\d+) kB", MEMINFO.read_text())
        return int(found[1]) * 1024 if found else None
    if importlib.util.find_spec("psutil") is None:
        return None
    return int(importlib.import_module("psutil").virtual_memory().available)
