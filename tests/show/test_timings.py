"""Times of a GPU are drawn as they were measured; what was not is said in words."""

import re

import pytest

from kvlib.errors import BadInput
from kvlib.show.figures import INK
from kvlib.show.timings import timings

ROWS = {"in order": "a/1", "shuffled": "a/2"}


def record(name, **times):
    rows = [{"id": id, "us_p50": time, "status": status} for id, (time, status) in times.items()]
    return {"gpu": {"name": name}, "date": "2026-11-30", "rows": rows}


def widths(picture):
    """Of the full bars, in the order of the picture."""
    paths = re.findall(rf'<path d="([^"]*)"[^>]*style="fill: [^;"]*{INK}', picture.svg)
    return [max(xs) - min(xs) for xs in ([float(x) for x in re.findall(r"[ML] ([\d.]+)", path)] for path in paths)]


def test_bars_are_as_long_as_the_times_of_their_own_gpu():
    one = record("H200", **{"a/1": (200.0, "ok"), "a/2": (300.0, "ok")})
    other = record("T4", **{"a/1": (3000.0, "ok"), "a/2": (1500.0, "ok")})
    picture = timings([one, other], ROWS)
    first, second, third, fourth = widths(picture)
    assert first / second == pytest.approx(200 / 300, rel=1e-3)
    assert fourth / third == pytest.approx(1500 / 3000, rel=1e-3)
    assert second == pytest.approx(third)
    assert "H200, 2026-11-30: in order 200 µs, shuffled 300 µs; T4, 2026-11-30: in order 3,000 µs" in picture.alt


@pytest.mark.parametrize(
    "row", [{}, {"a/1": (None, "skipped")}, {"a/1": (100.0, "wrong")}], ids=["absent", "skipped", "wrong"]
)
def test_a_row_without_a_right_result_is_not_measured(row):
    picture = timings([record("H200", **row, **{"a/2": (5.25, "ok")})], ROWS)
    assert "in order not measured, shuffled 5.25 µs" in picture.alt
    assert len(widths(picture)) == 1


@pytest.mark.parametrize(("records", "rows", "says"), [([], ROWS, "at least one"), ([record("T4")], {}, "ids of rows")])
def test_without_records_or_rows_there_is_nothing_to_draw(records, rows, says):
    with pytest.raises(BadInput, match=says):
        timings(records, rows)
