"""Checks in a process of their own, which may die of it, in Triton's interpreter, on the package as it is or edited."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[3]
NOT_RUN = "not run"
PROGRAM = """
import sys
from kvlib.bench.kernels.checks import CHECKS
assert __import__("kvlib").__file__.startswith(sys.argv[1])
for name in sys.argv[2:]:
    try:
        print(CHECKS[name](), flush=True)
    except Exception as error:
        print(f"error: {type(error).__name__}", flush=True)
"""


def run_apart(names: Sequence[str], root: Path = ROOT, timeout_s: float = 300) -> dict[str, str]:
    """What each check of `kvlib.bench.kernels.checks.CHECKS` gives, run on the package in the folder `root`.

    "right", "wrong", "not finite" or "error: " and the exception; where the process died or ran out of time, that,
    and "not run" for what would have followed.
    """
    environment = os.environ | {"TRITON_INTERPRET": "1", "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", PROGRAM, str(root), *names]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=root, timeout=timeout_s)
        results, how = ended.stdout.splitlines(), f"crash: exit code {ended.returncode}"
    except subprocess.TimeoutExpired as error:
        results, how = (error.stdout or b"").decode().splitlines(), f"no end in {timeout_s:g} s"
    unfinished = [how, *[NOT_RUN] * len(names)]
    return dict(zip(names, [*results, *unfinished]))
