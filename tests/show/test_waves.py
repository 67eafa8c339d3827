import re

import pytest

from kvlib.errors import BadInput
from kvlib.show.waves import waves


def test_each_place_of_each_wave_is_drawn_and_said():
    picture = waves(24, 10)
    assert picture.alt == "24 programs on 10 places take 3 waves; 80 % of the places are at work."
    assert len(re.findall("fill: var\\(--kv-decode", picture.svg)) == 24
    assert len(re.findall("fill: none; stroke: var\\(--kv-grid", picture.svg)) == 6
    assert re.findall(r">(wave \d)<", picture.svg) == ["wave 1", "wave 2", "wave 3"]


def test_full_waves_leave_no_place_idle():
    assert waves(20, 10).alt == "20 programs on 10 places take 2 waves; 100 % of the places are at work."


@pytest.mark.parametrize("sizes", [(0, 10), (10, 0), (2.5, 10)])
def test_there_is_a_program_and_a_place(sizes):
    with pytest.raises(BadInput, match="give a whole number"):
        waves(*sizes)
