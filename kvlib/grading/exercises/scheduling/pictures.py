"""The pictures of the lab on the scheduler: a queue, two ways back, and how many requests run at once."""

from collections.abc import Mapping, Sequence
from itertools import accumulate

from kvlib.grading.exercises.scheduling.batched import Batched
from kvlib.show.figures import DECODE, GRID, INK, MUTED, PREFILL, Picture, Rectangle, canvas, figure, show
from kvlib.show.table import Table

WIDTH = 360  # pixels
GAP = 12  # pixels between two requests


def queue(waiting: Sequence[int], num_free: int, block_size: int) -> Picture:
    """The requests of `waiting`, in tokens, behind each other in blocks; a line where the free blocks end."""
    blocks = [-(-tokens // block_size) for tokens in waiting]
    cell, top = (WIDTH - GAP * len(waiting)) / max(num_free, sum(blocks)), 34
    gaps = sum(total <= num_free for total in accumulate(blocks))
    line = num_free * cell + GAP * gaps - (GAP / 2 if num_free == sum(blocks[:gaps]) else 0)
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
            x += count * cell + GAP
        ax.plot((line, line), (top - 12, top + 28), color=INK, lw=1.5)
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
        ax.annotate("swap", (0, heights[0]), (14, 0), textcoords="offset points", color=INK, va="center")
        ax.annotate(
            f"recompute: {recompute_ms:.0f}",
            (len(sizes) - 1, recompute_ms),
            (0, 5),
            textcoords="offset points",
            color=PREFILL,
            ha="right",
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
    with figure(WIDTH, 80 + 140 * len(panels)) as fig:
        fig.set_layout_engine("constrained", h_pad=8 / 72)
        for ax, (title, rows) in zip(fig.subplots(len(panels), squeeze=False)[:, 0], panels.items()):
            for place, row in enumerate(rows):
                reach = row.quoted * row.allowed / 100
                [bar] = ax.plot((row.quoted - reach, row.quoted + reach), (place, place), color=GRID, lw=9)
                [ring] = ax.plot(row.quoted, place, "o", ms=10, mfc="none", mec=INK)
                [dot] = ax.plot(row.found, place, "o", ms=5, color=DECODE)
                ax.annotate(
                    f"{row.found:.1f}",
                    (max(row.found, row.quoted + reach), place),
                    (12, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=10,
                )
            ax.set_yticks(range(len(rows)), [row.system for row in rows])
            ax.set(ylim=(len(rows) - 0.5, -0.5), xlim=(0, 1.3 * max(max(row.quoted, row.found) for row in rows)))
            ax.grid(axis="x")
            ax.set_title(title)
        ax.set_xlabel("requests batched on average")
        fig.legend([ring, dot, bar], ["paper", "here", "allowed"], loc="outside upper left", ncols=3)
    said = "; ".join(
        f"{row.system} {row.quoted:g} in the paper, {row.found:.1f} here" for rows in panels.values() for row in rows
    )
    return show(fig, alt=f"Requests batched on average: {said}.")


def verdicts(panels: Mapping[str, Sequence[Batched]]) -> Table:
    """The same in numbers, with what is allowed and whether ours is inside. Rows begin as titles do, up to a colon."""
    lines = []
    for title, rows in panels.items():
        for row in rows:
            numbers = [f"{each:.2f}" for each in (row.quoted, row.found, row.book)]
            name = f"{title.partition(':')[0]} {row.system}"
            lines.append([name, *numbers, f"{round(row.apart, 1) + 0.0:+.1f} %", f"{row.allowed:g} %", row.verdict])
    return Table(["", "paper", "here", "book", "apart", "allowed", "verdict"], lines)
