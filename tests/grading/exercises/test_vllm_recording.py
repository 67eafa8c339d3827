"""A recording of vLLM's metrics: checked, found, made by a stand-in for vLLM, compared with a prediction, played."""

import copy
import json
import sys
from types import ModuleType, SimpleNamespace

import pytest

from kvlib.errors import BadInput, MissingPackage
from kvlib.grading.exercises.vllm import recording as recorder
from kvlib.grading.exercises.vllm.player import compared, first_difference, played, summary
from kvlib.grading.exercises.vllm.recording import (
    CONFIG,
    MEASURED,
    NOT_MEASURED,
    checked,
    digest,
    missing,
    record_run,
    recordings,
)
from kvlib.grading.exercises.vllm.workload import HITS, METRICS, PREEMPTIONS, QUERIES, RUNNING, USAGE, small_workload
from kvlib.grading.exercises.vllm.workload import predicted as predict

WORKLOAD = small_workload(num_requests=8, num_gpu_blocks=30)


@pytest.fixture(scope="module")
def predicted():
    return predict(WORKLOAD)


@pytest.fixture
def recording(predicted):
    """One that a file of the schema could hold, made up here: it agrees with the prediction."""
    return {
        "date": "2026-01-01",
        "device": "a made-up processor",
        "versions": {"python": "3.11", "vllm": "0.33.0"},
        "commit": None,
        "measured": MEASURED,
        "gpu": "a made-up GPU",
        "workload": digest(WORKLOAD),
        "num_gpu_blocks": WORKLOAD.num_gpu_blocks,
        "steps": copy.deepcopy(predicted),
    }


def test_the_prediction_has_every_metric_after_every_step_and_ends_with_an_empty_memory(predicted):
    assert set(predicted) == set(METRICS)
    assert len({len(values) for values in predicted.values()}) == 1
    assert predicted[RUNNING][-1] == predicted[USAGE][-1] == 0
    assert predicted[PREEMPTIONS][-1] > 0
    assert max(predicted[USAGE]) <= 1


def test_counters_never_fall_and_hits_are_a_part_of_queries(predicted):
    for name in (PREEMPTIONS, QUERIES, HITS):
        assert predicted[name] == sorted(predicted[name])
    assert all(hits <= queries for hits, queries in zip(predicted[HITS], predicted[QUERIES]))


def test_only_first_admissions_are_queried(predicted):
    assert predicted[QUERIES][-1] == sum(len(prompt) for wave in WORKLOAD.waves for prompt, _ in wave)


def test_a_larger_cache_spares_preemptions_and_finds_the_same_beginnings():
    ample = predict(small_workload(num_requests=8, num_gpu_blocks=200))
    assert ample[PREEMPTIONS][-1] == 0
    assert ample[HITS][-1] == 8 * 70 // 16 // 8 * 8 * 16


def test_a_whole_recording_is_taken_as_it_is(recording):
    assert checked(recording) is recording


def without(name):
    return lambda recording: recording.pop(name)


def shorter(recording):
    recording["steps"][USAGE].pop()


def strange(recording):
    recording["steps"]["vllm:something"] = recording["steps"].pop(HITS)


def negative(recording):
    recording["steps"][HITS][0] = -1


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (without("measured"), "no recording"),
        (without("gpu"), "gpu"),
        (lambda recording: recording["versions"].pop("vllm"), "version of vllm"),
        (without("num_gpu_blocks"), "num_gpu_blocks is None"),
        (strange, HITS),
        (negative, "a list of numbers"),
        (shorter, "the file is cut"),
    ],
)
def test_what_is_wrong_with_a_recording_is_named(recording, change, named):
    change(recording)
    with pytest.raises(BadInput, match=named):
        checked(recording)


def test_a_file_of_this_workload_is_found_and_others_are_left_alone(recording, tmp_path):
    (tmp_path / "b.json").write_text(json.dumps(recording))
    (tmp_path / "a.json").write_text(json.dumps({**recording, "workload": digest(small_workload())}))
    (tmp_path / "other.json").write_text(json.dumps({"ceilings": []}))
    (tmp_path / "notes.txt").write_text("no JSON")
    assert recordings(WORKLOAD, tmp_path) == [recording]


def test_a_damaged_file_is_named(recording, tmp_path):
    shorter(recording)
    (tmp_path / "run.json").write_text(json.dumps(recording))
    with pytest.raises(BadInput, match=r"run\.json cannot be played: the metrics of steps"):
        recordings(WORKLOAD, tmp_path)


