"""Pictures of attention kernels: the walk through the block table, the softmax in pieces, who reads what."""

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, exp

from kvlib.checks import whole
from kvlib.errors import BadInput
from kvlib.show.figures import (
    GRID,
    INK,
    MUTED,
    ON_COLOUR,
    Axes,
    Picture,
    Rectangle,
    canvas,
    figure,
    sequence_colour,
    show,
)

MOST_TURNS = 2000
"""Of all programs together; a picture of more shows nothing, and takes long to draw."""

WIDTH = 360  # pixels
LEFT = 60  # of what the rows are called


def walk(block_table: Sequence[int], context_len: int, block_size: int, num_blocks: int) -> Picture:
    """The physical memory in a row, and over each block that the table names the turn in which a program visits it.

    Filled slots are full, empty ones hollow. Block 0 belongs to nobody. Raises BadInput where the table has too few
    blocks for the context, or one that does not exist.
    """
    for name, value in (("context_len", context_len), ("block_size", block_size), ("num_blocks", num_blocks)):
        whole(name, value, error=BadInput)
    if len(block_table) * block_size < context_len:
        raise BadInput(
            f"block_table has {len(block_table)} blocks of {block_size} for {context_len} tokens; "
            f"give {ceil(context_len / block_size)}"
        )
    for block in block_table:
        if not 0 <= whole("an entry of block_table", block, 0, BadInput) < num_blocks:
            raise BadInput(f"block_table has block {block}; the {num_blocks} blocks are 0 to {num_blocks - 1}")
    turns = {block: turn for turn, block in enumerate(block_table[: ceil(context_len / block_size)])}
    width = WIDTH / num_blocks
    with figure(WIDTH, 92) as fig:
        ax = canvas(fig, WIDTH, 92)
        ax.text(0, 8, "turn", color=MUTED, fontsize=11, va="center")
        ax.text(0, 84, "physical block", color=MUTED, fontsize=11, va="center")
        for block in range(num_blocks):
            turn = turns.get(block)
            filled = 0 if turn is None else min(block_size, context_len - turn * block_size)
            colour = GRID if turn is None else sequence_colour(0)
            for slot in range(block_size):
                cell = (width - 4) / block_size
                face = colour if slot < filled else "none"
                corner = (block * width + 2 + slot * cell, 38)
                ax.add_patch(Rectangle(corner, cell - 1, 20, facecolor=face, edgecolor=colour))
            middle = (block + 0.5) * width
            ax.text(middle, 68, str(block), color=MUTED, fontsize=11, va="center", ha="center")
            if turn is not None:
                ax.text(middle, 26, str(turn), color=INK, fontsize=12, va="center", ha="center", weight="bold")
    visits = ", ".join(f"{block} in turn {turn}" for block, turn in turns.items())
    return show(fig, alt=f"A row of {num_blocks} physical blocks. The program visits block {visits}.")


def pieces(scores: Sequence[float], tile: int) -> Picture:
    """The softmax in pieces: the score of each token, the largest so far, and what each turn multiplies the sums by.

    Raises BadInput without a score.
    """
    whole("tile", tile, error=BadInput)
    if not scores:
        raise BadInput("scores is empty; give a number for each token")
    turns = [scores[start : start + tile] for start in range(0, len(scores), tile)]
    maxima = [max(scores[: (turn + 1) * tile]) for turn in range(len(turns))]
    factors = [exp(before - now) for before, now in pairwise(maxima)]
    with figure(WIDTH, 220) as fig:
        ax = fig.subplots()
        ax.bar(range(len(scores)), scores, color=sequence_colour(0), width=0.8)
        edges = [min((turn + 1) * tile, len(scores)) - 0.5 for turn in range(len(turns))]
        ax.step([-0.5, *edges], [maxima[0], *maxima], color=INK, where="pre")
        for edge, factor, turn in zip(edges, factors, turns[1:]):
            ax.text(edge + len(turn) / 2, max(scores) * 1.12, f"× {factor:.2f}", color=INK, ha="center")
            ax.axvline(edge, color=GRID, linewidth=1)
        ax.set(xlim=(-0.5, len(scores) - 0.5), ylim=(min(0, *scores) * 1.1, max(scores) * 1.3))
        ax.set_xlabel("token")
        ax.set_title("score; line: the largest so far; ×: on the sums before")
    said = "; ".join(f"turn {turn} has the factor {factor:.2f}" for turn, factor in enumerate(factors, 1))
    return show(
        fig, alt=f"Scores of {len(scores)} tokens in turns of {tile}. What was summed before is rescaled: {said}."
    )


