"""The pictures of the lab on the scheduler: a queue, two ways back, and how many requests run at once."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kvlib.show.figures import DECODE, GRID, INK, MUTED, PREFILL, Picture, Rectangle, canvas, figure, show
from kvlib.show.table import Table

WIDTH = 360  # pixels


class Batched(NamedTuple):
    """Requests batched on average under one system: the paper's number, the one found here, that of the book's longer
    run, and how far from the paper's is still near, in per cent of it."""

    system: str
    quoted: float
    found: float
    book: float
    allowed: float

    @property
    def apart(self) -> float:
        """How far ours is from the paper's, in per cent of it."""
        return 100 * (self.found / self.quoted - 1)

    @property
    def verdict(self) -> str:
        """ "inside", or that it is not."""
        return "inside" if abs(self.apart) <= self.allowed else "NOT reproduced"


def queue(waiting: Sequence[int], num_free: int, block_size: int) -> Picture:
    """The requests of `waiting`, in tokens, behind each other in blocks; a line where the free blocks end."""
    blocks = [-(-tokens // block_size) for tokens in waiting]
    cell, top = (WIDTH - 2) / max(num_free, sum(blocks)), 34
    with figure(WIDTH, 104) as fig:
        ax = canvas(fig, WIDTH, 104, margin=1)
        ax.text(0, 9, "the first in the queue is on the left", color=MUTED, va="center", fontsize=10)
        x = 0.0
        for tokens, count in zip(waiting, blocks):
            for place in range(count):
                filled = min(block_size, tokens - place * block_size) / block_size
                corner = (x + place * cell + 1, top)
                ax.add_patch(Rectangle(corner, (cell - 2) * filled, 26, facecolor=PREFILL, edgecolor="none"))
                ax.add_patch(Rectangle(corner, cell - 2, 26, facecolor="none", edgecolor=MUTED))
            ax.text(x + count * cell / 2, top + 38, f"{tokens}", va="center", ha="center", fontsize=10)
            x += count * cell
        ax.plot((num_free * cell, num_free * cell), (top - 12, top + 28), color=INK, lw=1.5)
        words = f"{num_free} blocks of {block_size} are free, up to the line; below, tokens"
        ax.text(0, 95, words, color=MUTED, va="center", fontsize=10)
    wanted = ", ".join(f"{tokens} tokens in {count}" for tokens, count in zip(waiting, blocks))
    return show(fig, alt=f"A queue in blocks of {block_size}: {wanted}; {num_free} blocks are free.")


def two_ways(swap_ms: Mapping[int, float], recompute_ms: float, title: str) -> Picture:
    """Milliseconds of swapping by tokens a block, beside those of recomputing, which no block changes."""
    sizes, heights = list(swap_ms), list(swap_ms.values())
    with figure(WIDTH, 230) as fig:
        ax = fig.subplots()
        ax.plot(range(len(sizes)), heights, "o-", color=INK)
        ax.axhline(recompute_ms, color=PREFILL)
        ax.text(len(sizes) - 1, max(heights) * 0.8, "swap", color=INK, ha="right", va="top")
        ax.text(
            len(sizes) - 1, max(heights) * 0.62, f"recompute: {recompute_ms:.0f}", color=PREFILL, ha="right", va="top"
        )
        ax.set_yscale("log")
        ax.set_yticks(ticks := [20, 50, 100, 200], [str(tick) for tick in ticks])
        ax.yaxis.minorticks_off()
        ax.set_xticks(range(len(sizes)), [str(size) for size in sizes])
        ax.set_xlabel("tokens a block")
        ax.set_title(title)
    said = ", ".join(f"{ms:.0f} with {size}" for size, ms in swap_ms.items())
    return show(fig, alt=f"{title}. Swapping takes {said} tokens a block; recomputing {recompute_ms:.0f}.")


def figure_13(panels: Mapping[str, Sequence[Batched]]) -> Picture:
    """A panel for each workload: a ring for each number of the paper, its tolerance, and a dot for ours."""
    with figure(WIDTH, 60 + 130 * len(panels)) as fig:
        for ax, (title, rows) in zip(fig.subplots(len(panels), squeeze=False)[:, 0], panels.items()):
            for place, row in enumerate(rows):
                reach = row.quoted * row.allowed / 100
                ax.plot((row.quoted - reach, row.quoted + reach), (place, place), color=GRID, lw=9)
                ax.plot(row.quoted, place, "o", ms=10, mfc="none", mec=INK)
                ax.plot(row.found, place, "o", ms=5, color=DECODE)
                ax.annotate(
                    f"{row.found:.1f}",
                    (row.found, place),
                    (13, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=10,
                )
            ax.set_yticks(range(len(rows)), [row.system for row in rows])
            ax.set(ylim=(len(rows) - 0.5, -0.5), xlim=(0, 1.25 * max(max(row.quoted, row.found) for row in rows)))
            ax.grid(axis="x")
            ax.set_title(title)
    said = "; ".join(
        f"{row.system} {row.quoted:g} in the paper, {row.found:.1f} here" for rows in panels.values() for row in rows
    )
    return show(fig, alt=f"Requests batched on average: {said}.")


def verdicts(panels: Mapping[str, Sequence[Batched]]) -> Table:
    """The same in numbers, with what is allowed and whether ours is inside."""
    lines = []
    for title, rows in panels.items():
        for row in rows:
            numbers = [f"{each:.2f}" for each in (row.quoted, row.found, row.book)]
            apart = f"{round(row.apart):+d} %"
            lines.append([f"{row.system}, {title}", *numbers, apart, f"{row.allowed:g} %", row.verdict])
    return Table(["", "paper", "here", "book", "here, apart", "allowed", "here"], lines)
