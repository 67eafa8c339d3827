"""Programs on the places of a device: how many waves they take, and how much of the last one is empty."""

from math import ceil

from kvlib.checks import whole
from kvlib.errors import BadInput
from kvlib.show.figures import DECODE, GRID, MUTED, Picture, Rectangle, canvas, figure, show

WIDTH, LEFT, ROW = 360, 60, 22


def waves(num_programs: int, num_places: int) -> Picture:
    """A row for each wave, a box for each place: full where a program runs, hollow where there is none left."""
    whole("num_programs", num_programs, error=BadInput)
    whole("num_places", num_places, error=BadInput)
    num_waves = ceil(num_programs / num_places)
    side = (WIDTH - LEFT) / num_places
    height = 6 + ROW * num_waves
    with figure(WIDTH, height) as fig:
        ax = canvas(fig, WIDTH, height)
        for wave in range(num_waves):
            y = 4 + ROW * wave
            ax.text(0, y + 8, f"wave {wave + 1}", color=MUTED, fontsize=11, va="center")
            for place in range(num_places):
                runs = wave * num_places + place < num_programs
                face, edge = (DECODE, DECODE) if runs else ("none", GRID)
                ax.add_patch(Rectangle((LEFT + side * place + 1, y), side - 2, 16, facecolor=face, edgecolor=edge))
    busy = 100 * num_programs / (num_waves * num_places)
    return show(
        fig,
        alt=f"{num_programs} programs on {num_places} places take {num_waves} waves; {busy:.0f} % of the places are "
        "at work.",
    )
