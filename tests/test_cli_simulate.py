"""`kvlib simulate`: what it prints, what it writes, and how it refuses."""

import json
import os

import pytest

from kvlib import cli
from kvlib.bench import paper, single
from kvlib.bench.claims import Claim, Exact, Figure, Job

SMALL = ["--rate", "1", "--requests", "20"]
AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:00:00,{},5\n2023-11-16 18:00:09,7,3\n"
MOONCAKE = '{{"timestamp": {}, "input_length": 600, "output_length": 3, "hash_ids": [1, 2]}}\n'


def run(capsys, *arguments):
    assert cli.main(["simulate", *arguments]) == 0
    return capsys.readouterr().out


def refusal(capsys, *arguments):
    """The last line on stderr of a call that ends with exit code 2 and prints nothing else."""
    with pytest.raises(SystemExit) as ended:
        cli.main(["simulate", *arguments])
    assert ended.value.code == 2
    output = capsys.readouterr()
    assert output.out == ""
    return output.err.splitlines()[-1]


@pytest.fixture
def azure(tmp_path):
    path = tmp_path / "azure.csv"
    path.write_text(AZURE.format(40))
    return str(path)


@pytest.mark.parametrize(
    ("policy", "memory"),
    [
        ("paged", "vLLM: 983 blocks of 16 tokens"),
        ("oracle", "Orca (Oracle): 15,728 slots in chunks of a buddy allocator"),
    ],
)
def test_one_run_says_what_was_served_and_how_it_went(capsys, policy, memory):
    lines = run(capsys, *SMALL, "--policy", policy).splitlines()
    assert lines[:2] == [memory, "sharegpt, 1 a second, 20 requests, seed 0"]
    assert [line.split()[0] for line in lines[3:]] == [
        "requests",
        "time",
        "running",
        "memory",
        "latency",
        "preemptions",
    ]
    assert lines[3].split(maxsplit=1)[1] == "20 finished, 0 not when it stopped, 0 left out as too large"


def test_the_same_seed_gives_the_same_report_and_another_one_another(capsys):
    first, again, other = (run(capsys, *SMALL, "--seed", seed) for seed in "334")
    assert first == again != other


def test_seconds_stop_a_run_with_requests_on_their_way(capsys):
    report = run(capsys, "--seconds", "5", "--rate", "3", "--lengths", "alpaca")
    assert "alpaca, 3 a second, 5 seconds, seed 0" in report
    assert " 5.0 s in " in report
    assert "finished, 0 not when" not in report


def test_memory_options_reach_the_memory(capsys):
    assert "vLLM: 40 blocks of 8" in run(
        capsys, *SMALL, "--lengths", "alpaca", "--num-blocks", "40", "--block-size", "8"
    )
    assert "vLLM: 12 blocks of 64" in run(capsys, *SMALL, "--lengths", "alpaca", "--slots", "800", "--block-size", "64")
    report = run(capsys, *SMALL, "--slots", "200", "--skip-too-large")
    assert "vLLM: 12 blocks of 16" in report
    assert ", 0 left out" not in report


def test_the_numbers_are_written_as_json(capsys, tmp_path):
    run(capsys, *SMALL, "--json", str(tmp_path / "run.json"))
    numbers = json.loads((tmp_path / "run.json").read_text())
    assert (numbers["policy"], numbers["num_finished"]) == ("paged", 20)
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_a_timed_trace_is_served_at_its_own_times(capsys, azure):
    report = run(capsys, "--trace", azure, "--format", "azure")
    assert azure in report
    assert "2 finished" in report
    assert "1 finished" in run(capsys, "--trace", azure, "--format", "azure", "--requests", "1")
    assert " 4.0 s in 5 iterations" in run(capsys, "--trace", azure, "--format", "azure", "--seconds", "4")


def test_a_mooncake_trace_also_says_how_much_of_its_prompts_repeats(capsys, tmp_path):
    path = tmp_path / "trace.jsonl"
    path.write_text(MOONCAKE.format(0) + MOONCAKE.format(1000))
    report = run(capsys, "--trace", str(path), "--format", "mooncake")
    assert report.splitlines()[-1].startswith("prefixes     49.9% of the trace's prompt tokens")  # 599 of 1,200


