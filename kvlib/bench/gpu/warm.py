"""Kernels compiled by many processes at once, before the first is timed: Triton keeps what they compile in its cache.

One kernel takes seconds to compile, on one core. `python -m kvlib.bench.gpu.warm WORKER WORKERS SUITE...` is one of
the processes; what goes wrong in it shows in the run itself.
"""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

MOST_WORKERS = 16
STEP_S = 0.1


def warm(suites: Sequence[str], seconds: float) -> dict[str, Any]:
    """Have the kernels of these suites compiled -> workers, how many of them did not end in time, seconds taken."""
    start = time.monotonic()
    workers = max(1, min(MOST_WORKERS, os.cpu_count() or 1))
    command = [sys.executable, "-m", __name__]
    running = [_started([*command, str(i), str(workers), *suites]) for i in range(workers)]
    try:
        while any(each.poll() is None for each in running) and time.monotonic() - start < seconds:
            time.sleep(STEP_S)
        unfinished = sum(each.poll() is None for each in running)
    finally:
        for each in running:
            each.kill()
            each.wait()
    return {"workers": workers, "unfinished": unfinished, "seconds": round(time.monotonic() - start, 1)}


def _started(command: Sequence[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main(worker: int, workers: int, suites: Sequence[str]) -> None:
    """Every so many of the entries of these suites, compiled."""
    from kvlib.bench.gpu.machine import find_machine
    from kvlib.bench.gpu.plan import plan
    from kvlib.bench.gpu.sizes import ON_A_GPU

    machine = find_machine(interpret=False)
    for entry in plan(ON_A_GPU, suites)[worker::workers]:
        with suppress(Exception):
            entry.warm_up(machine)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
