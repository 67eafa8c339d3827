"""The process in which submitted code runs: first its limits, then a kernel. Started by a kernelspec."""

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

try:
    import resource
except ImportError:  # Windows has no limits of this kind
    resource = None  # type: ignore[assignment]


def start(limits: Mapping[str, int], scratch: str, caches: Sequence[str], connection_file: str) -> None:
    """Be a kernel in the folder `scratch`, its home, with copies of the caches that can be read.

    limits: by name, in its unit: {"RLIMIT_AS": bytes, ...}.
    """
    os.makedirs(scratch, exist_ok=True)
    os.chdir(scratch)
    os.makedirs("tmp", exist_ok=True)
    for name in [name for name in os.environ if name.startswith(("JUPYTER_", "PYTEST_"))]:
        del os.environ[name]
    os.environ.update(HOME=scratch, IPYTHONDIR=f"{scratch}/.ipython", TMPDIR=f"{scratch}/tmp")
    for cache in caches:
        with suppress(OSError):
            shutil.copytree(cache, Path(scratch, ".cache", Path(cache).name))
    if resource is not None:
        for name, value in {"RLIMIT_CORE": 0, **limits}.items():
            resource.setrlimit(getattr(resource, name), (value, value))
    sys.modules["debugpy"] = None  # type: ignore[assignment]  # a third of the time that a kernel takes to start
    from ipykernel.kernelapp import launch_new_instance

    launch_new_instance(argv=["-f", connection_file, "--HistoryManager.enabled=False"])


if __name__ == "__main__":
    start(**json.loads(sys.argv[1]), connection_file=sys.argv[2])
