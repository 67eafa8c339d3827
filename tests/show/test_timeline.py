"""The picture of who waits and who runs: every phase is what the log says of that step."""

import re
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvlib.errors import BadInput
from kvlib.events import EventLog
from kvlib.memory import RecordedBlockManager
from kvlib.serving.request import Request
from kvlib.serving.scheduler import Scheduler
from kvlib.show.board import Board
from kvlib.show.timeline import PHASES, blocks_in_use, phases, timeline


def record(prompts, num_blocks, max_tokens=20, host=0, samples=1, **settings):
    """A log of requests that come together, in blocks of 4; each is forked after its prompt into `samples`."""
    log = EventLog()
    manager = RecordedBlockManager(num_blocks, 4, log, num_host_blocks=host)
    scheduler = Scheduler(manager, preemption="swap" if host else "recompute", log=log, **settings)
    for number, num_tokens in enumerate(prompts):
        scheduler.add(Request(str(number), num_tokens, max_tokens, num_sequences=samples))
        log.say(str(number), [f" {number}"] * num_tokens)
    while scheduler.has_unfinished():
        step = scheduler.schedule()
        scheduler.computed(step)
        for work in step.prefills + step.decodes:
            request, sequence = work.request, work.sequence
            if not work.gives_token:
                continue
            for sample in range(len(request.sequences), samples):
                scheduler.fork(request, sequence.seq_id, f"{request.request_id}/{sample}").append()
            sequence.append()
            if sequence.num_tokens == sequence.most_tokens and sequence is request.sequences[-1]:
                scheduler.finish(request, "length")
    return log


def stretches(row):
    return [(phase, len(list(steps))) for phase, steps in groupby(row)]


def words(picture):
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture.svg)


def test_who_recomputes_waits_and_comes_back_with_a_prefill():
    rows = phases(record([4, 3, 3], num_blocks=9))
    assert stretches(rows["0"]) == [("prefill", 1), ("decode", 19), ("", 13)]
    assert stretches(rows["1"]) == [
        ("prefill", 1),
        ("decode", 13),
        ("waits", 6),  # it yields to itself, and waits from that step on
        ("prefill", 1),
        ("decode", 5),
        ("", 7),
    ]


def test_who_is_swapped_out_is_on_the_host_and_comes_back_with_a_decode():
    rows = phases(record([4, 3, 3], num_blocks=9, host=9))
    assert stretches(rows["1"]) == [("prefill", 1), ("decode", 13), ("on the host", 6), ("decode", 6), ("", 7)]


def test_who_is_not_admitted_yet_waits_from_the_first_step():
    rows = phases(record([4, 4], num_blocks=6, max_num_seqs=1))
    assert stretches(rows["1"]) == [("waits", 20), ("prefill", 1), ("decode", 19)]


def test_a_prompt_computed_in_pieces_is_prefill_to_its_end():
    rows = phases(record([10], num_blocks=9, chunked_prefill=True, max_num_batched_tokens=4))
    assert stretches(rows["0"]) == [("prefill", 3), ("decode", 19)]


def test_a_fork_is_there_from_the_step_after_its_prompt():
    rows = phases(record([4], num_blocks=20, samples=2))
    assert stretches(rows["0"]) == [("prefill", 1), ("decode", 19)]
    assert stretches(rows["0/1"]) == [("", 1), ("decode", 19)]


def test_the_last_step_counts_the_blocks_that_end_with_it():
    assert blocks_in_use(record([4], num_blocks=9, max_tokens=6)) == [1, 2, 2, 2, 2, 3]


@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=6),
    st.integers(8, 30),
    st.sampled_from([0, 5, 60]),
    st.integers(1, 20),
)
def test_in_every_step_a_row_has_a_phase_and_who_computes_fits_the_pool(prompts, num_blocks, host, max_tokens):
    log = record(prompts, num_blocks, max_tokens, host)
    rows, in_use = phases(log), blocks_in_use(log)
    assert {len(row) for row in rows.values()} == {log.step} == {len(in_use)}
    assert {phase for row in rows.values() for phase in row} <= {*PHASES, ""}
    for step, used in enumerate(in_use, 1):
        running = [seq for seq, row in rows.items() if row[step - 1] in ("prefill", "decode")]
        assert len(running) <= used <= num_blocks
    for row, output in zip(rows.values(), [max_tokens] * len(prompts)):
        assert sum(phase in ("prefill", "decode") for phase in row) == output


def test_the_picture_names_each_row_and_its_text_and_says_all_phases():
    log = record([4, 3, 3], num_blocks=9)
    picture = timeline(log)
    said = words(picture)
    assert said[:3] == ["prefill", "decode", "waits"]
    assert said[3:9] == ["A", "0 0 0 0", "B", "1 1 1", "C", "2 2 2"]
    assert said[9:] == ["blocks in use, of 9", "1", "10", "20", "30", "step"]
    assert "B: prefill in step 1, decode in steps 2 to 14, waits in steps 15 to 20, prefill in step 21" in picture.alt
    assert picture.alt.endswith("At most 9 of 9 blocks are in use.")


def test_a_long_text_is_cut_and_a_line_break_shown():
    log = record([4], num_blocks=9)
    log.texts["0"] = ["one\ntwo ", "x" * 60]
    cut = words(timeline(log))[3]
    assert cut.startswith("one⏎two xxx")
    assert cut.endswith("…")
    assert len(cut) == 44


def test_the_board_is_left_as_the_log_ends():
    log = record([4, 3, 3], num_blocks=9)
    assert Board.at(log).tables == {}
    assert timeline(log) == timeline(log)


def test_a_log_without_a_step_is_refused():
    with pytest.raises(BadInput, match="no step yet"):
        timeline(EventLog())
