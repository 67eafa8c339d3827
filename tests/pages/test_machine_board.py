"""The board of the page is the board of Python: the same state after every event, the same events refused."""

import json
from functools import cache
from random import Random

import pytest

from kvlib.errors import BadEvents
from kvlib.events import VERSION, EventLog
from kvlib.memory import RecordedBlockManager, RecordedContiguousManager
from kvlib.memory.contiguous import Oracle
from kvlib.show.board import Board
from kvlib.show.modules import joined
from kvlib.show.split import split

from .runs import varied, varied_contiguous

PLAY = """text => {
    const history = new kv.History(new kv.Log(JSON.parse(text)));
    const states = [];
    for (let position = 1; position <= history.length; position++) states.push(kv.state(history.at(position)));
    return JSON.stringify({ states, length: history.length, problem: history.problem });
}"""

GO_BACK = """data => {
    const history = new kv.History(new kv.Log(data));
    const there = [];
    for (let position = 0; position <= history.length; position++) there.push(kv.whole(history.at(position)));
    const isAsThere = (position) => kv.whole(history.at(position)) === there[position];
    return [...there.keys()].reverse().every((position) => isAsThere(position)) && there.length;
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
const whole = (board) =>
  JSON.stringify([state(board), [...board.lengths], [...board.returned], [...board.cached], board.step]);
window.kv = { Log, History, state, whole };
"""


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page()
    page.add_script_tag(content=joined("history", "split") + STATE, type="module")
    page.wait_for_function("window.kv")
    yield page
    page.close()


def play(page, data):
    """What the page makes of a log's JSON object: as text, because Playwright takes objects apart slowly."""
    return json.loads(page.evaluate(PLAY, json.dumps(data)))


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


@cache
def log_of(kind, seed):
    return varied_contiguous(seed) if kind == "contiguous" else varied(kind, seed)


@pytest.mark.parametrize("kind", ["recompute", "swap", "prefix", "contiguous"])
def test_after_every_event_of_any_run_the_page_has_the_state_that_python_has(page, kind):
    num_events = 0
    for seed in range(6):
        log = log_of(kind, seed)
        told = play(page, json.loads(log.to_json()))
        board = Board(log)
        assert (told["length"], told["problem"]) == (len(log), None)
        for number, event in enumerate(log.events):
            board.apply(event, number)
            assert told["states"][number] == state(board), (seed, number, event)
        num_events += len(log)
    assert num_events > 300


@pytest.mark.parametrize("kind", ["recompute", "swap", "prefix", "contiguous"])
def test_going_back_shows_what_going_forward_did(page, kind):
    for seed in range(3):
        log = log_of(kind, seed)
        assert page.evaluate(GO_BACK, json.loads(log.to_json())) == len(log) + 1


def splits(page, log):
    """What the page says of the slots after each event that can happen, as Python orders it."""
    return [state["split"] for state in play(page, json.loads(log.to_json()))["states"]]


def test_a_shared_block_is_reserved_as_far_as_its_longest_owner_comes(page):
    log = EventLog()
    manager = RecordedBlockManager(5, 4, log)
    manager.admit("long", 6)
    manager.fork("long", "short")
    shared = len(log)
    manager.free("short")
    manager.append("long")
    manager.append("long")
    assert splits(page, log)[shared - 1] == [6, 2, 0, 0, 12]


def test_no_count_is_below_nothing_where_an_id_is_used_twice(page):
    log = EventLog()
    manager = RecordedContiguousManager(50, Oracle(20), log)
    for num_prompt, num_output in ((5, 5), (2, 2)):
        manager.admit("a", num_prompt, num_output)
        for _ in range(num_output):
            manager.tick()
        manager.free("a")
    board = Board(log)
    for number, (event, told) in enumerate(zip(log.events, splits(page, log), strict=True)):
        board.apply(event, number)
        assert told == list(split(board))
        assert min(told) >= 0


def test_what_the_log_writes_where_it_cannot_be_played_is_not_reserved(page):
    log = EventLog()
    log.open_slots(50)
    log.add("reserve", seq="a", start=0, slots=20, wanted=15)
    for start, stop in ((0, 5), (5, 1000), (5, 9)):
        log.add("write", seq="a", start=start, stop=stop)
    assert splits(page, log) == [[0, 5, 10, 5, 30], [5, 0, 10, 5, 30]]


def test_rounding_is_not_written(page):
    log = EventLog()
    log.open_slots(16)
    log.add("reserve", seq="a", start=0, slots=8, wanted=5)
    log.add("write", seq="a", start=0, stop=6)
    told = play(page, json.loads(log.to_json()))
    assert told["length"] == 1
    assert "a asked for 5 slots" in told["problem"]


@pytest.mark.parametrize(("step", "length"), [(2, 6), (3, 5)])
def test_who_shared_a_block_finds_it_again_only_in_the_step_in_which_it_comes_back(page, step, length):
    log = EventLog()
    log.open(4, 2)
    log.add("allocate", seq="a", index=0, block=1)
    log.add("share", seq="b", index=0, block=1, count=2, filled=0)
    for seq in "ab":
        log.add("swap", seq=seq, how="out", blocks=[1], host_blocks=[1])
    data = json.loads(log.to_json())
    back = {"kind": "swap", "how": "in", "blocks": [2], "host_blocks": [1]}
    data["events"] += [back | {"seq": "a", "step": 2}, back | {"seq": "b", "step": step}]
    assert play(page, data)["length"] == played(data)[0] == length


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
        told = play(page, data)
        length, is_whole = played(data)
        assert (told["length"], told["problem"] is None) == (length, is_whole), (seed, data["events"][length:][:1])
        assert all(min(state["split"]) >= 0 for state in told["states"])
        if not is_whole:
            assert told["problem"].startswith(f"Event {length} of the log (")
            assert told["problem"].endswith(".")
        num_refused += not is_whole
    assert num_refused > 20


def test_the_page_reads_the_version_that_python_writes(page):
    assert play(page, {**json.loads(varied("recompute", 0).to_json()), "version": VERSION})["length"] > 0
