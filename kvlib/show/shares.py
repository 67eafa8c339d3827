"""What slots are used for, drawn in one look a kind wherever the book draws it.

The kinds are those of `kvlib.memory.contiguous.Split`. A colour says whose a slot is, its look what it is used for:

- stored, it holds a token: filled
- reserved, it will hold one: dots
- internal, it never will: strokes
- external, it is in no reservation: grey
- free: empty
- reserved or internal, where a source does not part the two: dots and strokes
"""

from collections.abc import Mapping
from typing import Any

from kvlib.errors import BadInput
from kvlib.show.figures import GRID, INK, MUTED, PAPER, Axes, Picture, Rectangle, canvas, figure, show

LOOKS: dict[str, dict[str, Any]] = {
    "stored": {"facecolor": INK, "edgecolor": INK},
    "reserved": {"facecolor": PAPER, "edgecolor": INK, "hatch": ".."},
    "internal": {"facecolor": PAPER, "edgecolor": INK, "hatch": "///"},
    "external": {"facecolor": GRID, "edgecolor": MUTED},
    "free": {"facecolor": PAPER, "edgecolor": MUTED},
    "reserved or internal": {"facecolor": PAPER, "edgecolor": INK, "hatch": "..///"},
}

WIDTH, ROW, HEIGHT = 360, 42, 20  # pixels: of a bar that is whole, from one bar to the next, of a bar


def bars(
    title: str, rows: Mapping[str, Mapping[str, float]], *, digits: int = 0, notes: Mapping[str, str] | None = None
) -> Picture:
    """One bar for each of `rows`, a name -> the size of each kind in it; sizes are in one unit, which `title` names.

    The longest bar is as wide as the figure. A size is written into its piece, with `digits` decimals, where there is
    room; what has none can be said in the row's note, at the right above its bar. The text for those who do not see
    the bars has all sizes. Raises BadInput for a kind that is not in LOOKS, a size below 0, and where nothing is left.
    """
    drawn = {name: _pieces(name, sizes) for name, sizes in rows.items()}
    longest = max((sum(pieces.values()) for pieces in drawn.values()), default=0)
    if not longest:
        raise BadInput("there is nothing to draw; give a row with a size above 0")
    legend = [kind for kind in LOOKS if any(kind in pieces for pieces in drawn.values())]
    places = _legend_places(legend)
    top = max(y for _, y in places) + 24
    height = top + ROW * len(drawn)
    with figure(WIDTH, height) as fig:
        ax = canvas(fig, WIDTH, height, margin=1)
        ax.text(0, 11, title, color=MUTED, va="center")
        for kind, (x, y) in zip(legend, places, strict=True):
            box(ax, x, y, 14, 12, kind)
            ax.text(x + 20, y + 6.5, kind, color=MUTED, va="center")
        for place, (name, pieces) in enumerate(drawn.items()):
            x, y = 0.0, top + ROW * place
            ax.text(0, y + 9, name, va="center")
            ax.text(WIDTH, y + 9, (notes or {}).get(name, ""), color=MUTED, va="center", ha="right")
            for kind, size in pieces.items():
                width = WIDTH * size / longest
                box(ax, x, y + 18, width, HEIGHT, kind)
                _write(ax, x + width / 2, y + 18 + HEIGHT / 2, f"{size:.{digits}f}", width, kind)
                x += width
    said = "; ".join(
        f"{name}: " + ", ".join(f"{kind} {size:.{digits}f}" for kind, size in pieces.items())
        for name, pieces in drawn.items()
    )
    return show(fig, alt=f"{title}. {said}.")


def box(ax: Axes, x: float, y: float, width: float, height: float, kind: str) -> None:
    """A piece of a bar, in the look of its kind; `x` and `y` are its upper left corner on an axis that goes down."""
    ax.add_patch(Rectangle((x, y), width, height, linewidth=0.8, **_look(kind)))


def slot(ax: Axes, x: float, y: float, side: float, kind: str, colour: str = INK) -> None:
    """A single slot, a square of `side` pixels, in the look of its kind and the colour of its sequence."""
    look = _look(kind)
    owned = kind in ("stored", "reserved", "internal")
    face = colour if kind == "stored" else look["facecolor"]
    edge = colour if owned else look["edgecolor"]
    ax.add_patch(Rectangle((x, y), side, side, facecolor=face, edgecolor=edge))
    if kind == "reserved":
        ax.plot(x + side / 2, y + side / 2, ".", color=colour, ms=4)
    if kind == "internal":
        ax.plot((x, x + side), (y + side, y), color=colour, lw=1, solid_capstyle="butt")


def _look(kind: str) -> dict[str, Any]:
    if kind not in LOOKS:
        raise BadInput(f"kind is {kind!r}; choose one of {', '.join(LOOKS)}")
    return LOOKS[kind]


def _pieces(name: str, sizes: Mapping[str, float]) -> dict[str, float]:
    for kind, size in sizes.items():
        _look(kind)
        if not size >= 0:
            raise BadInput(f"{kind} of {name!r} is {size!r}; give a size of 0 or more")
    return {kind: size for kind, size in sizes.items() if size}


def _legend_places(kinds: list[str]) -> list[tuple[float, int]]:
    """Where the box of each kind stands: from left to right, in as many lines as their words need."""
    places, x, y = [], 0.0, 26
    for kind in kinds:
        width = 20 + 7.2 * len(kind)
        if x + width > WIDTH:
            x, y = 0.0, y + 20
        places.append((x, y))
        x += width + 12
    return places


def _write(ax: Axes, x: float, y: float, number: str, width: float, kind: str) -> None:
    if width < 7 * len(number) + 2:
        return
    face = LOOKS[kind]["facecolor"]
    paper = {"facecolor": face, "edgecolor": "none", "pad": 1.5}
    ax.text(x, y, number, color=PAPER if face == INK else INK, ha="center", va="center", bbox=paper)
