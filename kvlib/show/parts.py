"""The parts of kvlib in the order in which they may import each other, with an arrow for each import."""

from collections.abc import Collection, Mapping

from kvlib.errors import BadInput
from kvlib.show.figures import INK, MUTED, Axes, Picture, canvas, figure, show
from kvlib.show.imports import RANK, is_package

WIDTH, ROW, TOP = 360, 21, 12
NAMES, NEAREST, WIDEST = 92, 14, 250  # pixels: where arrows begin, and how far they go to the right of it


def parts(imported: Mapping[str, Collection[str]]) -> Picture:
    """A line for each part of `imported`, the last one on top, and an arrow from it down to each part that it imports.

    A filled mark is a package, a hollow one a module; an arrow from package to package is the stronger. The picture's
    text says the same. Raises BadInput, naming both, for an import that would go up.
    """
    names = list(imported)
    rows = {name: len(names) - 1 - place for place, name in enumerate(names)}
    height = 2 * TOP + ROW * (len(names) - 1)
    with figure(WIDTH, height) as fig:
        ax = canvas(fig, WIDTH, height)
        for name, others in imported.items():
            y = TOP + ROW * rows[name]
            ax.text(NAMES - 9, y, name, color=INK, fontsize=11, ha="right", va="center")
            ax.plot(NAMES, y, "o", color=INK, markersize=6, markerfacecolor=INK if is_package(name) else "none")
            for other in others:
                if rows[other] <= rows[name]:
                    raise BadInput(f"{name} imports {other}, which does not stand below it; let imports run one way")
                _arrow(ax, y, TOP + ROW * rows[other], strong=is_package(name) and is_package(other))
    return show(fig, alt=_in_words(imported))


def _arrow(ax: Axes, y: float, below: float, strong: bool) -> None:
    length = below - y
    reach = NEAREST + (WIDEST - NEAREST) * (length / ROW / len(RANK)) ** 0.75
    curve = {
        "arrowstyle": "-|>,head_length=0.38,head_width=0.16",
        "connectionstyle": f"arc3,rad={-2 * reach / length:.4f}",
        "mutation_scale": 11,
        "color": INK if strong else MUTED,
        "linewidth": 1.5 if strong else 0.8,
        "shrinkA": 0,
        "shrinkB": 0,
    }
    ax.annotate("", xy=(NAMES + 5, below), xytext=(NAMES + 5, y), arrowprops=curve)


def _in_words(imported: Mapping[str, Collection[str]]) -> str:
    lines = [f"{name} to {', '.join(sorted(others))}" for name, others in reversed(list(imported.items())) if others]
    return (
        f"The parts from {list(imported)[-1]} on top down to {next(iter(imported))}, arrows down: {'; '.join(lines)}."
    )
