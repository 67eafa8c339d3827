"""A notebook ends within its limits, whatever its cells do; a cell that did not do what it should never passes."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from kvlib.errors import CannotRun
from kvlib.grading import run as running
from kvlib.grading.run import Limits, run_notebook
from kvlib.grading.sandbox import Sandbox

from .cells import HERE, Expects, notebook, outcomes, run

UNKNOWN = Expects("print(40)", "41\n")
"""A check that no cell before it can make pass, since none knows what it should print."""


@pytest.mark.parametrize("sandbox", [HERE, Sandbox("not wanted")], ids=["here", "without a sandbox"])
def test_a_cell_passes_if_it_prints_what_is_stored_or_raises_nothing_where_nothing_is(sandbox):
    ran = run("x = 40", Expects("print(x)", "40\n"), UNKNOWN, "1 / 0", "y", "input()", "'shown'", sandbox=sandbox)
    assert outcomes(ran) == ["passed", "passed", "failed", "failed", "failed", "failed", "passed"]
    assert [cell.printed for cell in ran.cells.values()] == ["", "40\n", "40\n", "", "", "", ""]
    errors = [cell.error.partition(":")[0] for cell in ran.cells.values()]
    assert errors == ["", "", "", "ZeroDivisionError", "NameError", "StdinNotImplementedError", ""]
    assert ran.cells["c3"].error == "ZeroDivisionError: division by zero"
    assert ran.broke_off == ""


def test_what_goes_to_stderr_is_not_compared_and_what_is_shown_is():
    ran = run(
        "import logging, sys; logging.basicConfig(level=logging.DEBUG)",
        Expects("logging.debug('x'); print(40); logging.debug('y'); print(41)", "40\n41\n"),
        Expects("print(40, file=sys.stderr)", "40\n"),
        Expects("print(40); display(41)", "40\n"),
        Expects("print(40); 41", "40\n"),
    )
    assert outcomes(ran) == ["passed", "passed", "failed", "failed", "failed"]
    assert [cell.printed for cell in ran.cells.values()] == ["", "40\n41\n", "", "40\n", "40\n"]


def test_a_cell_without_end_is_not_waited_for_and_cells_after_it_are_not_run():
    endless = "print('so far')\nwhile True:\n  try:\n    while True: pass\n  except BaseException: pass"
    ran = run(endless, UNKNOWN, cell_s=2)
    assert outcomes(ran) == ["timeout", "not run"]
    assert ran.cells["c0"].printed == "so far\n"
    assert ran.broke_off == "no end after 2 s"


def test_a_notebook_has_its_time_in_all_too():
    ran = run("x = 1", "import time; time.sleep(60)", UNKNOWN, total_s=3)
    assert outcomes(ran)[1:] == ["timeout", "not run"]
    assert ran.broke_off == "no end after 3 s in all"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import os; os._exit(3)", "the kernel died: it ended with status 3"),
        ("import ctypes; ctypes.string_at(0)", "the kernel died: it was ended by SIGSEGV"),
        ("import os; os.kill(os.getpid(), 9)", "the kernel died: it was ended by SIGKILL"),
    ],
)
def test_a_kernel_that_dies_ends_the_run(source, words):
    ran = run(source, UNKNOWN)
    assert (outcomes(ran), ran.broke_off) == (["died", "not run"], words)


@pytest.mark.parametrize("comment", ["# NBVAL_SKIP", "# NBVAL_RAISES_EXCEPTION", "# NBVAL_IGNORE_OUTPUT"])
def test_comments_that_nbval_would_obey_are_no_orders(comment):
    ran = run(f"{comment}\n1 / 0", UNKNOWN)
    assert [cell[0::2] for cell in ran.cells.values()] == [
        ("failed", "ZeroDivisionError: division by zero"),
        ("failed", ""),
    ]


def test_sys_exit_ends_its_cell_only():
    ran = run("import sys; sys.exit(0)", "exit()", Expects("print(2)", "2\n"))
    assert outcomes(ran) == ["failed", "passed", "passed"]
    assert ran.cells["c0"].error == "SystemExit: 0"


@pytest.mark.parametrize(
    "source",
    [
        "print('x' * 50_000_000)",
        "for number in range(2_000_000): print(number)",
        "from IPython.display import HTML\nwhile True: display(HTML('x' * 1000))",
        "k = get_ipython().kernel\nwhile True: k.session.send(k.iopub_socket, 'status', {}, parent=k.get_parent())",
    ],
    ids=["one text", "two million", "shown", "forged"],
)
def test_a_flood_is_cut_off(source):
    ran = run(source, UNKNOWN, output_bytes=2**19)
    assert (outcomes(ran), ran.broke_off) == (["failed", "not run"], "more than 0.5 MiB was printed")
    assert len(ran.cells["c0"].printed) <= 2**19


def test_more_memory_than_there_may_be_is_an_error_of_the_cell():
    ran = run("x = bytearray(30 * 2**30)", Expects("print(2)", "2\n"))
    assert outcomes(ran) == ["failed", "passed"]
    assert ran.cells["c0"].error == "MemoryError"


def test_in_a_sandbox_the_memory_of_all_processes_counts():
    share = """
import os, time
for _ in range(4):
    if os.fork() == 0:
        kept = b"x" * 500_000_000
        time.sleep(5)
        os._exit(0)
