"""Chunks of contiguous memory, drawn step by step."""

from collections.abc import Iterable, Mapping

from kvlib.show.figures import INK, MUTED, PAPER, Picture, Rectangle, canvas, figure, show

WIDTH, NAMES, ROW = 360, 92, 30  # pixels: of a picture, of the words before a row, from one row to the next

State = tuple[Iterable[tuple[int, int]], Mapping[int, int]]


def chunk_rows(steps: Mapping[str, State], num_slots: int) -> Picture:
    """One row for each of `steps`, by its name: the free chunks as (size, first slot), and the size of each chunk in
    use by its first slot. Those in use are filled."""
    scale = (WIDTH - NAMES - 2) / num_slots
    said = []
    with figure(WIDTH, ROW * len(steps)) as fig:
        ax = canvas(fig, WIDTH, ROW * len(steps))
        for row, (name, (free, used)) in enumerate(steps.items()):
            y = ROW * row
            ax.text(0, y + 14, name, color=MUTED, va="center")
            parts = [(start, size, False) for size, start in free] + [(*chunk, True) for chunk in used.items()]
            for start, size, taken in sorted(parts):
                x, width = NAMES + scale * start, scale * size
                face, text = (MUTED, PAPER) if taken else ("none", INK)
                ax.add_patch(Rectangle((x + 1, y + 4), width - 2, 20, facecolor=face, edgecolor=MUTED))
                ax.text(x + width / 2, y + 14, str(size), color=text, ha="center", va="center")
            said.append(f"{name}: " + " ".join(f"{size}{' taken' * taken}" for _, size, taken in sorted(parts)))
    return show(fig, alt=f"Chunks of {num_slots} slots. {'; '.join(said)}.")
