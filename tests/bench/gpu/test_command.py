"""`kvlib bench gpu`: one run in the interpreter, from the command line to the file, and what it refuses."""

import json
import os
import subprocess
import sys
from collections import Counter

import pytest

from kvlib import cli
from kvlib.bench.gpu import schema
from kvlib.bench.gpu.plan import plan
from kvlib.bench.gpu.sizes import INTERPRETED
from kvlib.bench.gpu.suites import SHARES

WITHOUT = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_")}


@pytest.fixture(autouse=True)
def variables_are_restored(monkeypatch):
    for name in ("TRITON_INTERPRET", "TRITON_DEFAULT_FP_FUSION"):
        monkeypatch.setenv(name, "1")


def kvlib(*arguments):
    command = [sys.executable, "-m", "kvlib", "bench", "gpu", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=WITHOUT)


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """(the finished process, the file it wrote) of one run of everything."""
    file = tmp_path_factory.mktemp("gpu") / "interpreter.json"
    finished = kvlib("--interpret", "--json", str(file))
    assert finished.returncode == 0, finished.stderr
    return finished, json.loads(file.read_text())


def test_the_file_is_valid_and_has_every_row(ran):
    _, record = ran
    schema.check(record)
    assert record["interpreted"]
    assert record["gpu"] is None
    assert record["suites"] == list(SHARES)
    assert [row["id"] for row in record["rows"]] == [entry.fields["id"] for entry in plan(INTERPRETED, list(SHARES))]


def test_every_row_is_right_or_says_why_it_cannot_be_had_here(ran):
    _, record = ran
    others = {row["note"] for row in record["rows"] if row["status"] != "ok"}
    assert others == {
        "Triton's interpreter computes bfloat16 wrongly",
        "torch has no cudnn_attention for this load on this device",
    }
    right = Counter(row["suite"] for row in record["rows"] if row["status"] == "ok")
    assert set(right) == set(SHARES)
    assert min(right.values()) >= 3


def test_every_contestant_took_part(ran):
    _, record = ran
    right = {row["impl"] for row in record["rows"] if row["status"] == "ok"}
    assert right == {
        *("copy", "read", "paged-read"),
        *("kvlib", "naive", "gather-sdpa", "flex", "sdpa-flash", "sdpa-math"),
    }


def test_no_time_and_no_rate_is_written_and_nothing_is_judged(ran):
    _, record = ran
    assert all(row[name] is None for row in record["rows"] for name in schema.TIMES)
    assert set(record["ceilings"].values()) == {None}
    assert {each["verdict"] for each in record["predictions"]} == {"not measured"}


def test_the_report_has_no_figure_where_a_gpu_would_give_one(ran):
    finished, record = ran
    assert "no time is a measurement" in finished.stdout
    lines = finished.stdout.splitlines()
    assert sum("not measured" in line for line in lines) >= 3 + len(record["predictions"])
    assert "GB/s" not in finished.stdout.replace("GB/s  of copy", "")


def test_stages_go_to_the_standard_error(ran):
    finished, _ = ran
    assert [line.partition(":")[0] for line in finished.stderr.splitlines() if " rows, " in line] == list(SHARES)


def test_without_a_gpu_it_says_what_to_do():
    finished = kvlib()
    assert finished.returncode == 1
    assert finished.stdout == ""
    [line] = finished.stderr.splitlines()
    assert line.startswith("kvlib: no GPU that torch can use")
    assert "`kvlib bench gpu --interpret`" in line


def test_a_process_that_interprets_does_not_measure():
    environment = {**WITHOUT, "TRITON_INTERPRET": "1"}
    command = [sys.executable, "-m", "kvlib", "bench", "gpu"]
    finished = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert finished.returncode == 1
    assert "--interpret is missing, and TRITON_INTERPRET was set" in finished.stderr


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--suite", "speed"], "argument --suite: invalid choice: 'speed'"),
        (["--max-bytes", "much"], "argument --max-bytes: 'much' is not a number of bytes, from 1 to 1e15"),
        (["--max-bytes", "0"], "argument --max-bytes: '0' is not a number of bytes"),
        (["--deadline", "-5"], "argument --deadline: '-5' is not a number above 0"),
        (["--json", "/nowhere/at/all.json"], "argument --json: /nowhere/at/all.json is no file, or in no folder"),
        (["--interpet"], "unrecognized arguments: --interpet"),
    ],
)
def test_a_bad_option_is_refused_by_its_name_in_one_line(capsys, given, words):
    with pytest.raises(SystemExit) as ended:
        cli.main(["bench", "gpu", *given])
    assert ended.value.code == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert words in output.err.splitlines()[-1]


def test_one_suite_with_little_memory_and_no_file(capsys):
    given = ["--interpret", "--suite", "decode", "--max-bytes", "3e4"]
    assert cli.main(["bench", "gpu", *given]) == 0
    output = capsys.readouterr()
    assert "grid" not in output.out
    assert "and --max-bytes allows 0.00" in output.out
    assert "not kept in a file; in the clone, --json data/measurements/interpreter.json would keep it" in output.err


def test_after_the_deadline_it_still_writes_a_valid_file(tmp_path, capsys):
    file = tmp_path / "late.json"
    assert cli.main(["bench", "gpu", "--interpret", "--deadline", "1e-6", "--json", str(file)]) == 0
    record = json.loads(file.read_text())
    schema.check(record)
    assert {row["status"] for row in record["rows"]} == {"skipped"}
    assert "cut off by the deadline" in capsys.readouterr().out


def test_ctrl_c_ends_it_with_the_code_of_a_shell_and_keeps_the_file(tmp_path, capsys, monkeypatch):
    def interrupted(self, pools, machine):
        raise KeyboardInterrupt

    monkeypatch.setattr("kvlib.bench.gpu.replay.Captured.fill", interrupted)
    file = tmp_path / "half.json"
    assert cli.main(["bench", "gpu", "--interpret", "--suite", "grid", "--json", str(file)]) == 130
    record = json.loads(file.read_text())
    schema.check(record)
    assert Counter(row["suite"] for row in record["rows"] if row["status"] == "ok") == {"env": 3}
    assert capsys.readouterr().err.splitlines()[-1] == "kvlib: interrupted"
