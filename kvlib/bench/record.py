"""What every measurement file says besides its numbers: when, on what, with which versions."""

import importlib.metadata
import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

CPUINFO = Path("/proc/cpuinfo")
ROOT = Path(__file__).parents[2]


def record(*packages: str) -> dict[str, Any]:
    """`date` in UTC, `device`, `versions` of Python, kvlib and `packages` (None: not installed), and the `commit` of
    the clone, with "+" where files of it have changed since; None outside of one."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "device": device(),
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in ("kvlib", *packages)}},
        "commit": _commit(),
    }


def device() -> str:
    """The processor's name as it gives it, and how many cores of it there are."""
    names = re.findall(r"model name\s*:\s*(.+)", CPUINFO.read_text()) if CPUINFO.exists() else []
    name = names[0] if names else platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count()} cores, {platform.system()}"


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _commit() -> str | None:
    try:
        head = _git("rev-parse", "--short=12", "HEAD")
        return head + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
