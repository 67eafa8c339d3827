import re

import pytest

from kvlib.errors import BadInput
from kvlib.show.waves import waves


def test_each_place_of_each_wave_is_drawn_and_said():
    picture = waves(24, 10)
    assert picture.alt == "24 programs on 10 places: 3 waves; 80 % of the places are at work."
    assert len(re.findall("fill: var\\(--kv-muted, [^;]*; stroke", picture.svg)) == 24
    assert len(re.findall("fill: none; stroke: var\\(--kv-grid", picture.svg)) == 6
    assert re.findall(r">(wave \d)<", picture.svg) == ["wave 1", "wave 2", "wave 3"]


def test_full_waves_leave_no_place_idle():
    assert waves(20, 10).alt == "20 programs on 10 places: 2 waves; 100 % of the places are at work."


def test_nothing_that_follows_from_two_numbers_is_blue_like_a_measurement():
    assert "--kv-decode" not in waves(24, 10).svg


def test_one_of_a_thing_is_said_as_one():
    assert waves(1, 1).alt == "1 program on 1 place: 1 wave; 100 % of the places are at work."


@pytest.mark.parametrize(
    ("programs", "names"),
    [
        (100, [f"wave {wave}" for wave in range(1, 11)]),
        (1000, [*(f"wave {wave}" for wave in range(1, 9)), "91 more, all full", "wave 100"]),
    ],
)
def test_of_many_waves_those_in_the_middle_are_counted(programs, names):
    picture = waves(programs, 10)
    assert re.findall(r">([^<>]*\bwave \d+|\d+ more[^<>]*)<", picture.svg) == names
    assert float(re.search(r'viewBox="0 0 \S+ (\S+)"', picture.svg)[1]) < 300


def test_many_places_are_two_boxes_for_each_wave():
    svg = waves(1000, 660).svg
    assert len(re.findall(r"fill: var\(--kv-muted, [^;]*; stroke", svg)) == 2
    assert len(re.findall("fill: none; stroke: var\\(--kv-grid", svg)) == 1


@pytest.mark.parametrize("sizes", [(0, 10), (10, 0), (2.5, 10)])
def test_there_is_a_program_and_a_place(sizes):
    with pytest.raises(BadInput, match="give a whole number"):
        waves(*sizes)
