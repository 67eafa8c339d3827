"""`kvlib bench engine`: its workload, its contenders and its report."""

import json
import subprocess
import sys
from collections.abc import Sequence

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from kvlib import cli
from kvlib.bench import engine, record, rivals
from kvlib.bench.contenders import Contender, Run, ours
from kvlib.bench.engine import CONTINUOUS, PADDED, compare, measure
from kvlib.bench.engine_report import as_json, as_text
from kvlib.bench.first_token import NUM_SHARED, measure_first_token
from kvlib.bench.memory_speed import copy_bytes_per_s
from kvlib.bench.mixed import NUM_REQUESTS, Wanted, workload_w
from kvlib.engine import load
from kvlib.errors import BadConfig

MIXED = [Wanted([5, 6, 7], 4), Wanted([9] * 20, 2), Wanted([3, 1], 9), *(Wanted([number], 3) for number in range(8))]


@pytest.fixture(scope="module")
def model():
    return load()


@pytest.fixture(scope="module")
def tiny_hf():
    torch.manual_seed(0)
    sizes = {"vocab_size": 50, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16}
    config = LlamaConfig(**sizes, **heads, max_position_embeddings=512, initializer_range=0.5)
    return LlamaForCausalLM(config).eval()


def greedy(model, wanted: Wanted) -> list[int]:
    ids = list(wanted.prompt)
    with torch.inference_mode():
        for _ in range(wanted.num_tokens):
            ids.append(int(model(torch.tensor([ids]), use_cache=False).logits[0, -1].argmax()))
    return ids[len(wanted.prompt) :]


def fake(seconds: Sequence[float], answer: int = 1) -> Contender:
    """A contender that takes `seconds`, of one run with many requests after another, and writes one token always."""
    left = list(seconds)

    def serve(workload: Sequence[Wanted]) -> Run:
        taken = 6.5 if len(workload) == 1 else left.pop(0)
        return Run([[answer] * wanted.num_tokens for wanted in workload], taken, 2 * taken, [0.1] * len(workload), 1000)

    return Contender(serve, 4 * 10**8, 2.5)


def test_workload_w_is_the_same_for_everybody():
    workload = workload_w(49_152)
    assert workload == workload_w(49_152)
    assert len(workload) == NUM_REQUESTS
    lengths = [len(wanted.prompt) for wanted in workload]
    outputs = [wanted.num_tokens for wanted in workload]
    assert (sum(lengths), sum(outputs)) == (3645, 2207)
    assert min(lengths) >= 16
    assert max(lengths) == 256
    assert min(outputs) >= 8
    assert max(outputs) == 128
    assert all(0 <= token < 49_152 for wanted in workload for token in wanted.prompt)
    assert workload_w(49_152, seed=8) != workload


def test_contenders_run_in_turn_and_medians_are_kept():
    contenders = {"first": fake([9, 5, 7]), "second": fake([1, 3, 2], answer=2)}
    compared = compare(contenders, MIXED, rounds=3)
    assert compared["num_prompt_tokens"] == 33
    assert compared["num_output_tokens"] == 39
    first, second = compared["rows"]["first"], compared["rows"]["second"]
    assert (first["seconds"], first["cpu_s"], first["same_tokens"]) == (7, 14, len(MIXED))
    assert (second["seconds"], second["cpu_s"], second["same_tokens"]) == (2, 4, 0)
    assert first["step_s"] == pytest.approx(0.1)


def test_the_report_says_all_that_was_measured():
    rows = {"kvlib, torch": fake([2]), CONTINUOUS: fake([4]), PADDED: fake([9])}
    first_token = {"kvlib, torch": {"cached_s": 0.1, "uncached_s": 0.4, "num_cached_tokens": 400}}
    measured = {
        **record.record("torch", "nothing-of-this-name"),
        "threads": 1,
        "rounds": 1,
        **compare(rows, MIXED, rounds=1),
        "copy_bytes_per_s": 1.8e10,
        "first_token": first_token,
    }
    text = as_text(measured)
    assert json.loads(as_json(measured)) == measured
    assert "11 requests, 33 prompt tokens, 39 to write" in text
    [ours, *_] = [line for line in text.splitlines() if line.startswith("kvlib, torch")]
    assert ours.split()[2:] == ["19.5", "4.0", "0.10", "0", "11", "of", "11", "2.5"]
    assert text.count("how many times as fast as") == 2
    assert ["2.00", "2.00"] in [line.split()[2:] for line in text.splitlines()]
    assert ["4.50", "4.50"] in [line.split()[2:] for line in text.splitlines()]
    assert ["10.0", "4.0"] in [line.split()[2:] for line in text.splitlines()]
    assert ["0.100", "0.400", "4.0"] in [line.split()[2:] for line in text.splitlines()]
    assert "18.0" in text


@pytest.mark.parametrize("setting", [{"rounds": 0}, {"rounds": 1, "threads": 0}])
def test_a_bad_setting_is_named(setting):
    with pytest.raises(BadConfig, match=f"{list(setting)[-1]} is 0"):
        measure(**setting, with_transformers=False)


