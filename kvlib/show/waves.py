"""Programs on the places of a device: how many waves they take, and how much of the last one is empty."""

from collections.abc import Iterator
from math import ceil

from kvlib.checks import whole
from kvlib.errors import BadInput
from kvlib.show.figures import GRID, MUTED, Picture, Rectangle, canvas, figure, show

WIDTH, LEFT, ROW = 360, 60, 22
MOST_WAVES = 10  # that are drawn; of more, the first and the last
MOST_PLACES = 60  # that have boxes of their own


def waves(num_programs: int, num_places: int) -> Picture:
    """A row for each wave, a box for each place: full where a program runs, hollow where there is none left.

    Of many waves those in the middle, which are full, are left out; many places are two long boxes.
    """
    whole("num_programs", num_programs, error=BadInput)
    whole("num_places", num_places, error=BadInput)
    num_waves = ceil(num_programs / num_places)
    rows = _rows(num_waves)
    side = (WIDTH - LEFT) / num_places
    height = 6 + ROW * len(rows)
    with figure(WIDTH, height) as fig:
        ax = canvas(fig, WIDTH, height)
        for row, wave in enumerate(rows):
            y = 4 + ROW * row
            if wave is None:
                left_out = f"{num_waves - len(rows) + 1} more, all full"
                ax.text(LEFT, y + 8, left_out, color=MUTED, fontsize=11, va="center")
                continue
            ax.text(0, y + 8, f"wave {wave + 1}", color=MUTED, fontsize=11, va="center")
            for first, past, runs in _boxes(min(num_places, num_programs - wave * num_places), num_places):
                face, edge = (MUTED, MUTED) if runs else ("none", GRID)
                left, width = LEFT + side * first + 1, side * (past - first) - 2
                ax.add_patch(Rectangle((left, y), width, 16, facecolor=face, edgecolor=edge))
    busy = 100 * num_programs / (num_waves * num_places)
    taken = f"{_count(num_programs, 'program')} on {_count(num_places, 'place')}: {_count(num_waves, 'wave')}"
    return show(fig, alt=f"{taken}; {busy:.0f} % of the places are at work.")


def _rows(num_waves: int) -> list[int | None]:
    """The waves that are drawn, from 0; None stands for those that are left out."""
    if num_waves <= MOST_WAVES:
        return list(range(num_waves))
    return [*range(MOST_WAVES - 2), None, num_waves - 1]


def _boxes(num_running: int, num_places: int) -> Iterator[tuple[int, int, bool]]:
    """First place, the place past the last, and whether programs run there."""
    if num_places <= MOST_PLACES:
        yield from ((place, place + 1, place < num_running) for place in range(num_places))
        return
    yield 0, num_running, True
    if num_running < num_places:
        yield num_running, num_places, False


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
