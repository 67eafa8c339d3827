"""The board of the page is the board of Python: the same state after every event, the same events refused."""

import json
from random import Random

import pytest

from kvlib.errors import BadEvents
from kvlib.events import VERSION, EventLog
from kvlib.show.board import Board
from kvlib.show.modules import joined
from kvlib.show.split import split

from .runs import varied, varied_contiguous

PLAY = """data => {
    const history = new kv.History(new kv.Log(data));
    const states = [];
    for (let position = 1; position <= history.length; position++) states.push(kv.state(history.at(position)));
    return { states, length: history.length, problem: history.problem };
}"""

STATE = """
const lines = (tables) => [...tables].map(([seq, { blocks, numTokens }]) => [seq, [...blocks], numTokens]);
const state = (board) => ({
  tables: lines(board.tables),
  swapped: lines(board.swapped),
  counts: [...board.counts],
  stored: [...board.stored].sort(([a], [b]) => a - b),
  chunks: [...board.chunks].map(([seq, { start, slots, wanted, stored }]) => [seq, start, slots, wanted, stored]),
  gaps: board.chunks.gaps,
  waiting: [...board.waiting],
  preemptions: board.numPreemptions,
  numbers: [...board.numbers],
  split: Object.values(splitSlots(board)),
});
window.kv = { Log, History, state };
"""


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page()
    page.add_script_tag(content=joined("history", "split") + STATE, type="module")
    page.wait_for_function("window.kv")
    yield page
    page.close()


def lines(tables):
    return [[seq, list(table.blocks), table.num_tokens] for seq, table in tables.items()]


def state(board):
    return {
        "tables": lines(board.tables),
        "swapped": lines(board.swapped),
        "counts": list(board.counts),
        "stored": [list(pair) for pair in sorted(board.stored.items())],
        "chunks": [[seq, it.start, it.slots, it.wanted, it.stored] for seq, it in board.chunks.items()],
        "gaps": [list(gap) for gap in board.chunks.gaps],
        "waiting": list(board.waiting),
        "preemptions": board.num_preemptions,
        "numbers": [list(pair) for pair in board.numbers.items()],
        "split": list(split(board)),
    }


def played(data):
    """How many events of a log's JSON object Python lets happen, and whether that is all."""
    log = EventLog()
    if data["num_slots"]:
        log.open_slots(data["num_slots"])
    else:
        log.open(data["num_blocks"], data["block_size"])
    board = Board(log)
    for number, event in enumerate(data["events"]):
        try:
            board.apply(event, number)
        except BadEvents:
            return number, False
    return len(data["events"]), True


def log_of(kind, seed):
    return varied_contiguous(seed) if kind == "contiguous" else varied(kind, seed)


@pytest.mark.parametrize("kind", ["recompute", "swap", "prefix", "contiguous"])
def test_after_every_event_of_any_run_the_page_has_the_state_that_python_has(page, kind):
    num_events = 0
    for seed in range(6):
        log = log_of(kind, seed)
        told = page.evaluate(PLAY, json.loads(log.to_json()))
        board = Board(log)
        assert (told["length"], told["problem"]) == (len(log), None)
        for number, event in enumerate(log.events):
            board.apply(event, number)
            assert told["states"][number] == state(board), (seed, number, event)
        num_events += len(log)
    assert num_events > 300


def spoiled(random, data):
    """The same log with one thing wrong somewhere, or with nothing wrong after all."""
    events = data["events"]
    place = random.randrange(len(events))
    event = events[place]
    change = random.choice(["drop", "twice", "swap", "number", "text", "kind", "field"])
    field = random.choice(sorted(set(event) - {"kind"}))
    if change == "drop":
        del events[place]
    elif change == "twice":
        events.insert(place, dict(event))
    elif change == "swap" and place + 1 < len(events):
        events[place], events[place + 1] = events[place + 1], event
    elif change == "number" and isinstance(event[field], int):
        event[field] += random.choice([-1, 1, 2, 1000, -1000])
    elif change == "text" and "seq" in event:
        event["seq"] = random.choice(["r0", "r1", "nobody"])
    elif change == "kind":
        event["kind"] = random.choice(["melt", "free", "evict", 3])
    elif change == "field":
        event[field] = random.choice([None, "x", 1.5, True, [], [0], [[1, 2]], {}])
    return data


@pytest.mark.parametrize("kind", ["recompute", "swap", "prefix", "contiguous"])
def test_the_page_stops_at_the_very_event_that_python_refuses(page, kind):
    random = Random(kind)
    num_refused = 0
    for seed in range(40):
        data = spoiled(random, json.loads(log_of(kind, seed % 12).to_json()))
        told = page.evaluate(PLAY, data)
        length, is_whole = played(data)
        assert (told["length"], told["problem"] is None) == (length, is_whole), (seed, data["events"][length:][:1])
        if not is_whole:
            assert told["problem"].startswith(f"Event {length} of the log (")
            assert told["problem"].endswith(".")
        num_refused += not is_whole
    assert num_refused > 20


def test_the_page_reads_the_version_that_python_writes(page):
    assert page.evaluate(PLAY, {**json.loads(varied("recompute", 0).to_json()), "version": VERSION})["length"] > 0
