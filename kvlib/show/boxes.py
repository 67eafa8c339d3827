"""Rows of boxes: tokens of a pass, slots of a cache, numbers that share a scale."""

from collections.abc import Mapping

from kvlib.errors import BadInput
from kvlib.show.figures import DECODE, GRID, MUTED, PREFILL, SEQUENCES, Picture, Rectangle, canvas, figure, show

WIDTH, ROW, WIDEST = 360, 20, 18

_FILLED = {"p": PREFILL, "d": DECODE, "k": MUTED, **dict(zip("ABCDEF", SEQUENCES, strict=True))}
_HOLLOW, _NOTHING = ".", " "


def boxes(rows: Mapping[str, str], *, alt: str) -> Picture:
    """A row for each name, a box for each letter of its text; `alt` says in a sentence what is seen.

    "p" is a box of prefill, "d" of decode, "k" one that is kept, "A" to "F" have the colours of the first six
    sequences, "." is hollow, " " is none. Raises BadInput where there is no box, or for another letter.
    """
    known = {*_FILLED, _HOLLOW, _NOTHING}
    unknown = sorted(set("".join(rows.values())) - known)
    longest = max(map(len, rows.values()), default=0)
    if unknown or not longest:
        raise BadInput(f"rows is {dict(rows)}; give each row letters out of {''.join(sorted(known))!r}")
    left = 8 + 7.5 * max(map(len, rows))
    side = min(WIDEST, (WIDTH - left) / longest)
    height = 6 + ROW * len(rows)
    with figure(WIDTH, height) as fig:
        ax = canvas(fig, WIDTH, height)
        for row, (name, letters) in enumerate(rows.items()):
            y = 4 + ROW * row
            ax.text(0, y + 7, name, color=MUTED, fontsize=11, va="center")
            for place, letter in enumerate(letters):
                if letter != _NOTHING:
                    face, edge = (_FILLED[letter],) * 2 if letter != _HOLLOW else ("none", GRID)
                    corner = (left + side * place + 1, y)
                    ax.add_patch(Rectangle(corner, side - 2, 14, facecolor=face, edgecolor=edge))
    return show(fig, alt=alt)
