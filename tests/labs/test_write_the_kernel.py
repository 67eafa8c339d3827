import os
import subprocess
import sys
from pathlib import Path

KERNELS = ("first", "online", "tiled", "grouped", "split", "combine")


def test_the_kernels_of_the_lab_compile_for_a_t4_and_an_h100(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    finished = subprocess.run(
        [sys.executable, Path(__file__).with_name("compile_kernels.py"), tmp_path],
        capture_output=True,
        text=True,
        env={**environment, "TRITON_CACHE_DIR": str(tmp_path), "TRITON_DEFAULT_FP_FUSION": "1"},
    )
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.splitlines() == [f"{name}_kernel sm_{sm} True" for name in KERNELS for sm in (75, 90)]
