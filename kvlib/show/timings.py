"""How long the rows of `kvlib bench gpu` took, GPU by GPU: a bar for what was measured, words for what was not."""

from collections.abc import Mapping, Sequence
from typing import Any

from kvlib.errors import BadInput
from kvlib.show.figures import GRID, INK, MUTED, Axes, Picture, Rectangle, canvas, figure, show

WIDTH, HEAD, ROW, BAR = 360, 26, 40, 14  # pixels
NOT_MEASURED = "not measured"
Record = Mapping[str, Any]


def timings(records: Sequence[Record], rows: Mapping[str, str]) -> Picture:
    """Median microseconds of the rows with these ids, under what each is called.

    records: measurement files as `kvlib.bench.gpu.schema` has them, a part of the picture for each. A row whose result
    was wrong has no time. Raises BadInput without records or rows.
    """
    if not records:
        raise BadInput("records is empty, so that nothing is measured; give at least one, or say so in words")
    if not rows:
        raise BadInput("rows is empty; give ids of rows, each under what it is called")
    parts = [_part(record, rows) for record in records]
    height = len(parts) * (HEAD + ROW * len(rows)) + 4
    with figure(WIDTH, height) as fig:
        ax = canvas(fig, WIDTH, height)
        y = 0
        for device, times in parts:
            ax.text(0, y + 13, device, va="center", weight="bold")
            y += HEAD
            longest = max((time for time in times.values() if time is not None), default=0.0)
            for name, time in times.items():
                _bar(ax, y, name, time, longest)
                y += ROW
    said = "; ".join(
        f"{device}: {', '.join(f'{name} {_words(time)}' for name, time in times.items())}" for device, times in parts
    )
    return show(fig, alt=f"Median time of a call. {said}.")


def _part(record: Record, rows: Mapping[str, str]) -> tuple[str, dict[str, float | None]]:
    found = {row["id"]: row["us_p50"] for row in record["rows"] if row["status"] == "ok"}
    return f"{record['gpu']['name']}, {record['date']}", {name: found.get(id) for name, id in rows.items()}


def _words(time: float | None) -> str:
    return NOT_MEASURED if time is None else f"{time:,.0f} µs" if time >= 100 else f"{time:.3g} µs"


def _bar(ax: Axes, y: float, name: str, time: float | None, longest: float) -> None:
    ax.text(0, y + 9, name, va="center")
    ax.text(WIDTH, y + 9, _words(time), va="center", ha="right", color=MUTED if time is None else INK)
    filled = 0 if time is None else WIDTH * time / longest
    for width, colour in ((WIDTH, GRID), (filled, INK)):
        if width and time is not None:
            ax.add_patch(Rectangle((0, y + 19), width, BAR, facecolor=colour, edgecolor="none"))
    if time is None:
        ax.add_patch(Rectangle((0.5, y + 19.5), WIDTH - 1, BAR - 1, facecolor="none", edgecolor=MUTED))
