"""What a cell can reach from inside a sandbox and without one; and in what words a system that has none is told of."""

import json
import os
import shutil
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

import kvlib
from kvlib.errors import BadConfig
from kvlib.grading import sandbox
from kvlib.grading.sandbox import Sandbox, allowed

from .cells import HERE, run

CLONE = Path(kvlib.__file__).parents[1]
TRY = """
import json, os, socket, subprocess
from pathlib import Path

def is_done(attempt):
    try:
        return bool(attempt())
    except (OSError, subprocess.SubprocessError):
        return False

def connected(family, address):
    with socket.socket(family) as client:
        client.settimeout(3)
        client.connect(address)
    return True

def mark(path):
    return Path(path).write_text("x")

def names(pattern, word):
    return any(word in path.read_bytes() for path in Path("/proc").glob(pattern))
"""
OUTSIDE = """
print(json.dumps({
    "a file of the grader": is_done(lambda: Path(FILE).read_text()),
    "a folder that may be written": is_done(lambda: mark(FILE)),
    "the tests": is_done(lambda: list(Path(TESTS).iterdir())),
    "a server": is_done(lambda: connected(socket.AF_INET, ("127.0.0.1", PORT))),
    "a socket in a folder": is_done(lambda: connected(socket.AF_UNIX, SOCKET)),
    "a socket with a name": is_done(lambda: connected(socket.AF_UNIX, "\\0" + SOCKET)),
    "the process that compares": is_done(lambda: names("[0-9]*/cmdline", b"nbval_run")),
}))
"""
INSIDE = """
def fill():
    for number in range(30):
        Path(f"part{number}").write_bytes(bytes(2**20))
    return True

def many():
    children = []
    try:
        while len(children) < 100:
            children.append(subprocess.Popen(["sleep", "30"]))
        return True
    finally:
        for child in children:
            child.kill()
            child.wait()

def ran(*command):
    return subprocess.run(command, check=True, capture_output=True)

status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print(json.dumps({
    "a large file": is_done(lambda: Path("large").write_bytes(bytes(17 * 2**20))),
    "many files": is_done(fill),
    "many processes": is_done(many),
    "the root": is_done(lambda: mark("/x")),
    "the programs": is_done(lambda: mark("/usr/x")),
    "kvlib": is_done(lambda: mark(KVLIB)),
    "Python": is_done(lambda: mark(PYTHON)),
    "a setting of the system": is_done(lambda: mark("/proc/sys/kernel/hostname")),
    "the folder of the notebook": is_done(lambda: list(Path("/grading").iterdir())),
    "a user namespace": is_done(lambda: ran("unshare", "--user", "true")),
    "a mount": is_done(lambda: ran("umount", "/grading")),
    "another user": is_done(lambda: os.setuid(12345) is None),
    "the first process": is_done(lambda: list(Path("/proc/1/root").iterdir())),
    "a privilege": any(int(status[f"Cap{kind}"], 16) for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb")),
    "new privileges": not int(status["NoNewPrivs"]),
}))
"""


def attempts(where, source, **names):
    setting = "\n".join(f"{name} = {value!r}" for name, value in names.items())
    ran = run(f"{TRY}\n{setting}", source, sandbox=where, file_bytes=16 * 2**20)
    assert ran.cells["c1"].outcome == "passed", ran
    return json.loads(ran.cells["c1"].printed)


@pytest.fixture(params=["as this user", "in a user namespace"])
def here(request, monkeypatch):
    """The sandbox that this user gets, and the one that users without root's rights get."""
    if request.param == "in a user namespace":
        monkeypatch.setattr(sandbox.os, "geteuid", lambda: 1000)
    return Sandbox.find()


