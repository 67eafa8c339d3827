"""The family tree of a beam search names for each beam the one that it continues."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvlib.errors import BadEvents, BadInput
from kvlib.events import EventLog
from kvlib.memory import RecordedBlockManager
from kvlib.show.figures import INK, MUTED
from kvlib.show.genealogy import genealogy, generations


def searched(steps, num_prompt_tokens=6, block_size=4):
    """The log of a search in which `steps` say for each step which beam of the step before each beam continues; and the
    names of the beams after each step."""
    log = EventLog()
    manager = RecordedBlockManager(200, block_size, log)
    log.next_step()
    manager.admit("p", num_prompt_tokens)
    log.say("p", ["."] * num_prompt_tokens)
    beams, named = ["p"], []
    for number, parents in enumerate(steps):
        if number:
            log.next_step()
            manager.append_each(beams)
        old = [beams[parent] for parent in parents]
        for beam in beams:
            if beam not in old:
                manager.free(beam)
        beams = []
        for place, parent in enumerate(old):
            child = f"p/{number}/{place}" if parent in beams else parent
            if child != parent:
                manager.fork(parent, child)
                log.say(child, log.texts[parent])
            beams.append(child)
        for place, beam in enumerate(beams):
            log.say(beam, [f" {number}{'abcdefgh'[place]}"])
        named.append(dict(zip(beams, old)))
    return log, named


@given(
    widths=st.integers(1, 5),
    data=st.data(),
    num_prompt_tokens=st.integers(1, 9),
    block_size=st.integers(1, 5),
)
def test_every_beam_has_the_parent_that_it_was_forked_from(widths, data, num_prompt_tokens, block_size):
    steps = [[0] * widths]
    for _ in range(data.draw(st.integers(0, 6))):
        steps.append(data.draw(st.lists(st.integers(0, len(steps[-1]) - 1), min_size=1, max_size=5)))
    log, named = searched(steps, num_prompt_tokens, block_size)
    found = generations(log)
    assert [{beam.seq: beam.parent for beam in row} for row in found[1:]] == named[1:]
    assert {beam.parent for beam in found[0]} <= {None, "p"}


def test_the_beams_of_the_first_step_continue_nobody():
    log, _ = searched([[0, 0, 0]])
    assert [beam.parent for beam in generations(log)[0]] == [None] * 3


def test_who_goes_on_keeps_the_column_and_who_is_new_takes_a_free_one():
    log, _ = searched([[0, 0, 0], [1, 1, 2], [2, 0, 0]])
    columns = [[beam.text.strip() for beam in row] for row in generations(log)]
    assert columns == [["0a", "0b", "0c"], ["1b", "1a", "1c"], ["2c", "2b", "2a"]]


def test_the_picture_tells_who_lives_from_who_was_given_up():
    log, _ = searched([[0, 0], [1, 1], [0, 1]])
    picture = genealogy(log)
    words = re.findall(r"<text[^>]*>([^<]*)</text>", picture.svg)
    assert words == ["prompt", "0a", "0b", "1b", "1a", "2b", "2a"]
    assert picture.alt.startswith(
        "Family tree of the beams, a row for each token. token 1: 0a (given up), 0b; token 2: "
    )
    assert picture.svg.count("given up") == 1  # in its text for those who do not see it
    dark, grey = (re.findall(rf"<text[^>]*{colour}[^>]*>", picture.svg) for colour in (INK, MUTED))
    assert (len(dark), len(grey)) == (5, 2)


def test_only_the_first_tokens_are_drawn_when_asked_for():
    log, _ = searched([[0, 0], [1, 1], [0, 1]])
    assert "token 2" not in genealogy(log, num_tokens=1).alt
    with pytest.raises(BadInput, match="num_tokens is 0"):
        genealogy(log, num_tokens=0)


def test_a_log_without_beams_is_refused_with_what_to_do():
    with pytest.raises(BadEvents, match="record a beam search"):
        genealogy(EventLog())