def test_a_list_of_pairs_comes_at_the_rate_given(capsys, tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("input_tokens,output_tokens\n5,6\n")
    report = run(capsys, "--trace", str(path), "--format", "pairs", *SMALL)
    assert f"{path}, 1 a second, 20 requests, seed 0" in report


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--policy best", "--policy: invalid choice: 'best'"),
        ("--lengths long", "--lengths: invalid choice: 'long'"),
        ("--rate 0", "--rate: '0' is not a number above 0"),
        ("--rate fast", "--rate: 'fast' is not a number above 0"),
        ("--rate nan", "--rate: 'nan' is not a number above 0"),
        ("--rate 1e99", "--rate: '1e99' is not a number above 0, from 1e-9 to 1e9"),
        ("--seconds -1", "--seconds: '-1' is not a number above 0"),
        ("--seconds 1e-9", "--seconds: the workload holds no request"),
        ("--requests 0", "--requests: '0' is not a whole number of at least 1"),
        ("--seed x", "--seed: 'x' is not a whole number of at least 0"),
        ("--seed 1.5", "--seed: '1.5' is not a whole number of at least 0"),
        ("--block-size 0", "--block-size: '0' is not a whole number of at least 1"),
        ("--num-blocks 0", "--num-blocks: '0' is not a whole number"),
        ("--slots 10", "--block-size: a memory of 10 slots is smaller than one block of 16"),
        ("--slots 100", "--slots: request 1 can never run: "),
        ("--watermark 1", "--watermark: '1' is not a share, from 0 to below 1"),
        ("--slots 64 --num-blocks 4", "--num-blocks: not allowed with argument --slots"),
        ("--seconds 4 --requests 4", "--requests: not allowed with argument --seconds"),
        ("--policy max --block-size 8", "--block-size: blocks are for --policy paged"),
        ("--format azure", "--format: it says how to read --trace, which is not given"),
        ("--trace nowhere.csv", "--trace: say how to read it: --format azure, mooncake, pairs"),
        ("--trace nowhere.csv --format azure", "--trace: nowhere.csv cannot be read"),
        ("--trace x --format azure --rate 2", "--rate: the trace says what comes when"),
        ("--trace x --format pairs --lengths alpaca", "--lengths: --trace gives the lengths"),
        ("--jobs 2", "--jobs: it is for --paper"),
        ("--paper --rate 3", "--rate: it is for one run"),
        ("--paper --skip-too-large", "--skip-too-large: it is for one run"),
        ("--paper --jobs 0", "--jobs: '0' is not a whole number"),
        ("--json nowhere/run.json", "--json: nowhere/run.json is no file, or in no folder"),
        ("--json .", "--json: . is no file, or in no folder"),
    ],
)
def test_a_bad_option_ends_in_a_line_that_names_it(capsys, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert f"kvlib simulate: error: argument {message}" in refusal(capsys, *arguments.split())
    assert list(tmp_path.iterdir()) == []


def test_a_fault_in_the_middle_of_a_trace_names_its_line_and_writes_nothing(capsys, azure, tmp_path):
    with open(azure, "a") as file:
        file.write("2023-11-16 18:00:01,7,3\n")
    target = tmp_path / "run.json"
    line = refusal(capsys, "--trace", azure, "--format", "azure", "--json", str(target))
    assert f"argument --trace: {azure}, line 4: time runs backwards" in line
    assert not target.exists()


def test_a_file_that_cannot_be_written_ends_the_call_before_anything_is_printed(capsys, tmp_path, monkeypatch):
    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(SystemExit, match=r"kvlib: .*run\.json cannot be written: No space left on device"):
        cli.main(["simulate", *SMALL, "--json", str(tmp_path / "run.json")])
    assert capsys.readouterr().out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_link_is_followed_and_the_file_behind_it_written(tmp_path):
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("old")
    link.symlink_to(real)
    assert cli.main(["simulate", *SMALL, "--json", str(link)]) == 0
    assert link.is_symlink()
    assert json.loads(real.read_text())["num_finished"] > 0


@pytest.mark.parametrize("name", ["/dev/null", "trace.csv", "x" * 300])
def test_what_is_no_file_to_write_or_the_trace_itself_is_refused_and_stays(capsys, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    trace = AZURE.format(7)
    (tmp_path / "trace.csv").write_text(trace)
    refusal(capsys, "--trace", "trace.csv", "--format", "azure", "--json", name)
    assert (tmp_path / "trace.csv").read_text() == trace
    assert not os.path.isfile("/dev/null")


def test_a_trace_from_a_pipe_is_refused_rather_than_read_in_part(capsys, tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    assert "not a file" in refusal(capsys, "--trace", str(pipe), "--format", "azure")


def test_an_interrupt_ends_in_one_line(capsys, monkeypatch):
    def interrupted(options):
        raise KeyboardInterrupt

    monkeypatch.setattr(single, "run", interrupted)
    assert cli.main(["simulate", *SMALL]) == 130
    assert capsys.readouterr().err == "kvlib: interrupted\n"


def seven(seed):
    return 7.0


def test_the_comparison_prints_its_table_and_writes_its_rows(capsys, tmp_path, monkeypatch):
    claim = Claim("sevens", Exact(2), ("orca-max-batched",), jobs=(Job(seven, ()),), digits=2)
    monkeypatch.setattr(paper, "figures", lambda: [Figure("Figure 0: made up", "No more.", (claim,))])
    assert cli.main(["simulate", "--paper", "--jobs", "1", "--json", str(tmp_path / "rows.json")]) == 0
    output = capsys.readouterr()
    assert output.out.startswith("Figure 0: made up\n")
    assert output.out.endswith("\n1 exact\n")
    assert "about a minute" in output.err
    assert json.loads((tmp_path / "rows.json").read_text())[0]["verdict"] == "exact"


def test_the_replay_prints_its_table_and_writes_its_numbers(capsys, tmp_path):
    target = tmp_path / "replay.json"
    assert cli.main(["bench", "replay", "--requests", "20", "--rounds", "1", "--json", str(target)]) == 0
    assert "blocks, sha256" in capsys.readouterr().out
    assert json.loads(target.read_text())["num_requests"] == 20


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--rounds", "0"], "--rounds: '0' is not a whole number of at least 1"),
        (["--seed", "one"], "--seed: 'one' is not a whole number of at least 0"),
        (["--json", "/nowhere/at/all.json"], "--json: /nowhere/at/all.json is no file, or in no folder"),
    ],
)
def test_a_replay_with_a_bad_option_is_refused_by_its_name(capsys, given, words):
    with pytest.raises(SystemExit) as ended:
        cli.main(["bench", "replay", *given])
    assert ended.value.code == 2
    assert words in capsys.readouterr().err
