"""The panels of *Race the kernel*: what a knob changes, what the button brings, what is shown and what never is."""

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor

import ipywidgets
import pytest

from kvlib.bench.gpu import measure
from kvlib.bench.gpu import race as racing
from kvlib.bench.gpu.loads import equal
from kvlib.bench.gpu.machine import Interpreter
from kvlib.bench.gpu.race import TINY, Race
from kvlib.bench.gpu.recorded import recorded
from kvlib.errors import BadInput
from kvlib.grading.race.changes import BASE, CHANGES, compared
from kvlib.grading.race.panel import KNOBS, QUEUED_S, Counts, RacePanel
from kvlib.grading.race.report import data_sheets, launch_bound, setting

from ...bench.gpu.made_up import BIG, NAME, MadeUpGpu, row, write

NOT_MEASURED = "No GPU here: nothing is measured on this machine."


def under(widget, kind):
    """All widgets of a kind in it, in the order of the page."""
    found = [widget] if isinstance(widget, kind) else []
    return found + [each for child in getattr(widget, "children", ()) for each in under(child, kind)]


def text(panel):
    """What the page says, pictures by their sentences."""
    html = " ".join(each.value for each in under(panel, ipywidgets.HTML))
    spoken = re.sub(r'<svg.*?aria-label="([^"]*)".*?</svg>', r" \1 ", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", spoken))


def pictures(panel):
    return [each for each in under(panel, ipywidgets.HTML) if "<svg" in each.value]


def turn(panel, **values):
    for knob in under(panel, ipywidgets.SelectionSlider):
        if knob.description.replace(" ", "_") in values:
            knob.value = values[knob.description.replace(" ", "_")]


def press(panel):
    [button] = under(panel, ipywidgets.Button)
    button.click()


@pytest.fixture
def here(monkeypatch):
    """A panel on what passes for a GPU, whose copy and rows take the given microseconds."""
    monkeypatch.setattr(racing, "ON_A_GPU", racing.ON_A_GPU._replace(big=TINY))

    def panel(*times, tracks=()):
        made = RacePanel(Race(MadeUpGpu(times)), list(tracks))
        turn(made, requests=1, context=256)
        return made

    return panel


def test_the_counts_follow_every_knob():
    panel = Counts()
    assert "64 requests of 4,096 tokens, blocks of 16, fp16: 1.07 GB of keys and values, 65.5 kB of block" in text(
        panel
    )
    seen = {text(panel)}
    for change in ({"requests": 1}, {"context": 32768}, {"block_size": 1}, {"dtype": "e4m3"}):
        turn(panel, **change)
        seen.add(text(panel))
    assert len(seen) == 5
    assert "1 request of 32,768 tokens, blocks of 1, e4m3: 67.1 MB of keys and values, 131 kB of block" in text(panel)


def test_the_counts_of_a_card_are_those_of_its_launch():
    assert re.search(r"T4 3\.36 ms 1 512 120 5 .* H100 321 µs 1 512 660 1 ", text(Counts()))


def test_bfloat16_on_a_t4_is_said_to_be_missing():
    panel = Counts()
    turn(panel, dtype="bf16")
    assert re.search(r"T4 3\.36 ms no bf16 L4", text(panel))


def test_a_step_larger_than_the_memory_of_a_card_has_no_time_there():
    panel = Counts()
    turn(panel, requests=128, context=32768)
    assert "T4 does not fit L4 57.3 ms" in text(panel)
    turn(panel, dtype="e4m3")
    assert "T4 26.8 ms" in text(panel)


def test_what_is_shown_beside_the_data_sheets_does_not_depend_on_an_answer():
    assert [line[2] for line in data_sheets(BASE).lines[1:]] == ["3.36 ms", "3.58 ms", "691 µs", "321 µs", "139 µs"]
    tokens = [line[1] for line in launch_bound(num_seqs=1, token_bytes=4096, host_us=10).lines[1:]]
    assert tokens == ["782", "733", "3,797", "8,179", "18,799"]


def test_every_step_of_the_knobs_can_be_drawn():
    for requests in (KNOBS["requests"][0], KNOBS["requests"][-1]):
        for context in (KNOBS["context"][0], KNOBS["context"][-1]):
            panel = RacePanel(Race(Interpreter()), [])
            turn(panel, requests=requests, context=context, dtype="e4m3")
            assert len(pictures(panel)) == 1


def test_without_a_gpu_and_without_files_the_roofline_alone_is_drawn_and_the_words_say_so():
    panel = RacePanel(Race(Interpreter()), [])
    assert len(pictures(panel)) == 1
    assert "Nothing is measured." in text(panel)
    assert "Dashed lines follow from data sheets: T4 320 GB/s, L4 300 GB/s, A100 1,555 GB/s" in text(panel)
    assert "Recorded: no GPU so far." in text(panel)
    assert NOT_MEASURED in text(panel)


def test_without_a_gpu_the_button_checks_the_kernel_and_no_time_appears():
    panel = RacePanel(Race(Interpreter()), [])
    turn(panel, dtype="e4m3", block_size=8)
    press(panel)
    step = "interpreter, 3 requests of 33 to 200 tokens, blocks of 8, e4m3"
    assert re.search(step + r": right, relative error \d\.\de-04\. Not timed\.", text(panel))
    assert len(pictures(panel)) == 1
    assert NOT_MEASURED in text(panel)


def test_without_a_gpu_bfloat16_is_refused_in_words():
    panel = RacePanel(Race(Interpreter()), [])
    turn(panel, dtype="bf16")
    press(panel)
    assert "skipped: Triton's interpreter computes bfloat16 wrongly." in text(panel).replace("&#x27;", "'")


def test_a_recorded_gpu_is_drawn_beside_the_roofline(tmp_path):
    write(tmp_path, row(BIG, 300.0), row(equal(1, 32768), 60.0))
    panel = RacePanel(Race(Interpreter()), recorded(tmp_path))
    assert len(pictures(panel)) == 3
    said = text(panel)
    assert re.search(rf"Full lines, measured copies: {NAME}, \S+ 4,000 GB/s\.", said)
    assert re.search(rf"Time .* Measured on {NAME}, \S+: 1\.07 GB 300 µs, 134 MB 60 µs\.", said)
    assert "1.07 GB 3,579 GB/s, 134 MB 2,237 GB/s." in said
    assert "1.07 GB 89 %, 134 MB 56 %." in said
    assert "2 rows with this block size and dtype." in said
    assert NOT_MEASURED in said


def test_rows_of_another_dtype_or_block_size_come_with_their_knobs(tmp_path):
    write(tmp_path, row(BIG, 300.0), row(BIG._replace(dtype="e4m3"), 170.0))
    panel = RacePanel(Race(Interpreter()), recorded(tmp_path))
    turn(panel, dtype="e4m3")
    assert "537 MB 170 µs" in text(panel)
    assert "300 µs" not in text(panel)
    turn(panel, block_size=64)
    assert "170 µs" not in text(panel)
    assert len(pictures(panel)) == 1


@pytest.mark.parametrize(
    ("rows", "fields"),
    [
        ([row(BIG, 300.0, status="wrong", note="relative error 1")], {}),
        ([row(BIG, None)], {"interpreted": True}),
        ([row(BIG, None)], {"gpu": None}),
    ],
    ids=["wrong", "interpreted", "no GPU"],
)
def test_what_is_no_result_is_not_drawn(tmp_path, rows, fields):
    write(tmp_path, *rows, **fields)
    panel = RacePanel(Race(Interpreter()), recorded(tmp_path))
    assert len(pictures(panel)) == 1
    assert "Nothing is measured." in text(panel)
    assert "300 µs" not in text(panel)


def test_on_a_gpu_the_button_brings_a_dot_and_its_numbers(here):
    panel = here(10.0, 50.0)
    assert "Measured here: nothing yet." in text(panel)
    assert NOT_MEASURED not in text(panel)
    press(panel)
    said = text(panel)
    assert re.search(r"1 request of 256 tokens, blocks of 16, fp16: 50 µs, .*: 21 GB/s, \d+ % of the copy rate", said)
    assert re.search(rf"Measured on {NAME}, here: 1\.05 MB 50 µs\.", said)
    assert "Measured here: 1 row with this block size and dtype." in said
    assert len(pictures(panel)) == 3


def test_on_a_gpu_a_wrong_row_has_no_dot_and_no_time(here, monkeypatch):
    panel = here(10.0, 50.0)
    monkeypatch.setattr(measure, "BOUNDS", dict.fromkeys(measure.BOUNDS, 0.0))
    press(panel)
    assert re.search(r"fp16: wrong: relative error \S+, of which 0 is allowed\.", text(panel))
    assert "50 µs" not in text(panel)
    assert len(pictures(panel)) == 1


def test_a_failure_is_said_and_the_button_can_be_pressed_again(here, monkeypatch):
    panel = here(10.0, 50.0)
    [button] = under(panel, ipywidgets.Button)
    monkeypatch.setattr(panel._race, "run", lambda load: 1 / 0)
    press(panel)
    assert "ZeroDivisionError: division by zero" in text(panel)
    assert button.description == "Run"


def test_presses_of_a_running_button_are_ignored(here, monkeypatch):
    panel = here(10.0, 50.0)
    [button] = under(panel, ipywidgets.Button)
    seen = []
    run = panel._race.run
    monkeypatch.setattr(panel._race, "run", lambda load: seen.append(button.description) or run(load))

    async def notebook():
        press(panel)
        press(panel)  # the browser sent it while the first ran
        assert seen == [button.description] == ["Running"]
        await asyncio.sleep(2 * QUEUED_S)
        assert button.description == "Run"
        press(panel)

    with ThreadPoolExecutor(1) as thread:  # while a browser runs, the loop of this one is its
        thread.submit(asyncio.run, notebook()).result()
    assert len(seen) == 2
    assert not button.disabled  # a disabled button loses the focus


def test_what_was_predicted_stands_beside_the_bytes_and_nothing_is_measured():
    table = compared(dict.fromkeys(CHANGES, 3), Race(Interpreter()))
    assert [line[1:] for line in table.lines[1:3]] == [["3", "2", "not measured"], ["3", "0.25", "not measured"]]


def test_predictions_that_are_no_dict_are_refused():
    with pytest.raises(BadInput, match="predicted is None; it is a dict, a number for each change: see part 2"):
        compared(None, Race(Interpreter()))


def test_on_a_gpu_each_change_is_measured_against_the_base(monkeypatch):
    race = Race(MadeUpGpu())
    times = {load.name + load.dtype: 100.0 * times for times, (load, _) in enumerate(CHANGES.values(), 2)}
    row_of = {"status": "ok"}
    monkeypatch.setattr(race, "run", lambda load: row_of | {"us_p50": times.get(load.name + load.dtype, 100.0)})
    table = compared({}, race)
    assert [line[3] for line in table.lines[1:]] == ["2.00", "3.00", "4.00", "5.00", "6.00", "7.00"]


def test_a_change_that_goes_wrong_is_not_measured(monkeypatch):
    race = Race(MadeUpGpu())
    monkeypatch.setattr(race, "run", lambda load: {"status": "wrong", "us_p50": 5.0})
    assert {line[3] for line in compared({}, race).lines[1:]} == {"not measured"}


@pytest.mark.parametrize(
    ("load", "words"),
    [
        (equal(1, 1024), "1 request of 1,024 tokens, blocks of 16, fp16"),
        (TINY, "3 requests of 33 to 200 tokens, blocks of 16, fp16"),
    ],
)
def test_a_step_in_words(load, words):
    assert setting(load) == words
