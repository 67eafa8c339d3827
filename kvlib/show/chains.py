"""Where prompts part: their full blocks with the keys by which these are found, from the beginning down."""

from collections.abc import Sequence
from itertools import groupby

from kvlib.errors import BadInput
from kvlib.show.figures import (
    INK,
    MUTED,
    ON_COLOUR,
    Picture,
    Rectangle,
    canvas,
    figure,
    sequence_colour,
    sequence_letter,
    show,
)
from kvlib.show.memory import shown

WIDTH, TOP, BOX, ROW = 360, 24, 38, 52  # pixels: of the picture, down to the first box, of a box, to the next one
KEY_DIGITS = 6  # of the 64 hexadecimal ones of SHA-256: enough to tell a picture's few blocks apart


def chains(prompts: Sequence[Sequence[tuple[bytes, str]]]) -> Picture:
    """A column for each prompt, a box for each of its blocks, given as key (`PrefixKeys.keys`) and text.

    Neighbours that have the same key at the same place have it in one box, in the colour of the ink; a box of one
    prompt has its colour. Lines lead from each block to the one after it. Raises BadInput if no prompt has a block.
    """
    if not any(prompts):
        raise BadInput("no prompt has a full block; give prompts of block_size tokens or more")
    width = WIDTH / len(prompts)
    limit = max(1, int((width - 12) / 6.8))  # characters of 11.5-pixel type that fit
    height = TOP + ROW * max(map(len, prompts)) - (ROW - BOX)
    said = []
    with figure(WIDTH, height) as fig:
        ax = canvas(fig, WIDTH, height)
        for column in range(len(prompts)):
            ax.text((column + 0.5) * width, 12, sequence_letter(column), ha="center", va="center", weight="bold")
        for place in range(max(map(len, prompts))):
            y = TOP + ROW * place
            for columns in _shared(prompts, place):
                key, text = prompts[columns[0]][place]
                left, across = columns[0] * width, len(columns) * width
                colour = INK if len(columns) > 1 else sequence_colour(columns[0])
                for column in columns if place else ():
                    x = (column + 0.5) * width
                    ax.plot((x, x), (y - ROW + BOX, y), color=MUTED, lw=1)
                ax.add_patch(Rectangle((left + 2, y), across - 4, BOX, facecolor=colour, edgecolor=colour))
                digits, words = key.hex()[:KEY_DIGITS], shown(text, limit)
                for line, down in ((digits, 11), (words, 27)):
                    x = left + across / 2
                    ax.text(x, y + down, line, color=ON_COLOUR, ha="center", va="center", parse_math=False)
                letters = " and ".join(map(sequence_letter, columns))
                said.append(f"block {place + 1} of {letters} has key {digits} and the text “{words}”")
    return show(fig, alt=f"Blocks of {len(prompts)} prompts: {'; '.join(said)}.")


def _shared(prompts: Sequence[Sequence[tuple[bytes, str]]], place: int) -> list[list[int]]:
    """The columns that reach `place`, neighbours with the same key there together."""
    reaching = [column for column, blocks in enumerate(prompts) if place < len(blocks)]
    return [list(group) for _, group in groupby(reaching, lambda column: prompts[column][place][0])]
