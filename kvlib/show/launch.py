"""One launch of the decode kernel over a batch: a box for each program, at the tokens that it reads."""

from collections.abc import Sequence

from kvlib.checks import whole
from kvlib.errors import BadInput
from kvlib.show.figures import (
    MUTED,
    Picture,
    Rectangle,
    canvas,
    figure,
    sequence_colour,
    sequence_letter,
    show,
)

WIDTH, LEFT, ROW, GAP, HEAD = 360, 72, 12, 10, 24  # pixels


def launch(context_lens: Sequence[int], num_kv_heads: int, num_splits: int, split_len: int) -> Picture:
    """The grid (num_kv_heads, num_seqs, num_splits) of `kvlib.attention.triton.decode`, sequence under sequence.

    context_lens: tokens of each sequence. Tokens run to the right, a row is a KV head, a column a split of `split_len`
    tokens. A box is full as far as its program has tokens to read, and grey where the text has ended before. Raises
    BadInput for sizes below 1 or a text that is longer than its splits.
    """
    sizes = {"num_kv_heads": num_kv_heads, "num_splits": num_splits, "split_len": split_len}
    for name, size in sizes.items():
        whole(name, size, error=BadInput)
    if not context_lens or not 0 <= min(context_lens) <= max(context_lens) <= num_splits * split_len:
        raise BadInput(
            f"context_lens is {list(context_lens)}; give at least one length, each from 0 to the "
            f"{num_splits * split_len} tokens of {num_splits} splits"
        )
    wide, tall = (WIDTH - LEFT) / num_splits, num_kv_heads * ROW + GAP
    height = HEAD + tall * len(context_lens)
    with figure(WIDTH, height) as fig:
        ax = canvas(fig, WIDTH, height)
        splits = "split" if num_splits == 1 else "splits"
        ax.text(LEFT, 10, f"{num_splits} {splits} of {split_len:,} tokens", color=MUTED, va="center")
        for place, context_len in enumerate(context_lens):
            y, colour = HEAD + tall * place, sequence_colour(place)
            name = f"{sequence_letter(place)}  {context_len:,}"
            ax.text(0, y + (tall - GAP) / 2, name, color=colour, weight="bold", va="center")
            for split in range(num_splits):
                share = min(max(context_len - split * split_len, 0), split_len) / split_len
                for head in range(num_kv_heads):
                    corner = LEFT + wide * split + 1, y + ROW * head + 1
                    box = Rectangle(corner, wide - 2, ROW - 2, facecolor="none", edgecolor=colour if share else MUTED)
                    ax.add_patch(box)
                    if share:
                        ax.add_patch(Rectangle(corner, (wide - 2) * share, ROW - 2, facecolor=colour, edgecolor=colour))
    busy = sum(-(-context_len // split_len) for context_len in context_lens) * num_kv_heads
    count = num_kv_heads * len(context_lens) * num_splits
    return show(
        fig,
        alt=f"{count} programs: {num_kv_heads} KV heads, {len(context_lens)} texts, {num_splits} splits of {split_len} "
        f"tokens; {busy} have tokens to read.",
    )
