"""The lab bench as a widget: its data are those of the runs, in a notebook, in a page and in a file of its own."""

import json
import re
from pathlib import Path

import pytest

from kvlib.errors import BadInput
from kvlib.serving.lab_bench import ALLOCATIONS, NUMS_SEQUENCES, run
from kvlib.show.lab_bench import POSITIONS, LabBench, runs


@pytest.fixture(scope="module")
def bench() -> LabBench:
    return LabBench()


def test_readings_are_those_of_the_runs(bench: LabBench) -> None:
    assert list(bench.readings) == [f"{each}-{number}" for each in ALLOCATIONS for number in NUMS_SEQUENCES]
    for name, (most, stored, held, rounds) in bench.readings.items():
        done = run(*POSITIONS[name])
        assert (most, stored / held, rounds) == (done.most_at_once, done.mean_share, done.num_rounds)


def test_each_position_has_a_file_that_a_page_loads_from_anywhere() -> None:
    files = runs()
    assert list(files) == [f"{name}.js" for name in POSITIONS]
    for name, position in POSITIONS.items():
        assigned, data = re.fullmatch(
            r"\(globalThis\.kvRuns \?\?= \{\}\)\['(.+?)'\] = (.+);\n", files[f"{name}.js"]
        ).groups()
        assert assigned == name
        assert json.loads(data) == json.loads(run(*position).to_json())


def test_a_kernel_sends_the_run_that_is_asked_for(bench: LabBench, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict] = []
    monkeypatch.setattr(bench, "send", sent.append)
    bench._handle_custom_msg({"run": "16-48"}, [])
    assert sent == [{"run": "16-48", "data": json.loads(run(16, 48).to_json())}]


@pytest.mark.parametrize("message", [{}, {"run": "3-24"}, {"run": None}])
def test_a_message_that_names_no_run_is_not_answered(
    bench: LabBench, monkeypatch: pytest.MonkeyPatch, message: dict
) -> None:
    sent: list[dict] = []
    monkeypatch.setattr(bench, "send", sent.append)
    bench._handle_custom_msg(message, [])
    assert sent == []


def test_in_a_page_no_kernel_is_asked_and_no_events_are_in_it(bench: LabBench) -> None:
    data, _ = bench._repr_mimebundle_()
    page = data["text/html"]
    traits = json.loads(re.search(r'<script type="application/json">(.*?)</script>', page).group(1))
    assert bench.live
    assert (traits["live"], traits["runs"]) == (False, {})
    assert traits["readings"] == bench.readings
    assert len(page) < 5_000


def test_a_file_of_its_own_has_the_events_of_every_run(bench: LabBench, tmp_path: Path) -> None:
    bench.save(tmp_path / "bench.html")
    page = (tmp_path / "bench.html").read_text(encoding="utf-8")
    traits = json.loads(re.search(r'<script type="application/json">(.*?)</script>', page).group(1))
    assert list(traits["runs"]) == list(POSITIONS)
    assert traits["runs"]["4-24"] == json.loads(run(4, 24).to_json())
    assert bench.own_traits["runs"] == {}


def test_a_file_of_another_kind_is_not_overwritten_and_nothing_stays_changed(bench: LabBench, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"\.html"):
        bench.save(tmp_path / "bench.txt")
    assert bench.own_traits["runs"] == {}


def test_bench_says_in_words_what_it_is(bench: LabBench) -> None:
    assert "1, 2, 4, 8, 16, or that there are no blocks" in bench.in_words()
    assert "8, 12, 16, 24, 32, 48, 64" in bench.in_words()
