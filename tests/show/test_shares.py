import re
from itertools import pairwise

import pytest
from matplotlib.colors import to_hex

from kvlib.errors import BadInput
from kvlib.memory.contiguous import ContiguousManager, Pow2, Split
from kvlib.show.figures import INK, figure, sequence_colour
from kvlib.show.shares import HEIGHT, LOOKS, bars, slot


def words(picture):
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture.svg)


def test_every_kind_of_a_split_has_a_look():
    assert set(Split._fields) <= set(LOOKS)


def test_no_two_kinds_look_alike():
    assert len({tuple(sorted(look.items())) for look in LOOKS.values()}) == len(LOOKS)


def test_a_split_is_drawn_with_its_sizes_and_said_in_the_text():
    manager = ContiguousManager(32, Pow2(32))
    manager.admit("A", 6, 5)
    picture = bars("Slots of one chunk", {"Pow2": manager.split_of("A")._asdict()})
    assert words(picture)[0] == "Slots of one chunk"
    assert words(picture)[1:5] == ["stored", "reserved", "internal", "external"]
    assert words(picture)[5:] == ["Pow2", "6", "5", "3", "2"]
    assert picture.alt == "Slots of one chunk. Pow2: stored 6, reserved 5, internal 3, external 2."


def test_a_kind_that_no_row_has_is_left_out():
    picture = bars("Shares in %", {"full": {"stored": 100, "external": 0}})
    assert "external" not in words(picture)
    assert picture.alt == "Shares in %. full: stored 100."


def test_the_words_of_a_long_legend_do_not_lie_on_each_other():
    picture = bars("Shares in %", {"all": dict.fromkeys(LOOKS, 10)})
    lines = {}
    for x, y, word in re.findall(r'<text[^>]* x="(\S+)" y="(\S+)"[^>]*>([^<]*)</text>', picture.svg):
        if word in LOOKS:
            lines.setdefault(y, []).append((float(x), word))
    assert sum(map(len, lines.values())) == len(LOOKS)
    for line in lines.values():
        for (left, word), (right, _) in pairwise(line):
            assert left + 6.5 * len(word) < right


def test_a_piece_too_narrow_for_its_number_has_it_in_the_text_and_the_note_alone():
    rows = {"paged": {"stored": 96.25, "external": 3.75}}
    picture = bars("Shares in %", rows, digits=1, notes={"paged": "3.8 external"})
    assert words(picture)[3:] == ["paged", "3.8 external", "96.2"]
    assert picture.alt.endswith("external 3.8.")


def extents(picture):
    """(width, height) of every path, in pixels."""
    for path in re.findall(r'<path[^>]* d="([^"]*)"', picture.svg):
        points = [tuple(map(float, point)) for point in re.findall(r"[ML] (\S+) (\S+)", path)]
        xs, ys = zip(*points, strict=True)
        yield max(xs) - min(xs), max(ys) - min(ys)


def test_bars_are_as_long_as_their_sizes_say():
    picture = bars("Slots of two rows", {"long": {"stored": 40}, "short": {"stored": 10}})
    long, short = [width for width, height in extents(picture) if abs(height - HEIGHT) < 0.2]
    assert long == pytest.approx(4 * short, rel=0.01)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({}, "nothing to draw"),
        ({"empty": {"stored": 0}}, "nothing to draw"),
        ({"a": {"lost": 1}}, "'lost'.*stored, reserved"),
        ({"a": {"stored": -1}}, "stored of 'a' is -1"),
        ({"a": {"stored": float("nan")}}, "stored of 'a' is nan"),
    ],
)
def test_what_cannot_be_drawn_is_refused(rows, said):
    with pytest.raises(BadInput, match=said):
        bars("Slots of a row", rows)


@pytest.mark.parametrize(
    ("kind", "edges"),
    [("stored", 1), ("reserved", 2), ("internal", 2), ("external", 0), ("free", 0)],
)
def test_a_slot_in_a_reservation_has_the_colour_of_its_sequence(kind, edges):
    colour = sequence_colour(0)
    with figure(20, 20) as fig:
        ax = fig.subplots()
        slot(ax, 2, 2, 9, kind, colour)
        drawn = [patch.get_edgecolor() for patch in ax.patches] + [line.get_color() for line in ax.lines]
    assert [to_hex(shown) for shown in drawn].count(colour) == edges
    assert [to_hex(shown) for shown in drawn].count(INK) == 0