def test_the_project_has_no_recording_and_the_player_says_so(predicted):
    assert recordings(WORKLOAD) == recordings(small_workload()) == []
    assert first_difference(predicted, None) == NOT_MEASURED
    assert NOT_MEASURED in played(predicted, None).alt
    table = compared(predicted, None)
    assert {line[-1] for line in table.lines[1:]} == {"not measured"}


def test_a_recording_that_agrees_is_equal_in_every_line(predicted, recording):
    assert first_difference(predicted, recording).startswith(f"All {len(METRICS)} metrics agree")
    assert {line[-1] for line in compared(predicted, recording).lines[1:]} == {"equal"}
    assert "a made-up GPU" in played(predicted, recording).alt


def test_the_first_difference_is_named_with_both_values(predicted, recording):
    recording["steps"][PREEMPTIONS][4] += 2
    was = predicted[PREEMPTIONS][4]
    said = first_difference(predicted, recording)
    assert said == f"Step 5: {PREEMPTIONS} was predicted to be {was:g}, and is {was + 2:g} on vLLM."


def test_a_run_that_goes_on_longer_is_told_apart(predicted, recording):
    for values in recording["steps"].values():
        values.append(values[-1])
    assert f"vLLM took {len(predicted[RUNNING]) + 1}" in first_difference(predicted, recording)
    assert compared(predicted, recording).lines[1][-1].startswith("-")


def test_a_summary_of_a_run_without_queries_has_no_hit_rate(predicted):
    assert summary({name: [0, 0] for name in predicted})["hits of queries"] == 0


def test_without_vllm_nothing_is_imported_set_or_written(monkeypatch, tmp_path):
    monkeypatch.setattr(recorder.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(recorder.importlib, "import_module", lambda name: pytest.fail(f"{name} was imported"))
    monkeypatch.delenv("VLLM_ENABLE_V1_MULTIPROCESSING", raising=False)
    assert "vLLM is not installed" in missing()
    with pytest.raises(MissingPackage, match=r"vllm==0\.33\.0"):
        record_run(WORKLOAD, tmp_path / "run.json")
    assert not list(tmp_path.iterdir())
    assert "VLLM_ENABLE_V1_MULTIPROCESSING" not in recorder.os.environ


class StandIn:
    """As much of vLLM's engine as the recorder uses: it tells the prediction, step by step."""

    def __init__(self, model, **settings):
        with open(f"{model}/config.json", encoding="utf-8") as file:
            assert json.load(file) == CONFIG
        self.settings, self.course = settings, predict(WORKLOAD)
        self.num_steps, self.waves = 0, list(WORKLOAD.waves)
        self.llm_engine = self

    def enqueue(self, prompts, params, use_tqdm):
        wave = self.waves.pop(0)
        assert [tuple(prompt["prompt_token_ids"]) for prompt in prompts] == [prompt for prompt, _ in wave]
        assert [each.max_tokens for each in params] == [count for _, count in wave]

    def has_unfinished_requests(self):
        first_wave = 4  # steps of its one request
        return self.num_steps < (first_wave if self.waves else len(self.course[RUNNING]))

    def step(self):
        self.num_steps += 1

    def get_metrics(self):
        info = SimpleNamespace(
            name="vllm:cache_config_info", labels={"num_gpu_blocks": str(self.settings["num_gpu_blocks_override"])}
        )
        place = self.num_steps - 1
        return [info, *(SimpleNamespace(name=name, value=self.course[name][place]) for name in METRICS)]


def test_the_recorder_asks_after_every_step_and_writes_a_whole_recording(monkeypatch, tmp_path, predicted):
    vllm = ModuleType("vllm")
    vllm.LLM, vllm.SamplingParams = StandIn, SimpleNamespace
    monkeypatch.setitem(sys.modules, "vllm", vllm)
    monkeypatch.setattr(recorder, "missing", lambda: "")
    monkeypatch.setattr("torch.cuda.get_device_name", lambda: "a made-up GPU")
    monkeypatch.setattr(recorder, "record", lambda *packages: {"date": "", "device": "", "versions": {"vllm": "0"}})
    for name in recorder.ALONE:
        monkeypatch.setenv(name, "before")
    recorded = record_run(WORKLOAD, tmp_path / "run.json")
    assert recorded["steps"] == predicted
    assert recorded["num_gpu_blocks"] == WORKLOAD.num_gpu_blocks
    assert recordings(WORKLOAD, tmp_path) == [recorded]