def reached(where, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("of the grader")
    with ExitStack() as open_sockets:
        server = open_sockets.enter_context(socket.create_server(("127.0.0.1", 0)))
        for address in (str(tmp_path / "socket"), f"\0{tmp_path / 'socket'}"):
            listener = open_sockets.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(address)
            listener.listen()
        return attempts(
            where,
            OUTSIDE,
            FILE=str(secret),
            TESTS=str(CLONE / "tests"),
            PORT=server.getsockname()[1],
            SOCKET=str(tmp_path / "socket"),
        )


def test_from_a_sandbox_nothing_outside_can_be_reached(here, tmp_path):
    seen = reached(here, tmp_path)
    assert seen == dict.fromkeys(seen, bool(here.missing))


def test_without_a_sandbox_it_can_as_the_warning_says(tmp_path):
    seen = reached(Sandbox("not wanted"), tmp_path)
    assert seen == dict.fromkeys(seen, True)


def test_inside_a_sandbox_nothing_can_be_changed_and_no_right_gained(here):
    if here.missing:
        assert explains(here.missing)
        return
    seen = attempts(here, INSIDE, KVLIB=str(CLONE / "kvlib" / "x"), PYTHON=str(Path(sys.prefix, "x")))
    # Linux lets root itself start as many processes as it likes, in a user namespace too.
    unlimited = {"many processes"} if os.getuid() == 0 and sandbox.os.geteuid() != 0 else set()
    assert {name for name, is_done in seen.items() if is_done} == unlimited


def explains(missing):
    return any(remedy in missing for remedy in ("grade on Linux", "install the packages", "or grade"))


def test_the_clone_is_not_in_the_sandbox_but_for_kvlib_and_its_data():
    inside = [Path(path) for path in allowed() if Path(path) == CLONE or CLONE in Path(path).parents]
    assert {path.relative_to(CLONE).parts[0] for path in inside} <= {"kvlib", "data", ".venv", "venv", "build"}
    assert not any(Path(path) in (CLONE, *CLONE.parents, Path.home()) for path in allowed())


@pytest.mark.parametrize("folder", ["", "labs", "in/the/middle"])
def test_what_answers_could_read_is_refused(monkeypatch, tmp_path, folder):
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "project"))
    (tmp_path / "project").mkdir()
    with pytest.raises(BadConfig, match=r"lies in .*project, which answers can read: .* Move it elsewhere"):
        Sandbox().check_hides(tmp_path, tmp_path / "project" / folder)


def test_a_way_around_by_a_link_is_no_hiding_place(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "project"))
    (tmp_path / "project" / "labs").mkdir(parents=True)
    (tmp_path / "labs").symlink_to(tmp_path / "project" / "labs")
    with pytest.raises(BadConfig, match="labs lies in"):
        Sandbox().check_hides(tmp_path / "labs")


def test_what_lies_beside_or_above_python_is_hidden(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "prefix", str(tmp_path / ".venv"))
    (tmp_path / ".venv").mkdir()
    Sandbox().check_hides(tmp_path, tmp_path / "labs", tmp_path / ".venv-marks.csv")
    Sandbox("there is none").check_hides(tmp_path / ".venv")


def test_a_link_to_a_folder_shows_nothing_of_it(monkeypatch, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.setattr(sandbox, "allowed", lambda: [str(tmp_path / "link")])
    Sandbox().check_hides(tmp_path / "labs")


def test_two_runs_at_a_time_see_nothing_of_each_other():
    mine = "import os, time; open('mine', 'w').close(); time.sleep(2); print(os.getuid(), sorted(os.listdir()))"
    with ThreadPoolExecutor(2) as pool:
        first, second = (ran.cells["c0"].printed for ran in pool.map(lambda _: run(mine), range(2)))
    assert "'mine'" in first
    assert "'mine'" in second
    if os.getuid() == 0 and not HERE.missing:
        assert first.split()[0] != second.split()[0]
        assert "0" not in (first.split()[0], second.split()[0])


def test_python_has_what_it_needs_inside():
    needs = """
import multiprocessing, random, tempfile, urllib.request, zoneinfo
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(abs, [-1, -2]))
with tempfile.NamedTemporaryFile("w+") as file:
    print(file.write("x"))
import torch
print(torch.ones(3, 3).matmul(torch.ones(3)).tolist(), torch.get_num_threads())
from kvlib.ledger import load
print(len(load()) > 0)"""
    assert run(needs).cells["c0"].printed == "[1, 2]\n1\n[3.0, 3.0, 3.0] 1\nTrue\n"


def test_a_system_that_is_not_linux_is_told_of(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert Sandbox.find().missing == "a sandbox is made of Linux's namespaces, and this is darwin; grade on Linux"


def test_programs_that_are_not_there_are_told_of(monkeypatch, tmp_path):
    for program in ("mount", "umount", "pivot_root", "chroot", "sh"):
        (tmp_path / program).symlink_to(shutil.which(program) or "/usr/sbin/pivot_root")
    monkeypatch.setattr(sandbox, "search_path", lambda: str(tmp_path))
    assert Sandbox.find().missing == (
        "the system lacks unshare, setpriv; install the packages util-linux and coreutils"
    )


@pytest.mark.parametrize(("user", "remedy"), [(0, "the capability SYS_ADMIN"), (1000, "user.max_user_namespaces")])
def test_namespaces_that_are_not_allowed_are_told_of(monkeypatch, tmp_path, user, remedy):
    unshare = tmp_path / "unshare"
    unshare.write_text("#!/bin/sh\necho 'unshare: unshare failed: Operation not permitted' >&2\nexit 1\n")
    unshare.chmod(0o755)
    monkeypatch.setattr(sandbox, "search_path", lambda: f"{tmp_path}:{os.environ['PATH']}:/usr/sbin:/sbin")
    monkeypatch.setattr(sandbox.os, "geteuid", lambda: user)
    missing = Sandbox.find().missing
    assert missing.startswith("a sandbox cannot be made here (unshare: unshare failed: Operation not permitted); ")
    assert remedy in missing
