import re
from itertools import pairwise

import pytest

from kvlib.show.roofline import Dot, Measured, Roof, rates, say_bytes, say_time, shares, times

ROOFS = [Roof("T4", 320), Roof("L4", 300), Roof("A100", 1555)]
MADE_UP = [
    Measured("made up", [Dot(2**30, 800, 92.0), Dot(2**24, 20, 56.0)], copy_gbps=1300),
    Measured("here", [Dot(2**27, 100, None)], here=True),
]


def words(picture):
    """Each text with its place from the left and from the top."""
    return re.findall(r'<text [^>]*x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>', picture.svg)


def full_lines(picture):
    """Blue lines from one end to the other, which copies have."""
    return len(re.findall(r'<path d="M \S+ \S+\s+L \S+ \S+\s+"[^>]*stroke: var\(--kv-decode', picture.svg))


def test_without_a_measurement_the_text_says_so_and_names_the_data_sheets():
    assert times(ROOFS, [], 2**30).alt == (
        "Time against bytes read. Dashed lines, from data sheets: T4 320 GB/s, L4 300 GB/s, A100 1,555 GB/s. "
        "Nothing is measured."
    )


@pytest.mark.parametrize("draw", [times, rates])
def test_without_a_measurement_nothing_is_blue_and_every_line_is_dashed(draw):
    svg = draw(ROOFS, [], 2**30).svg
    assert "--kv-decode" not in svg
    assert svg.count("stroke-dasharray") == 3


@pytest.mark.parametrize("draw", [times, rates])
def test_a_measured_copy_is_a_full_line(draw):
    picture = draw(ROOFS, MADE_UP, 2**30)
    assert (full_lines(picture), picture.svg.count("stroke-dasharray")) == (1, 3)


def test_measured_dots_are_said_with_their_device():
    assert times(ROOFS, MADE_UP, 2**30).alt.endswith(
        "A100 1,555 GB/s. Full lines, measured copies: made up 1,300 GB/s. "
        "Measured on made up: 1.07 GB 800 µs, 16.8 MB 20 µs. Measured on here: 134 MB 100 µs."
    )
    assert rates(ROOFS, MADE_UP, 2**30).alt.endswith(
        "Measured on made up: 1.07 GB 1,342 GB/s, 16.8 MB 839 GB/s. Measured on here: 134 MB 1,342 GB/s."
    )


def test_a_share_that_is_not_known_is_left_out():
    assert shares(MADE_UP, 2**30).alt == (
        "Share of the copy's rate against bytes read. Measured on made up: 1.07 GB 92 %, 16.8 MB 56 %."
    )


def test_a_dot_at_the_rate_of_a_line_lies_on_it():
    """A time under the line would be faster than the device can read."""
    picture = times([Roof("one", 1000)], [Measured("made up", [Dot(10**9, 1000, None)])], 10**6)
    line = re.search(r'<path d="M (\S+) (\S+)\s+L (\S+) (\S+)\s+"[^>]*stroke-dasharray', picture.svg)
    x0, y0, x1, y1 = map(float, line.groups())
    dot = re.search(
        r'<use href="#[^"]*" x="(\S+)" y="(\S+)" style="fill-opacity: 0; stroke: var\(--kv-decode', picture.svg
    )
    x, y = map(float, dot.groups())
    assert y == pytest.approx(y0 + (x - x0) / (x1 - x0) * (y1 - y0), abs=0.1)


@pytest.mark.parametrize("draw", [times, rates])
def test_names_of_lines_do_not_touch(draw):
    named = {name: float(y) for _, y, name in words(draw(ROOFS, MADE_UP, 2**30))}
    heights = sorted(named[roof.name] for roof in ROOFS)
    assert all(low + 12 < high for low, high in pairwise(heights))


def test_a_copy_slower_than_the_picture_keeps_its_marker_inside_it():
    slow = [Measured("made up", [Dot(2**30, 1e5, 92.0)], copy_gbps=10)]
    heights = [float(y) for y in re.findall(r'<use href="#[^"]*" x="\S+" y="(\S+)"', times(ROOFS, slow, 2**30).svg)]
    assert min(heights) > 0


def test_names_of_lines_are_in_the_order_of_the_lines():
    named = {name: float(y) for _, y, name in words(times(ROOFS, [], 2**30))}
    assert named["L4"] < named["T4"] < named["A100"]


@pytest.mark.parametrize("num_bytes", [2**19, 2**20, 2**30, 17 * 10**9])
def test_the_bytes_of_the_step_stand_inside_the_picture(num_bytes):
    picture = times(ROOFS, [], num_bytes)
    width = float(re.search(r'viewBox="0 0 (\S+)', picture.svg)[1])
    [x] = [float(x) for x, _, text in words(picture) if text == say_bytes(num_bytes)]
    assert 40 < x < width - 20


@pytest.mark.parametrize(
    ("num_bytes", "text"),
    [(4, "4 B"), (999, "999 B"), (1000, "1 kB"), (65536, "65.5 kB"), (2**20, "1.05 MB"), (2**30, "1.07 GB")],
)
def test_bytes_in_words(num_bytes, text):
    assert say_bytes(num_bytes) == text


@pytest.mark.parametrize(
    ("us", "text"), [(0.1357, "0.136 µs"), (690.5, "690 µs"), (999.9, "1e+03 µs"), (3355.4, "3.36 ms")]
)
def test_times_in_words(us, text):
    assert say_time(us) == text