def test_this_engine_writes_what_is_wanted_and_says_when(model):
    run = ours(model)(MIXED)
    assert [len(tokens) for tokens in run.tokens] == [wanted.num_tokens for wanted in MIXED]
    assert all(0 < first <= run.seconds for first in run.first_token_s)
    assert run.cache_bytes == 601 * 16 * 2 * 30 * 3 * 64 * 4


def test_a_shared_prefix_is_found_in_the_cache(model):
    first_token = measure_first_token(model, num_requests=1)
    assert first_token.num_cached_tokens == NUM_SHARED
    assert min(first_token.cached_s, first_token.uncached_s) > 0


def test_both_ways_of_transformers_write_the_greedy_tokens(tiny_hf):
    expected = [greedy(tiny_hf, wanted) for wanted in MIXED]
    for serve in (rivals.padded_batches(tiny_hf), rivals.continuous_batching(tiny_hf)):
        run = serve(MIXED)
        assert run.tokens == expected
        assert all(0 < first <= run.seconds for first in run.first_token_s)
        assert run.cache_bytes > 0


def test_every_form_here_is_a_contender_and_reads_its_weights_once(model):
    contenders = engine._contenders({"torch": (model, 2.0), "fp16": (model, 3.0)}, {})
    assert [contender.weight_bytes for contender in contenders.values()] == [4 * 134_515_008, 2 * 134_515_008]
    assert [contender.load_s for contender in contenders.values()] == [2.0, 3.0]


def test_without_transformers_the_command_says_how_to_get_it_before_it_measures(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "transformers", None)
    monkeypatch.delitem(sys.modules, "kvlib.bench.rivals")
    monkeypatch.delattr("kvlib.bench.rivals")
    monkeypatch.setattr(engine, "load", None)  # nothing is loaded
    with pytest.raises(SystemExit, match=r"^kvlib: the comparison needs transformers .* --without-transformers$"):
        cli.main(["bench", "engine"])


def test_the_command_measures_as_it_is_told_and_writes_the_numbers(monkeypatch, tmp_path, capsys):
    asked = []
    measured = {
        **record.record(),
        "threads": 2,
        "rounds": 5,
        **compare({"kvlib, torch": fake([2])}, MIXED, rounds=1),
        "copy_bytes_per_s": 1.0,
        "first_token": {},
    }
    monkeypatch.setattr(engine, "measure", lambda *rounds, **how: asked.append((rounds, how)) or measured)
    file = tmp_path / "measured.json"
    options = ["--rounds", "5", "--threads", "2", "--without-transformers", "--json", str(file)]
    assert cli.main(["bench", "engine", *options]) == 0
    [(rounds, how)] = asked
    how.pop("tell")("half way")
    assert (rounds, how) == ((5,), {"threads": 2, "with_transformers": False})
    assert json.loads(file.read_text()) == measured
    written = capsys.readouterr()
    assert written.out == as_text(measured) + "\n"
    assert written.err.splitlines()[1:] == ["half way"]
    assert "minutes a round" in written.err


def test_every_stage_is_told_before_it_runs():
    told = []
    compare({"a": fake([2, 2]), "b": fake([2, 2])}, MIXED, rounds=2, tell=told.append)
    assert told == ["warming up: a", "warming up: b"] + [f"round {n} of 2: {name}" for n in (1, 2) for name in "ab"]


@pytest.mark.parametrize("wrong", [["--rounds", "0"], ["--threads", "two"], ["--json", "nowhere/at/all.json"]])
def test_a_wrong_option_is_refused_with_the_usage(wrong, capsys):
    with pytest.raises(SystemExit, match="2"):
        cli.main(["bench", "engine", *wrong])
    assert f"argument {wrong[0]}" in capsys.readouterr().err


def test_a_record_says_when_on_what_and_with_which_versions(monkeypatch, tmp_path):
    said = record.record("torch", "nothing-of-this-name")
    assert said["date"].count("-") == 2
    assert said["device"].endswith(("Linux", "Darwin", "Windows"))
    assert said["versions"]["torch"] == torch.__version__
    assert said["versions"]["nothing-of-this-name"] is None
    monkeypatch.setattr(record, "ROOT", tmp_path)
    assert record.record()["commit"] is None


def test_a_record_marks_a_clone_with_changes(monkeypatch, tmp_path):
    def git(*arguments):
        subprocess.run(["git", "-C", str(tmp_path), *arguments], check=True, capture_output=True)

    git("init")
    (tmp_path / "file").write_text("one")
    git("add", "file")
    git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-m", "one")
    monkeypatch.setattr(record, "ROOT", tmp_path)
    clean = record.record()["commit"]
    (tmp_path / "file").write_text("two")
    assert record.record()["commit"] == f"{clean}+"
    assert len(clean) == 12


def test_a_copy_takes_time():
    assert copy_bytes_per_s() > 0
