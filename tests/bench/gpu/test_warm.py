"""Kernels are compiled before they are measured, all of them, in no more than the time given."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kvlib.bench.gpu import warm as warming
from kvlib.bench.gpu.machine import Interpreter
from kvlib.bench.gpu.plan import plan
from kvlib.bench.gpu.sizes import INTERPRETED


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Rows by id, compiled for an H100 by the real compiler, and launched by nobody."""
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment |= {"TRITON_CACHE_DIR": str(tmp_path_factory.mktemp("cache")), "TRITON_DEFAULT_FP_FUSION": "1"}
    command = [sys.executable, str(Path(__file__).with_name("without_launching.py"))]
    finished = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert finished.returncode == 0, finished.stderr
    return {row["id"]: row for row in map(json.loads, finished.stdout.splitlines())}


def test_what_a_row_needs_is_compiled_when_it_is_warmed_up_and_nothing_after_that(compiled):
    assert {name for name, row in compiled.items() if row["measuring"]} == set()
    assert all(row["warming_up"] for row in compiled.values())


def test_a_row_has_the_registers_and_the_shared_memory_of_its_own_kernel(compiled):
    assert {(row["regs"], row["spill_b"]) for row in compiled.values()} == {(99, 8)}
    shared = {name: row["shared_b"] for name, row in compiled.items()}
    assert shared["decode/kvlib/80x40/e4m3"] < shared["decode/kvlib/80x40/fp16"] < 64 * 1024
    assert shared["ablations/kvlib/80x40/fp16/tile"] < shared["decode/kvlib/80x40/fp16"]


def test_a_row_says_what_it_was_launched_with(compiled):
    row = compiled["ablations/kvlib/80x40/fp16/tile"]
    assert [row[name] for name in ("bm", "bn", "warps", "stages", "splits")] == [4, 32, 8, 3, 16]
    assert compiled["decode/kvlib/80x40/fp16"]["splits"] == 1
    assert compiled["decode/kvlib/1x1100/fp16"]["splits"] > 1


def test_a_kernel_that_nobody_launched_is_found_out(compiled):
    assert {row["status"] for row in compiled.values()} == {"wrong"}


def test_entries_of_every_kind_can_be_warmed_up():
    machine = Interpreter()
    few = INTERPRETED._replace(num_trials=2, num_stores=1, ragged=INTERPRETED.ragged[:1], long=INTERPRETED.big)
    entries = plan(few, ["grid", "baselines"])
    for entry in entries:
        if "bfloat16" not in entry.fields["q_dtype"]:
            entry.warm_up(machine)
    assert {entry.suite for entry in entries} == {"env", "grid", "baselines"}


def sleepers(seconds):
    return lambda command: subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({seconds})"])


def test_workers_that_take_too_long_are_ended(monkeypatch):
    started = []

    def start(command):
        started.append(sleepers(60)(command))
        return started[-1]

    monkeypatch.setattr(warming, "_started", start)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    found = warming.warm(["decode"], 0.2)
    assert (found["workers"], found["unfinished"]) == (3, 3)
    assert all(each.returncode < 0 for each in started)  # by a signal


def test_it_waits_for_all_workers_and_gives_each_its_part(monkeypatch):
    commands = []

    def start(command):
        commands.append(command)
        return sleepers(0)(command)

    monkeypatch.setattr(warming, "_started", start)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    found = warming.warm(["decode", "grid"], 100)
    assert (found["workers"], found["unfinished"]) == (16, 0)
    assert [command[3:] for command in commands] == [[str(i), "16", "decode", "grid"] for i in range(16)]
    assert commands[0][1:3] == ["-m", "kvlib.bench.gpu.warm"]


def test_workers_are_ended_when_the_run_is_interrupted(monkeypatch):
    started = []

    def start(command):
        started.append(sleepers(60)(command))
        return started[-1]

    def interrupt(seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(warming, "_started", start)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    monkeypatch.setattr(warming.time, "sleep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        warming.warm(["decode"], 100)
    assert started[0].returncode < 0


def test_workers_share_the_entries_and_an_error_of_one_stops_none(monkeypatch):
    warmed = []

    class Entry:
        def __init__(self, number):
            self.number = number

        def warm_up(self, machine):
            warmed.append(self.number)
            if self.number == 1:
                raise RuntimeError("does not compile")

    monkeypatch.setattr("kvlib.bench.gpu.machine.find_machine", lambda interpret: Interpreter())
    monkeypatch.setattr("kvlib.bench.gpu.plan.plan", lambda sizes, suites: [Entry(i) for i in range(7)])
    for worker in range(3):
        warming.main(worker, 3, ["decode"])
    assert warmed == [0, 3, 6, 1, 4, 2, 5]
