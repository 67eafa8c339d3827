"""kernels.c as a loaded library: compiled once for this source, this compiler and this processor, then cached."""

import ctypes
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from kvlib.errors import BadConfig

SOURCE = Path(__file__).with_name("kernels.c")
COMPILERS = ("cc", "gcc", "clang")
BASE = ("-O3", "-std=gnu11", "-fPIC", "-shared", "-ffp-contract=fast")
# What a compiler may not know is left out, threads before the processor's own instructions.
OPTIONS = (
    ("-march=native", "-fopenmp"),
    ("-mcpu=native", "-fopenmp"),
    ("-march=native",),
    ("-mcpu=native",),
    ("-fopenmp",),
    (),
)
PATIENCE_S = 120


def compiled() -> ctypes.CDLL:
    """The library, from the cache folder or compiled into it. Raises BadConfig where there is no way to have it.

    Any number of processes may call this at once: a file is written under a name of its own and then renamed.
    """
    compiler = find_compiler()
    failures = []
    for options in OPTIONS:
        try:
            return _cached([*compiler, *BASE, *options])
        except (subprocess.SubprocessError, OSError) as error:
            failures.append(_said(error))
    raise BadConfig(
        f"the compiler {shlex.join(compiler)!r} does not compile {SOURCE.name}: {failures[-1]}; "
        "install gcc or clang, or name one in the environment variable CC"
    )


def find_compiler() -> list[str]:
    """The command of a C compiler: what the environment variable CC says, else the first of COMPILERS there is.

    Raises BadConfig where there is none.
    """
    named = shlex.split(os.environ.get("CC", ""))
    for command in [named] if named else [[name] for name in COMPILERS]:
        if shutil.which(command[0]):
            return command
    missing = f"CC names {named[0]!r}, which is not there" if named else f"there is none of {', '.join(COMPILERS)}"
    raise BadConfig(f"no C compiler: {missing}; install gcc or clang, or name one in the environment variable CC")


def cache_folder() -> Path:
    """Where compiled libraries stay: kvlib in XDG_CACHE_HOME, or in ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kvlib"


def _cached(command: list[str]) -> ctypes.CDLL:
    """Load what `command` makes of the source. An unwritable folder costs a compilation in every process."""
    # What the compiler defines tells its version and the processor's instructions: a home may serve many machines.
    target = _run([*command, "-dM", "-E", str(SOURCE)])
    name = hashlib.sha256(repr(command).encode() + SOURCE.read_bytes() + target).hexdigest()[:16]
    path = cache_folder() / f"{name}.so"
    with suppress(OSError):
        return ctypes.CDLL(str(path))  # raises OSError too for a file that is damaged
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        folder = tempfile.TemporaryDirectory(dir=path.parent)
    except OSError:
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    with folder as fresh:
        compiled = Path(fresh, path.name)
        _run([*command, str(SOURCE), "-o", str(compiled)])
        library = ctypes.CDLL(str(compiled))  # loaded before it is renamed: only what works is kept
        with suppress(OSError):
            compiled.replace(path)
    return library


def _run(command: list[str]) -> bytes:
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=PATIENCE_S).stdout


def _said(error: Exception) -> str:
    """The last line that the compiler wrote, or what kept it from running."""
    output = getattr(error, "stderr", None) or b""
    return (output.decode(errors="replace").strip().splitlines() or [str(error)])[-1]
