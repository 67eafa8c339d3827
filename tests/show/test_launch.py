"""The picture of a launch has a box for each program of the grid, filled as far as it has tokens to read."""

import re

import pytest

from kvlib.errors import BadInput
from kvlib.show.figures import MUTED, sequence_colour
from kvlib.show.launch import launch


def boxes(picture, face, edge):
    return len(re.findall(rf"<path[^>]*fill: {face};[^>]*stroke: [^;]*{edge}", picture.svg))


def test_each_program_of_the_grid_has_a_box():
    picture = launch([8, 5, 0], num_kv_heads=2, num_splits=2, split_len=4)
    outlines = boxes(picture, "none", MUTED) + sum(boxes(picture, "none", sequence_colour(place)) for place in range(3))
    assert outlines == 2 * 3 * 2
    assert boxes(picture, "none", MUTED) == 4  # the third text has no token
    assert "12 programs: 2 KV heads, 3 texts, 2 splits of 4 tokens; 8 have tokens to read." in picture.alt


def test_a_program_at_the_end_of_a_text_is_filled_by_its_share_of_tokens():
    picture = launch([5], num_kv_heads=1, num_splits=2, split_len=4)
    paths = re.findall(rf'<path d="([^"]*)"[^>]*style="fill: [^;"]*{sequence_colour(0)}', picture.svg)
    whole, quarter = (
        max(xs) - min(xs) for xs in ([float(x) for x in re.findall(r"[ML] ([\d.]+)", path)] for path in paths)
    )
    assert quarter / whole == pytest.approx(1 / 4, rel=1e-3)


@pytest.mark.parametrize(
    ("lengths", "sizes"),
    [([], (1, 1, 1)), ([5], (1, 1, 4)), ([-1], (1, 1, 4)), ([1], (0, 1, 1)), ([1], (1, 0, 1)), ([1], (1, 1, True))],
)
def test_what_is_no_launch_is_refused(lengths, sizes):
    with pytest.raises(BadInput):
        launch(lengths, *sizes)
