"""The pictures of the lab *Set up and measure your machine*."""

from collections.abc import Mapping, Sequence
from statistics import mean, median

from kvlib.show.figures import DECODE, GRID, INK, MUTED, PAPER, PREFILL, Picture, Rectangle, canvas, figure, show

WIDTH = 360


def matrices(shapes: Mapping[str, tuple[int, int]]) -> Picture:
    """Every matrix, its name -> (rows, columns), as a box to scale, side by side and hanging from one line."""
    gap, top = 10, 36
    scale = (WIDTH - gap * (len(shapes) - 1)) / sum(columns for _, columns in shapes.values())
    height = top + scale * max(rows for rows, _ in shapes.values()) + 20
    with figure(WIDTH, round(height)) as fig:
        ax = canvas(fig, WIDTH, height, margin=1)
        x = 0.0
        for name, (rows, columns) in shapes.items():
            ax.add_patch(Rectangle((x, top), scale * columns, scale * rows, facecolor=GRID, edgecolor=INK))
            ax.text(x, top - 9, name, va="center", fontsize=10)
            ax.text(x, top + scale * rows + 9, f"{rows:,}", color=MUTED, va="center", fontsize=10)
            x += scale * columns + gap
        ax.text(0, 9, "drawn to scale, with the number of rows below", color=MUTED, va="center", fontsize=10)
    said = ", ".join(f"{name} {rows:,} x {columns:,}" for name, (rows, columns) in shapes.items())
    return show(fig, alt=f"Matrices to scale, rows x columns: {said}.")


def steps(weight_bytes: int, cache_bytes: int, batches: Sequence[int]) -> Picture:
    """What one step reads for batches of so many sequences, each with a cache of `cache_bytes`: a bar a batch."""
    row, left = 34, 26
    scale = (WIDTH - left) / (weight_bytes + cache_bytes * max(batches))
    height = 24 + row * len(batches)
    with figure(WIDTH, height) as fig:
        ax = canvas(fig, WIDTH, height, margin=1)
        ax.text(left, 9, "weights", color=MUTED, va="center")
        ax.text(WIDTH, 9, "a cache for each sequence", color=DECODE, va="center", ha="right")
        for place, num_seqs in enumerate(batches):
            y = 24 + row * place
            ax.text(0, y + 11, f"{num_seqs}", va="center")
            ax.add_patch(Rectangle((left, y), scale * weight_bytes, 22, facecolor=MUTED, edgecolor=PAPER))
            for seq in range(num_seqs):
                x = left + scale * (weight_bytes + seq * cache_bytes)
                ax.add_patch(Rectangle((x, y), scale * cache_bytes, 22, facecolor=DECODE, edgecolor=PAPER))
    said = ", ".join(f"{num_seqs}: {(weight_bytes + num_seqs * cache_bytes) / 1e6:,.0f} MB" for num_seqs in batches)
    return show(fig, alt=f"Bytes that a step reads, by the number of sequences: {said}.")


def stopwatch(seconds: Sequence[float]) -> Picture:
    """Runs one after another; the clock is read at both ends of each but the first, which warms up."""
    scale, gap, top, height = (WIDTH - 6 * (len(seconds) - 1)) / sum(seconds), 6, 30, 84
    with figure(WIDTH, height) as fig:
        ax = canvas(fig, WIDTH, height, margin=2)
        x = 0.0
        for run, lasting in enumerate(seconds):
            counts, width = run > 0, scale * lasting
            face = MUTED if counts else "none"
            ax.add_patch(Rectangle((x, top), width, 22, facecolor=face, edgecolor=MUTED, hatch="" if counts else "///"))
            for end in (x, x + width) if counts else ():
                ax.plot((end, end), (top - 8, top + 30), color=INK, lw=1.5)
            words = f"{lasting:g} s" if counts else "warms up"
            ax.text(x + width / 2, top + 40, words, color=MUTED, va="center", ha="center", fontsize=10)
            x += width + gap
        ax.text(0, 9, "the clock is read at each upright line", color=MUTED, va="center", fontsize=10)
    told = ", ".join(f"{each:g}" for each in seconds[1:])
    return show(
        fig, alt=f"A run that warms up, then runs of {told} seconds, with the clock read before and after each."
    )


def runs(milliseconds: Sequence[float]) -> Picture:
    """Every run a dot; upright lines at the fastest, the median and the mean."""
    marks = {"fastest": min(milliseconds), "median": median(milliseconds), "mean": mean(milliseconds)}
    with figure(WIDTH, 130) as fig:
        ax = fig.subplots()
        for place, (name, value) in enumerate(marks.items()):
            ax.axvline(value, color=INK, lw=1.2, linestyle=("-", "--", ":")[place])
            side, words = (-4, "right") if name == "fastest" else (4, "left")
            at = (value, 3.6 - place)
            behind = {"facecolor": PAPER, "edgecolor": "none", "pad": 1}
            said = f"{name} {value:.3g}"
            ax.annotate(said, at, (side, 0), textcoords="offset points", ha=words, fontsize=10, bbox=behind)
        ax.plot(milliseconds, [0.3 + 0.7 * (place % 2) for place in range(len(milliseconds))], "o", color=MUTED, ms=5)
        ax.set(yticks=[], ylim=(-0.2, 4.2), xlim=(0, 1.05 * max(milliseconds)))
        ax.grid(False)
        ax.set_title("milliseconds of each of several runs")
    said = ", ".join(f"{name} {value:.3g} ms" for name, value in marks.items())
    return show(fig, alt=f"The times of {len(milliseconds)} runs: {said}.")


def batches(
    ceiling: Mapping[int, float], decode: Mapping[int, float] | None = None, prefill: float | None = None
) -> Picture:
    """Tokens a second by sequences at once: the most that the memory allows, what decode reached, what prefill does."""
    with figure(WIDTH, 250) as fig:
        ax = fig.subplots()
        ax.plot(list(ceiling), list(ceiling.values()), color=MUTED, linestyle="--", label="most by memory")
        if prefill is not None:
            ax.axhline(prefill, color=PREFILL, linestyle=":", label="prefill, measured")
        if decode is not None:
            ax.plot(list(decode), list(decode.values()), "o", color=DECODE, label="decode, measured")
        highest = max(*ceiling.values(), prefill or 0)
        ax.set(xscale="log", xticks=list(ceiling), xticklabels=list(map(str, ceiling)), ylim=(0, 1.5 * highest))
        ax.minorticks_off()
        ax.legend(loc="upper left")
        ax.set_title("tokens a second")
        ax.set_xlabel("sequences at once")
    most = ", ".join(f"{rate:,.0f} at {num_seqs}" for num_seqs, rate in ceiling.items())
    reached = ", ".join(f"{rate:,.0f} at {num_seqs}" for num_seqs, rate in (decode or {}).items())
    said = f" Decode reached {reached}." if reached else ""
    arithmetic = f" Prefill does {prefill:,.0f}." if prefill is not None else ""
    return show(fig, alt=f"Most tokens a second by memory, by sequences at once: {most}.{said}{arithmetic}")
