import re

import pytest

from kvlib.errors import BadInput
from kvlib.show.boxes import boxes


def test_each_letter_is_a_box_and_a_blank_is_none():
    picture = boxes({"pass 1": "pp.", "pass 2": "kk d"}, alt="Two passes, the second of one token.")
    assert picture.alt == "Two passes, the second of one token."
    fills = {"--kv-prefill": 2, "--kv-muted": 2, "--kv-decode": 1}
    for colour, count in fills.items():
        assert len(re.findall(rf"fill: var\({colour}, [^;]*; stroke", picture.svg)) == count
    assert len(re.findall(r"fill: none; stroke: var\(--kv-grid", picture.svg)) == 1
    assert re.findall(r">(pass \d)<", picture.svg) == ["pass 1", "pass 2"]


def test_letters_of_sequences_have_their_colours():
    picture = boxes({"token 0": "ABF"}, alt="Three colours in a row.")
    assert re.findall(r"fill: var\(--kv-seq-(\w)", picture.svg) == ["a", "b", "f"]


def test_many_boxes_stay_within_the_picture():
    picture = boxes({"slots": "p" * 90}, alt="Ninety slots in one row.")
    _, _, width, _ = map(float, re.search(r'viewBox="([^"]*)"', picture.svg)[1].split())
    drawn = re.findall(r'd="M (\S+) \S+\s+L (\S+) ', picture.svg)
    assert len(drawn) >= 90
    assert all(0 <= float(place) <= width for pair in drawn for place in pair)


@pytest.mark.parametrize("rows", [{}, {"pass 1": ""}, {"pass 1": "pqx"}, {"pass 1": "d", "pass 2": "P"}])
def test_rows_without_a_box_or_with_an_unknown_letter_are_refused(rows):
    with pytest.raises(BadInput, match="letters"):
        boxes(rows, alt="This is not drawn.")