def programs(
    context_len: int,
    block_size: int,
    num_heads: int,
    group_size: int,
    *,
    tile: int,
    heads_a_program: int = 1,
    num_splits: int = 1,
) -> Picture:
    """Who reads what of one sequence: tokens to the right, query heads down, a box a program, a line a turn.

    Heads of one KV group have one colour. The number in a box is its program's. The upper row shows the blocks of
    `block_size` tokens. Raises BadInput where all programs together have more than MOST_TURNS turns.
    """
    sizes = {"context_len": context_len, "block_size": block_size, "num_heads": num_heads, "group_size": group_size}
    for name, value in (sizes | {"tile": tile, "heads_a_program": heads_a_program, "num_splits": num_splits}).items():
        whole(name, value, error=BadInput)
    split_len = ceil(context_len / num_splits)
    all_turns = ceil(num_heads / heads_a_program) * ceil(context_len / min(tile, split_len))
    if all_turns > MOST_TURNS:
        raise BadInput(
            f"{context_len} tokens and {num_heads} heads make {all_turns} turns; a picture shows {MOST_TURNS} at most: "
            "take a shorter context, a larger tile or fewer heads"
        )
    a_token, row = (WIDTH - LEFT) / context_len, 20
    height = 24 + num_heads * row + 6
    count = 0
    with figure(WIDTH, height) as fig:
        ax = canvas(fig, WIDTH, height)
        ax.text(0, 10, "blocks", color=MUTED, fontsize=11, va="center")
        for start in range(0, context_len, block_size):
            _box(ax, LEFT + start * a_token, 2, min(block_size, context_len - start) * a_token, 16, "none", GRID)
        for head in range(num_heads):
            ax.text(0, 24 + (head + 0.5) * row, f"head {head}", color=MUTED, fontsize=11, va="center")
        for head in range(0, num_heads, heads_a_program):
            colour = sequence_colour(head // group_size)
            tall = min(heads_a_program, num_heads - head) * row
            for start in range(0, context_len, split_len):
                wide = min(split_len, context_len - start) * a_token
                x, y = LEFT + start * a_token, 24 + head * row
                _box(ax, x, y, wide, tall, colour, colour)
                for turn in range(tile, min(split_len, context_len - start), tile):
                    ax.plot([x + turn * a_token] * 2, [y + 3, y + tall - 3], color=ON_COLOUR, linewidth=1)
                ax.text(x + 6, y + tall / 2, str(count), color=ON_COLOUR, fontsize=11, va="center", weight="bold")
                count += 1
    turns = ceil(min(split_len, context_len) / tile)
    heads = "1 head" if heads_a_program == 1 else f"{heads_a_program} heads"
    return show(
        fig,
        alt=f"{context_len} tokens in blocks of {block_size}, read by {num_heads} query heads, {group_size} to a KV "
        f"head: {count} programs of {heads} each, at most {turns} turns of {tile} tokens in each.",
    )


def _box(ax: Axes, x: float, y: float, width: float, height: float, face: str, edge: str) -> None:
    ax.add_patch(Rectangle((x + 1.5, y + 1.5), width - 3, height - 3, facecolor=face, edgecolor=edge))
