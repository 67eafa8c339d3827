"""One notebook, run by nbval within limits; in a sandbox where the system has one.

The notebook holds the texts that its check cells are to print. It lies on no disk while a cell runs, and is nowhere in
the process that runs the cells; the texts are compared in another one.

Without a sandbox there are the limits of time and output, those of memory, file size and CPU time for each process, an
environment without the grader's variables, and an empty folder. Nothing else is stopped: such a cell can read, write
and delete what the grader's user can, use the network, start processes without end and some that outlive the run, and
look for the expected texts in the memory of the process that has them. Run only notebooks of people you trust.
"""

import json
import os
import subprocess
import sys
from contextlib import nullcontext
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from kvlib.errors import CannotRun
from kvlib.grading.sandbox import FOLDER, SCRATCH, Sandbox, caches, search_path

GRACE_S = 30  # for a run to end by itself once its time is up

NUM_OPEN_FILES = 256
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "PYTHONHASHSEED": "0",
    "TRANSFORMERS_OFFLINE": "1",
    "TRITON_INTERPRET": "1",
}
PASSED_ON = ("LD_LIBRARY_PATH", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "SYSTEMROOT")
"""What a Python may need to start, and to calculate rightly, on the machine it is on."""


class Limits(NamedTuple):
    """What a notebook may use: seconds of one cell and in all, bytes, and processes (threads count as such).

    memory_bytes and file_bytes hold for each process and, in a sandbox, for all of them together; output_bytes for
    what all cells print and show. The number of processes is limited in a sandbox only.
    """

    cell_s: int = 20
    total_s: int = 90
    memory_bytes: int = 6 * 2**30
    processes: int = 64
    file_bytes: int = 64 * 2**20
    output_bytes: int = 2**20


class CellRun(NamedTuple):
    """What a code cell did. outcome: "passed", "failed", "timeout", "died" or "not run"; error: what it raised."""

    outcome: str
    printed: str
    error: str


class Ran(NamedTuple):
    """The code cells of a notebook by id, and, in words, why the run ended early; "" if it did not."""

    cells: dict[str, CellRun]
    broke_off: str


def run_notebook(notebook: str, limits: Limits, sandbox: Sandbox) -> Ran:
    """Run the text of a notebook (format 4.5: its cells have ids) in one kernel.

    A cell with stored outputs, an execution_count and the tag nbval-check-output passes if it prints the same; any
    other passes if it raises nothing. Cells after one that failed are run; after one that broke the run off they are
    not. Raises CannotRun if no cell could be started, which no cell can bring about.
    """
    content = json.loads(notebook)
    with nullcontext(FOLDER) if not sandbox.missing else TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [sys.executable, "-P", "-m", "kvlib.grading.nbval_run", json.dumps(_job(folder, limits, sandbox))]
        results, said = _finished(sandbox, command, json.dumps(content), limits.total_s + GRACE_S)
    lines = [json.loads(line) for line in results.splitlines()]
    if not lines:
        raise CannotRun(f"no cell of the notebook could be started; nbval says: {' '.join(said.split())[-400:]}")
    ran = {line["cell"]: line for line in lines if "cell" in line}
    cells = {
        cell["id"]: CellRun(*(ran[cell["id"]][field] for field in CellRun._fields))
        if cell["id"] in ran
        else CellRun("not run", "", "")
        for cell in content["cells"]
        if cell["cell_type"] == "code"
    }
    reasons = [line["broke_off"] for line in ran.values() if line["broke_off"]]
    if not reasons and len(ran) < len(cells):
        reasons = ["nbval was ended: what it was sent is too much, or cannot be read"]
    return Ran(cells, "".join(reasons))


def _job(folder: str, limits: Limits, sandbox: Sandbox) -> dict[str, Any]:
    """What kvlib.grading.nbval_run is to do in `folder`."""
    is_sandboxed = not sandbox.missing
    start = {
        "limits": {
            "RLIMIT_AS": limits.memory_bytes,
            "RLIMIT_FSIZE": limits.file_bytes,
            "RLIMIT_CPU": limits.total_s,
            "RLIMIT_NOFILE": NUM_OPEN_FILES,
            **({"RLIMIT_NPROC": limits.processes} if is_sandboxed else {}),  # else other processes of the user count
        },
        "scratch": SCRATCH if is_sandboxed else os.path.join(folder, "scratch"),
        "caches": caches(),
    }
    kernel = [sys.executable, "-P", "-m", "kvlib.grading.kernel_start", json.dumps(start)]
    return {
        "folder": folder,
        "is_sandboxed": is_sandboxed,
        "kernel": sandbox.kernel(kernel, limits.file_bytes),
        "bounds": {name: getattr(limits, name) for name in ("cell_s", "total_s", "memory_bytes", "output_bytes")},
    }


def _finished(sandbox: Sandbox, command: list[str], notebook: str, timeout_s: float) -> tuple[str, str]:
    """What a command that is given the notebook writes to stdout and stderr until it ends, or is ended."""
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    with subprocess.Popen(
        sandbox.around(command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={"PATH": search_path(), **passed_on, **ENVIRONMENT},
        start_new_session=True,
    ) as process:
        try:
            return process.communicate(notebook, timeout_s)
        except subprocess.TimeoutExpired:
            sandbox.end(process)
            return process.communicate()
        except BaseException:
            sandbox.end(process)
            raise
