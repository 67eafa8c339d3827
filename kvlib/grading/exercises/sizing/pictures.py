"""The pictures of the lab *Size it*."""

from collections.abc import Mapping
from math import ceil

from kvlib.show.figures import DECODE, GRID, INK, MUTED, PAPER, Picture, Rectangle, canvas, figure, show

WIDTH = 360


def heads(num_heads: int, num_kv_heads: int) -> Picture:
    """A box for each query head above, and below, over the width of those that share it, one for each KV head."""
    height, side = 96, WIDTH / num_heads
    with figure(WIDTH, height) as fig:
        ax = canvas(fig, WIDTH, height, margin=1)
        ax.text(0, 9, f"query heads, which ask: {num_heads}", color=MUTED, va="center")
        ax.text(0, height - 9, f"KV heads, which are stored: {num_kv_heads}", color=DECODE, va="center")
        for count, y, colour in ((num_heads, 20, MUTED), (num_kv_heads, 50, DECODE)):
            for head in range(count):
                width = side * num_heads / count
                box = Rectangle((head * width, y), width, 24, facecolor=colour, edgecolor=PAPER, lw=min(1.5, side / 4))
                ax.add_patch(box)
    return show(fig, alt=f"Query heads, which ask: {num_heads}; KV heads, which are stored: {num_kv_heads}.")


def lengths(rows: Mapping[str, float], title: str) -> Picture:
    """A bar to scale for each row, with its number behind it."""
    longest, row = max(rows.values()), 38
    height = 20 + row * len(rows)
    with figure(WIDTH, height) as fig:
        ax = canvas(fig, WIDTH, height, margin=1)
        ax.text(0, 8, title, color=MUTED, va="center")
        for place, (name, length) in enumerate(rows.items()):
            y = 20 + row * place
            ax.text(0, y + 9, name, va="center", fontsize=10.5)
            ax.add_patch(Rectangle((0, y + 18), (WIDTH - 70) * length / longest, 14, facecolor=MUTED, edgecolor=MUTED))
            ax.text((WIDTH - 70) * length / longest + 6, y + 25, f"{length:,.6g}", va="center", fontsize=10.5)
    said = ", ".join(f"{name} {length:,.6g}" for name, length in rows.items())
    return show(fig, alt=f"{title}: {said}.")


def card(card_gib: float, share: float, weight_gb: float) -> Picture:
    """A card's memory to scale: weights, what is left for the cache, what the engine may not take."""
    weight_gib = weight_gb * 1e9 / 2**30
    parts = (
        ("weights", weight_gib, MUTED),
        ("cache", share * card_gib - weight_gib, DECODE),
        ("not the engine's", (1 - share) * card_gib, GRID),
    )
    height = 66
    with figure(WIDTH, height) as fig:
        ax = canvas(fig, WIDTH, height, margin=1)
        x = 0.0
        for place, (name, gib, colour) in enumerate(parts):
            width = WIDTH * gib / card_gib
            ax.add_patch(Rectangle((x, 24), width, 22, facecolor=colour, edgecolor=PAPER))
            side = "left" if place < 2 else "right"
            ax.text(x if place < 2 else WIDTH, 56 if place % 2 else 12, f"{name} {gib:.1f}", va="center", ha=side)
            x += width
    said = ", ".join(f"{name} {gib:.1f}" for name, gib, _ in parts)
    return show(fig, alt=f"Of {card_gib:g} GiB: {said}.")


def last_blocks(context_len: int, block_sizes: tuple[int, ...]) -> Picture:
    """The blocks of one sequence, a row for each size of a block, with what stays empty of the last one hollow."""
    longest, row, left = max(ceil(context_len / size) * size for size in block_sizes), 30, 30
    scale, height = (WIDTH - left) / longest, 22 + row * len(block_sizes)
    with figure(WIDTH, height) as fig:
        ax = canvas(fig, WIDTH, height, margin=1)
        ax.text(0, 8, f"a sequence of {context_len} tokens in blocks of", color=MUTED, va="center")
        for place, size in enumerate(block_sizes):
            y = 22 + row * place
            ax.text(0, y + 11, f"{size}", va="center")
            ax.add_patch(Rectangle((left, y), scale * context_len, 20, facecolor=DECODE, edgecolor="none"))
            for block in range(ceil(context_len / size)):
                box = Rectangle((left + scale * size * block, y), scale * size, 20, facecolor="none", edgecolor=INK)
                ax.add_patch(box)
    empty = ", ".join(f"{ceil(context_len / size) * size - context_len} of blocks of {size}" for size in block_sizes)
    return show(fig, alt=f"A sequence of {context_len} tokens; slots that stay empty: {empty}.")
