"""What cannot be is said in words, and the machine stops before it."""

import json

import pytest
from playwright.sync_api import expect

from .machines import FORKED, button_of, opened_machines

machine = opened_machines


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda data: data | {"version": 1}, "The log has version 1; this machine reads version 2."),
        (lambda data: {key: data[key] for key in data if key != "version"}, "The log has no version"),
        (lambda data: json.dumps(data)[:200], "The log is not whole JSON; it may be cut short."),
        (lambda data: data | {"events": None}, "events is null, not a list"),
        (lambda data: data | {"num_blocks": 0}, "can be drawn"),
        (lambda data: data | {"num_blocks": 10**9}, "can be drawn"),
        (lambda data: [data], "The log is no object with events"),
        (lambda data: None, "The log is no object with events"),
    ],
)
def test_what_is_no_log_of_this_version_is_refused_in_words(machine, spoil, words):
    page = machine(spoil(FORKED))
    assert words in page.get_by_role("alert").inner_text()
    assert page.locator("canvas").count() == 0


def free(seq, block, count):
    return {"step": 3, "kind": "free", "seq": seq, "block": block, "count": count}


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (free("second", 5, 0), "second holds no blocks, and block 5 is free"),
        (free("first", 1, 0), "first frees its last block first, which is 2"),
        ({"step": 3, "kind": "allocate", "seq": "first", "index": 2, "block": 1}, "block 1 belongs to first"),
        ({"step": 3, "kind": "allocate", "seq": "first", "index": 2, "block": 9}, "numbered 1 to 5"),
        ({"step": 3, "kind": "allocate", "seq": "first", "index": 4, "block": 4}, "table of first is number 2"),
        ({"step": 3, "kind": "copy", "seq": "first", "index": 1, "source": 2, "target": 4}, "has no other owner"),
        ({"step": 3, "kind": "write", "seq": "first", "start": 7, "stop": 9}, "has room for 1 token"),
        ({"step": 3, "kind": "write", "seq": "first", "start": 6, "stop": 7}, "next token of first is number 7"),
        ({"step": 3, "kind": "evict", "block": 5}, "holds nothing that could be lost"),
        ({"step": 3, "kind": "finish", "seq": "first", "reason": "stop"}, "first still holds blocks 1, 2"),
        ({"step": 1, "kind": "arrive", "seq": "third"}, "step 3 has begun"),
        ({"step": 3, "kind": "arrive", "seq": "first"}, "first has come before"),
        (
            {"step": 3, "kind": "swap", "seq": "third", "how": "in", "blocks": [1], "host_blocks": [1]},
            "not on the host",
        ),
        ({"step": 3, "kind": "release", "seq": "first"}, "first holds no chunk"),
        ({"step": 3, "kind": "melt"}, "the kinds are arrive, allocate"),
        ({"step": 3, "kind": "evict"}, "block is missing, not a whole number"),
        (None, "it is no object"),
    ],
)
def test_an_event_that_cannot_be_stops_the_machine_before_it_in_words(machine, event, words):
    page = machine(FORKED | {"events": [*FORKED["events"], event, free("first", 2, 0)]}, position=99)
    assert words in page.get_by_role("alert").inner_text()
    assert page.get_by_role("alert").inner_text().startswith("Event 10 of the log (")
    expect(page.locator(".kv-place")).to_have_text("step 3 · event 10 of 10")
    button_of(page, "One event forward").click(force=True)
    expect(page.locator(".kv-place")).to_have_text("step 3 · event 10 of 10")
    assert page.get_by_role("slider").get_attribute("max") == "10"
