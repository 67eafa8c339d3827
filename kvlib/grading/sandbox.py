"""Where submitted code runs: a place with nothing in it but Python, made of Linux's namespaces by util-linux alone.

Inside, the file system holds the programs and libraries of the system, this Python and kvlib, all to be read only, and
a small scratch folder in memory. There is no network but a loopback of its own. The kernel has a process namespace and,
where root runs the grader, a user of its own; it has no privilege and can get none. All processes end with the run.

What a sandbox does not stop: faults in the Linux kernel, and reading what it holds (the files of kvlib among them).
"""

import os
import shutil
import signal
import site
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, Self

from kvlib.errors import BadConfig

PROGRAMS = ("unshare", "mount", "umount", "pivot_root", "chroot", "setpriv")
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
SETTINGS = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime")
PROCESSORS = "/sys/devices/system/cpu"
CACHES = ("kvlib", "matplotlib")  # what these two would make anew in every kernel, in seconds
FIRST_USER = 1 << 30  # far above the users that a system hands out

SCRIPTS = Path(__file__).parent / "scripts"
FOLDER, SCRATCH = "/grading", "/scratch"
"""Inside: what is kept from the kernel, and where the kernel may write."""


class Sandbox(NamedTuple):
    """How to start processes in a sandbox, or, where `missing` says that there can be none, without."""

    missing: str = ""

    @classmethod
    def find(cls) -> Self:
        """The sandbox of this system, tried with a Python that does nothing; `missing` says what it lacks."""
        if not sys.platform.startswith("linux"):
            return cls(f"a sandbox is made of Linux's namespaces, and this is {sys.platform}; grade on Linux")
        absent = [program for program in PROGRAMS if shutil.which(program, path=search_path()) is None]
        if absent:
            return cls(f"the system lacks {', '.join(absent)}; install the packages util-linux and coreutils")
        trial = cls().kernel([sys.executable, "-P", "-c", "import kvlib.grading"], scratch_bytes=1 << 20)
        inner = [part.replace("{connection_file}", "/dev/null") for part in trial]
        try:
            tried = subprocess.run(
                cls().around(inner), env={"PATH": search_path()}, capture_output=True, text=True, timeout=30
            )
        except subprocess.TimeoutExpired:
            return cls("a trial of the sandbox had no end after 30 s")
        if tried.returncode:
            said = (tried.stderr.strip().splitlines() or [f"status {tried.returncode}"])[-1]
            return cls(f"a sandbox cannot be made here ({said}); {_remedy()}")
        return cls()

    def check_hides(self, *paths: Path) -> None:
        """Raises BadConfig if one of `paths`, which may not be there yet, could be read inside."""
        shown = [] if self.missing else [Path(place) for place in allowed() if not os.path.islink(place)]
        for path in paths:
            for place in shown:
                if place.resolve() in (path.resolve(), *path.resolve().parents):
                    raise BadConfig(
                        f"{path} lies in {place}, which answers can read: Python, kvlib or the system is there. "
                        "Move it elsewhere; if that folder is a virtual environment, make it in a folder of its own"
                    )

    def around(self, command: Sequence[str]) -> list[str]:
        """The command that runs `command` inside, as root of namespaces of its own, until this process ends."""
        if self.missing:
            return list(command)
        return [
            *("setpriv", "--pdeathsig", "KILL", "unshare", *([] if _is_root() else ["--map-root-user"])),
            *("--mount", "--net", "--pid", "--ipc", "--uts", "--fork", "--kill-child"),
            *("sh", str(SCRIPTS / "sandbox.sh"), *allowed(), "--", *command),
        ]

    def kernel(self, command: Sequence[str], scratch_bytes: int) -> list[str]:
        """The argv of a kernelspec that runs `command` and a connection file inside what `around` has made.

        Where root asks, the kernel's user is one that no other thread of this system asks for at the same time.
        """
        if self.missing:
            return [*command, "{connection_file}"]
        user = FIRST_USER + threading.get_native_id()
        privileges = [f"--reuid={user}", f"--regid={user}", "--clear-groups"] if _is_root() else []
        return [
            *("unshare", "--mount", "--pid", "--ipc", "--fork", "--kill-child"),
            *("sh", str(SCRIPTS / "kernel.sh"), "{connection_file}", str(scratch_bytes), *privileges, "--", *command),
        ]

    def end(self, process: subprocess.Popen[str]) -> None:
        """Kill what the command of `around` has started; when `process` has ended, so has all that ran inside."""
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        pids = children.read_text().split() if children.exists() else []
        for pid in pids:  # the first process inside: the others end with it, and then unshare does
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        if self.missing or not pids:
            process.kill()


def search_path() -> str:
    """Where programs are looked for: where the grader does, and where administrators' programs lie."""
    return os.pathsep.join(filter(None, (os.environ.get("PATH"), "/usr/sbin", "/usr/bin", "/sbin", "/bin")))


def caches() -> list[str]:
    """The folders of CACHES that this user has."""
    folder = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return [path for path in (os.path.join(folder, name) for name in CACHES) if os.path.isdir(path)]


def allowed() -> list[str]:
    """The folders, files and symbolic links that are to be seen inside; folders before what lies in them."""
    data = find_spec("kvlib.data")
    python = [sys.base_prefix, sys.base_exec_prefix, sys.prefix, sys.exec_prefix, *site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        python.append(site.getusersitepackages())
    ours = [str(Path(__file__).parents[1]), *((data and data.submodule_search_locations) or ())]
    wanted = [*SYSTEM, *SETTINGS, PROCESSORS, *python, *ours, *caches()]
    paths = sorted({Path(path) for path in wanted if os.path.lexists(path)})
    outermost = [path for path in paths if not any(parent in paths for parent in path.parents)]
    return [str(path) for path in [*outermost, *_links(Path(sys.executable))]]


def _links(path: Path) -> Iterator[Path]:
    """Each symbolic link on the way to a file."""
    for part in (*reversed(path.parents), path):
        if part.is_symlink():
            yield part
            yield from _links(Path(os.path.normpath(part.parent / part.readlink() / path.relative_to(part))))
            return


def _is_root() -> bool:
    return os.geteuid() == 0


def _remedy() -> str:
    if _is_root():
        return "in a container, start it with the capability SYS_ADMIN, or grade on the machine itself"
    switches = "user.max_user_namespaces, and on Ubuntu kernel.apparmor_restrict_unprivileged_userns"
    return f"allow unprivileged user namespaces (sysctl: {switches}), or grade as root"