time.sleep(5)"""
    ran = run(share, "x = 2", memory_bytes=3 * 2**29)
    assert ran.broke_off == ("" if HERE.missing else "its memory, 1.5 GiB, was used up")


@pytest.mark.parametrize(
    "source",
    [
        "import builtins\nfor name in list(vars(builtins)): delattr(builtins, name)",
        "import sys; sys.stdout = sys.stderr = None",
        "import ipykernel.ipkernel\nipykernel.ipkernel.IPythonKernel.do_execute = get_ipython().run_cell = None",
        "import gc, zmq\nfor each in gc.get_objects():\n  if isinstance(each, zmq.Socket): each.close()",
        "get_ipython().kernel.iopub_socket.send_multipart([b'<IDS|MSG>', b'x', b'{', b'{}', b'{}', b'{}'])",
        "get_ipython().input_transformers_post.append(lambda lines: [])",
        "import os\nif os.fork() == 0:\n  while True: pass",
    ],
    ids=["no builtins", "no stdout", "no kernel", "no sockets", "a bad signature", "blanked cells", "a fork"],
)
def test_a_kernel_that_damages_itself_ends_in_time_and_passes_nothing(source):
    ran = run(source, UNKNOWN, cell_s=2, total_s=20)
    assert ran.cells["c1"].outcome != "passed"


def test_what_a_thread_prints_later_is_no_part_of_a_later_cell():
    thread = """
import threading, time
def print_later():
    while True:
        time.sleep(0.05)
        print("late")
threading.Thread(target=print_later).start()"""
    ran = run(thread, "time.sleep(0.3)", Expects("print(2)", "2\n"))
    assert ran.cells["c2"] == ("passed", "2\n", "")


@pytest.mark.parametrize("sandbox", [HERE, Sandbox("not wanted")], ids=["here", "without a sandbox"])
def test_no_file_of_a_run_holds_the_expected_text(sandbox):
    search = """
import os
from pathlib import Path
own = Path(os.environ["HOME"])
folders = [own, own.parent if own.parent != Path("/") else Path("/grading"), Path("/dev/shm")]
files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
files += [path for name in ("cmdline", "environ") for path in Path("/proc").glob(f"[0-9]*/{name}")]
found = []
for path in files:
    try:
        found += [path] if b"expected".upper() + b"-41" in path.read_bytes() else []
    except OSError:
        pass
print(found, any(path.suffix == ".json" for path in files))"""
    ran = run(search, Expects("print(1)", "EXPECTED-41"), sandbox=sandbox)
    assert ran.cells["c0"].printed == "[] True\n"


def test_the_environment_is_a_short_list(monkeypatch):
    monkeypatch.setenv("A_SECRET", "of the grader")
    ran = run("import os; print(*sorted(os.environ))\nprint(*sorted(os.listdir()))\nprint(os.environ['HOME'])")
    names, files, home = ran.cells["c0"].printed.splitlines()
    assert "A_SECRET" not in names
    assert {"OMP_NUM_THREADS", "PYTHONHASHSEED", "TRITON_INTERPRET"} <= set(names.split())
    assert not [name for name in names.split() if name.startswith(("PYTEST", "JUPYTER"))]
    assert home != os.environ.get("HOME")
    assert set(files.split()) <= {".cache", ".ipython", "connection.json", "shm", "tmp"}


def test_a_run_leaves_no_file_and_no_mount(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    mounts = Path("/proc/self/mountinfo")
    before = mounts.read_text() if mounts.exists() else ""
    run("open('left', 'w').write('x')\nimport os, tempfile; os.close(tempfile.mkstemp()[0])", "os._exit(1)")
    assert list(tmp_path.iterdir()) == []
    assert (mounts.read_text() if mounts.exists() else "") == before


def processes_with(word):
    """The ids of the processes that have `word` in their command line, where the system shows them."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def test_in_a_sandbox_no_process_outlives_the_run():
    word = f"daemon-of-{os.getpid()}"
    daemon = f"""
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)", "{word}"])
    os._exit(0)
import time; time.sleep(1)"""
    run(daemon)
    left = processes_with(word)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert bool(left) == (bool(HERE.missing) and sys.platform.startswith("linux"))


def test_when_the_grader_is_killed_what_it_started_ends_too():
    size = 2**26 + os.getpid()  # stands in the kernel's command line
    program = f"""
from kvlib.grading.run import Limits, run_notebook
from kvlib.grading.sandbox import Sandbox
run_notebook({notebook("while True: pass")!r}, Limits(file_bytes={size}, total_s=20), Sandbox({HERE.missing!r}))"""
    grader = subprocess.Popen([sys.executable, "-c", program])
    try:
        wait_until(lambda: processes_with(f'"RLIMIT_FSIZE": {size}'))
    finally:
        grader.kill()
        grader.wait()
    wait_until(lambda: not processes_with(str(size)))


def wait_until(is_so, patience_s=60):
    end = time.monotonic() + patience_s
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.parametrize("sandbox", [HERE, Sandbox("not wanted")], ids=["here", "without a sandbox"])
def test_nbval_itself_is_not_waited_for_without_end(sandbox, monkeypatch):
    size = 2**26 - os.getpid()
    monkeypatch.setattr(running, "GRACE_S", -85)
    ran = run("while True: pass", UNKNOWN, sandbox=sandbox, cell_s=90, total_s=90, file_bytes=size)
    assert outcomes(ran) == ["not run", "not run"]
    assert ran.broke_off.startswith("nbval was ended")
    assert not processes_with(f'"RLIMIT_FSIZE": {size}')


def test_a_kernel_that_cannot_start_is_no_fault_of_the_notebook():
    class NoKernel(Sandbox):
        def kernel(self, command, scratch_bytes):
            return ["false"]

    with pytest.raises(CannotRun, match=r"could be started; nbval says: .*RuntimeError: Kernel"):
        run_notebook(notebook("x = 1"), Limits(), NoKernel(HERE.missing))


def test_text_that_no_encoding_can_write_harms_its_own_cell_only():
    assert outcomes(run("x = '\ud800'", Expects("print(2)", "2\n"))) == ["failed", "passed"]
