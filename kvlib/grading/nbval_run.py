"""One notebook under nbval, in a process of its own: the notebook comes by stdin, what its cells did goes to stdout.

The kernel never sees the notebook: it is read, and deleted, before the kernel starts. Started by kvlib.grading.run.
"""

import json
import os
import socket
import struct
import sys
import time
from pathlib import Path
from typing import Any

sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]  # makes a grammar on import, for seconds; unused here

import pytest  # noqa: E402

from kvlib.grading.nbval_cells import Recorder, use  # noqa: E402
from kvlib.grading.nbval_kernel import Bounds  # noqa: E402

KERNEL = "submission"
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
MEMORY_BYTES = 4 * 2**30  # of this process, which takes in what a kernel sends


def main(job: dict[str, Any]) -> int:
    """Run the notebook of stdin as `job` says; returns pytest's exit status."""
    began = time.monotonic()
    results = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    folder = Path(job["folder"])
    if job["is_sandboxed"]:
        _enter_sandbox()
    spec = folder / "kernels" / KERNEL
    spec.mkdir(parents=True)
    kernel = {"argv": job["kernel"], "display_name": KERNEL, "language": "python"}
    (spec / "kernel.json").write_text(json.dumps(kernel), encoding="utf-8")
    os.environ.update(JUPYTER_PATH=str(folder), TMPDIR=str(folder))
    settings = folder / "pytest.ini"
    settings.touch()  # pytest looks at no folder above the one that this lies in
    notebook = folder / "notebook.ipynb"
    notebook.touch(mode=0o600)
    notebook.write_bytes(sys.stdin.buffer.read())
    use(Bounds(**job["bounds"], began=began, sees_processes=job["is_sandboxed"]))
    options = [
        *("--nbval-lax", f"--nbval-kernel-name={KERNEL}", f"--nbval-cell-timeout={job['bounds']['cell_s']}"),
        *("-p", "nbval.plugin", "-p", "no:cacheprovider", "-p", "no:warnings", "-c", str(settings)),
        *("--tb=no", "-q", str(notebook)),
    ]
    return int(pytest.main(options, plugins=[Recorder(results, notebook)]))


def _enter_sandbox() -> None:
    """Switch on the loopback, the only network there is, and bound the memory."""
    import fcntl
    import resource

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
