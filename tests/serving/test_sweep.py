"""Sweeps: the same list as a plain loop gives, wherever the points are run.

The functions are defined inside the tests, so that they travel to other processes by value.
"""

import io
import os
import signal
import subprocess
import sys
import time

import pytest
from distributed import Client, LocalCluster

from kvlib.errors import BadConfig, BadInput, MissingPackage, PointFailed
from kvlib.memory.contiguous import ContiguousManager
from kvlib.memory.reservation import Max, Oracle, Pow2
from kvlib.serving.sweep import sweep


@pytest.fixture(params=[None, "threading", "sequential", "dask"])
def backend(request):
    if request.param != "dask":
        yield request.param
        return
    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        yield "dask"


def test_results_are_those_of_a_loop_in_the_order_of_the_points(backend):
    def slowest_first(point):
        time.sleep(0.02 / (point + 1))
        return point * point

    assert sweep(slowest_first, range(8), backend=backend, n_jobs=2) == [point * point for point in range(8)]


def test_a_dict_is_passed_by_name_and_anything_else_as_it_is(backend):
    points = [{"real": 3, "imag": 4}, {"real": 1}, 2.5]
    assert sweep(complex, points, backend=backend, n_jobs=2) == [3 + 4j, 1 + 0j, 2.5 + 0j]


def test_a_simulation_gives_the_same_split_everywhere(backend):
    def most_at_once(policy):
        manager = ContiguousManager(15_728, policy)
        while manager.can_admit(161, 338):
            manager.admit(len(manager.sequences), 161, 338)
        return len(manager.sequences), manager.split()

    points = [policy(2048) for policy in (Max, Pow2, Oracle)]
    assert sweep(most_at_once, points, backend=backend, n_jobs=2) == [most_at_once(point) for point in points]


def test_a_failing_point_is_named_and_its_error_is_the_cause(backend):
    def share(total, parts):
        return total / parts

    points = [{"total": 6, "parts": parts} for parts in (3, 2, 1, 0)]
    with pytest.raises(PointFailed, match=r"point 3 of 4, {'total': 6, 'parts': 0}, failed with Zero") as raised:
        sweep(share, points, backend=backend, n_jobs=2)
    assert type(raised.value.__cause__) is ZeroDivisionError
    assert sweep(share, points[:3], backend=backend, n_jobs=2) == [2, 3, 6]


@pytest.mark.parametrize("backend", [None, "sequential"])
def test_an_error_that_cannot_travel_still_names_its_point(backend):
    class Unreadable(Exception):
        def __init__(self, one, two):
            super().__init__("told only here")

    def refuse(point):
        raise Unreadable(point, point)

    with pytest.raises(PointFailed, match=r"point 0 of 1, 'here', failed with .*told only here"):
        sweep(refuse, ["here"], backend=backend, n_jobs=2)


def test_no_points_give_no_results(backend):
    assert sweep(abs, [], backend=backend) == []


def test_points_may_come_from_a_generator():
    assert sweep(abs, (-point for point in range(4)), backend="threading") == [0, 1, 2, 3]


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("backend", [None, "threading", "sequential"])
def test_a_terminal_is_shown_how_many_points_are_done(monkeypatch, backend):
    monkeypatch.setattr(sys, "stderr", Terminal())
    sweep(abs, range(5), backend=backend, n_jobs=2)
    assert "5/5" in sys.stderr.getvalue()


@pytest.mark.parametrize(("stream", "progress"), [(io.StringIO, True), (Terminal, False)])
def test_nothing_is_shown_in_a_file_or_when_not_wanted(monkeypatch, stream, progress):
    monkeypatch.setattr(sys, "stderr", stream())
    sweep(abs, range(5), backend="threading", progress=progress)
    assert sys.stderr.getvalue() == ""


@pytest.mark.parametrize("backend", ["spark", "", 3, ["dask"]])
def test_an_unknown_backend_is_refused_with_the_known_ones(backend):
    with pytest.raises(BadConfig, match="give one of None, 'threading', 'sequential', 'dask', 'ray'"):
        sweep(abs, [1], backend=backend)


@pytest.mark.parametrize("n_jobs", [0, -2, 1.5, True, None])
def test_a_number_of_workers_that_is_none_is_refused(n_jobs):
    with pytest.raises(BadConfig, match="n_jobs is"):
        sweep(abs, [1], n_jobs=n_jobs)


def test_a_function_or_points_that_are_none_are_refused():
    with pytest.raises(BadInput, match="function is 3"):
        sweep(3, [1])
    with pytest.raises(BadInput, match="points is 3"):
        sweep(abs, 3)


def test_dask_without_a_client_says_how_to_make_one():
    with pytest.raises(BadConfig, match=r"with distributed.Client\(\)"):
        sweep(abs, [1], backend="dask")


@pytest.mark.parametrize(
    ("backend", "package"), [(None, "joblib"), (None, "tqdm"), ("dask", "distributed"), ("ray", "ray")]
)
def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch, backend, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage, match=f"needs {package}, which is not installed; run: pip install {package}$"):
        sweep(abs, [1], backend=backend)


INTERRUPTED = """
import os, pathlib, signal, sys, time
from kvlib.serving.sweep import sweep

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background begins with it ignored

def never_ends(point):
    pathlib.Path(sys.argv[1], str(os.getpid())).touch()
    time.sleep(600)

sweep(never_ends, range(4), n_jobs=2)
"""


def runs(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def test_an_interrupted_sweep_leaves_no_process_behind(tmp_path):
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as program:
        try:
            started = wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
            os.killpg(program.pid, signal.SIGINT)  # as Ctrl-C in a terminal does
            told = program.communicate(timeout=60)[1]
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, signal.SIGKILL)
            raise
    assert started
    assert "KeyboardInterrupt" in told
    workers = [int(file.name) for file in tmp_path.iterdir()]
    assert wait_until(lambda: not any(map(runs, workers)))
