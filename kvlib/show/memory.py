"""Three pictures of a board: the memory as it lies, as one sequence sees it, and block by block with all owners."""

from math import ceil

from kvlib.errors import BadEvents, BadInput, UnknownSequence
from kvlib.show.board import Board
from kvlib.show.figures import (
    ESCAPES,
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
    sequence_letter,
    show,
)

WIDTH = 360  # pixels: of a picture
LEFT, RIGHT, ROW = 34, 92, 30  # and where it lists blocks: beside their slots, and from one to the next


def physical(board: Board) -> Picture:
    """Every physical block with its slots, in the order of the memory.

    A block has its number above it and, if it is used, below it the letter of the sequence and the number of the
    logical block; filled slots have the sequence's colour. Letters go by the order in which sequences entered the log.
    """
    num_blocks, size = _sizes(board)
    side = ceil(size**0.5)
    columns = min(num_blocks, int(WIDTH / max(32, 9 * side)))  # 32 pixels hold a label of four characters
    rows = ceil(num_blocks / columns)
    width, height = WIDTH / columns, WIDTH / columns + 36
    owner = {
        block: (seq, index, filled)
        for seq, table in board.tables.items()
        for index, (block, filled) in enumerate(table.entries())
    }
    with figure(WIDTH, round(rows * height)) as fig:
        ax = canvas(fig, WIDTH, rows * height)
        for block in range(1, num_blocks + 1):
            row, column = divmod(block - 1, columns)
            x, y = column * width, row * height
            seq, index, filled = owner.get(block, ("", 0, 0))
            name = f"{_letter(board, seq)}{index}" if seq else ""
            ax.text(x + 2, y + 8, str(block), color=MUTED, fontsize=11, va="center")
            ax.text(x + 2, y + height - 14, name, color=INK, fontsize=11, va="center", weight="bold")
            colour = _colour(board, seq) if seq else GRID
            cell = (width - 4) / side
            for slot in range(size):
                down, across = divmod(slot, side)
                face = colour if slot < filled else "none"
                corner = (x + 1 + across * cell + 1, y + 15 + down * cell + 1)
                edge = colour if seq else GRID
                ax.add_patch(Rectangle(corner, cell - 2, cell - 2, facecolor=face, edgecolor=edge))
    held = [
        f"{_letter(board, seq)} has {table.num_tokens} tokens in blocks {', '.join(map(str, table.blocks))}"
        for seq, table in board.tables.items()
    ]
    used = f"{'; '.join(held)}; the others are free." if held else "All are free."
    return show(fig, alt=f"Physical memory, {num_blocks} blocks of {size} slots. {used}")


def logical(board: Board, seq: str) -> Picture:
    """The block table of `seq`: each logical block with its tokens' text, the physical block, and its filled slots."""
    _, size = _sizes(board)
    if seq not in board.tables:
        raise UnknownSequence(f"sequence {seq!r} holds no memory at this step; those that do: {list(board.tables)}")
    table, pieces = board.tables[seq], board.text(seq)
    letter, colour = _letter(board, seq), _colour(board, seq)
    height = (len(table.blocks) + 1) * ROW - 6
    with figure(WIDTH, height) as fig:
        ax = canvas(fig, WIDTH, height)
        ax.text(0, 12, "logical", color=MUTED, fontsize=11, va="center")
        ax.text(WIDTH, 12, "physical, filled", color=MUTED, fontsize=11, va="center", ha="right")
        for index, (block, filled) in enumerate(table.entries()):
            y = (index + 1) * ROW
            ax.text(0, y + 11, f"{letter}{index}", color=INK, fontsize=12, va="center", weight="bold")
            _slots(ax, y, size, filled, pieces[index * size : index * size + filled], colour)
            ax.text(WIDTH - RIGHT + 12, y + 11, "→", color=MUTED, fontsize=12, va="center")
            ax.text(WIDTH - 42, y + 11, str(block), color=INK, fontsize=12, va="center", ha="right", weight="bold")
            ax.text(WIDTH, y + 11, f"{filled}/{size}", color=MUTED, fontsize=11, va="center", ha="right")
    entries = ", ".join(f"{index} in {block} with {filled}" for index, (block, filled) in enumerate(table.entries()))
    return show(
        fig, alt=f"Block table of {letter}, logical blocks in physical ones with their filled slots: {entries}."
    )


def owners(board: Board) -> Picture:
    """Every block in use: its number, the text it holds, and the letters of all sequences whose tables name it.

    At the right stands how many they are, the reference count. A block of one sequence has its colour; one of
    several has that of the text.
    """
    _, size = _sizes(board)
    in_use = [block for block, count in enumerate(board.counts) if count]
    height = (len(in_use) + 1) * ROW - 6
    said = []
    with figure(WIDTH, height) as fig:
        ax = canvas(fig, WIDTH, height)
        ax.text(0, 12, "block", color=MUTED, fontsize=11, va="center")
        ax.text(WIDTH, 12, "owners, count", color=MUTED, fontsize=11, va="center", ha="right")
        for place, block in enumerate(in_use, 1):
            seqs, filled, y = board.owners(block), board.filled(block), place * ROW
            letters = [_letter(board, seq) for seq in seqs]
            start = board.tables[seqs[0]].blocks.index(block) * size
            colour = _colour(board, seqs[0]) if len(seqs) == 1 else INK
            ax.text(0, y + 11, str(block), color=INK, fontsize=12, va="center", weight="bold")
            _slots(ax, y, size, filled, board.text(seqs[0])[start : start + filled], colour)
            ax.text(WIDTH - RIGHT + 12, y + 11, " ".join(letters), color=INK, fontsize=12, va="center", weight="bold")
            ax.text(WIDTH, y + 11, str(board.counts[block]), color=MUTED, fontsize=12, va="center", ha="right")
            said.append(f"{block} with {filled} of {size} slots filled is named by {', '.join(letters)}")
    return show(fig, alt=f"Blocks in use, with their owners: {'; '.join(said) or 'there are none'}.")


def _slots(ax: Axes, y: float, size: int, filled: int, pieces: list[str], colour: str) -> None:
    """The slots of one block in a row, the filled ones with the text of their tokens."""
    cell = (WIDTH - LEFT - RIGHT) / size
    limit = max(1, int(cell / 6.6))  # characters of 11-pixel type that fit
    for slot in range(size):
        face = colour if slot < filled else "none"
        ax.add_patch(Rectangle((LEFT + slot * cell + 2, y + 1), cell - 4, 20, facecolor=face, edgecolor=colour))
    for slot, piece in enumerate(pieces):
        middle, text = LEFT + (slot + 0.5) * cell, shown(piece, limit)
        ax.text(middle, y + 11, text, color=ON_COLOUR, fontsize=11, va="center", ha="center", parse_math=False)


def _sizes(board: Board) -> tuple[int, int]:
    if not isinstance(board, Board):
        raise BadInput(f"board is of type {type(board).__name__}; give a Board, such as Board.at(log)")
    num_blocks, size = board.log.num_blocks, board.log.block_size
    if num_blocks < 1 or size < 1:
        raise BadEvents(
            f"the log is of a memory of {num_blocks} blocks of {size} slots, which cannot be drawn; "
            "say which memory it is of with log.open(num_blocks, block_size), each 1 or more"
        )
    return num_blocks, size


def _letter(board: Board, seq: str) -> str:
    return sequence_letter(board.numbers[seq])


def _colour(board: Board, seq: str) -> str:
    return sequence_colour(board.numbers[seq])


def shown(text: str, limit: int) -> str:
    """A token's text as a picture shows it: in one line, at most `limit` characters, what is invisible made visible."""
    text = text.strip(" ").translate(ESCAPES | {ord("\n"): "⏎", ord("\t"): "⇥", ord("\r"): "\\r"}) or "␣" * bool(text)
    return text if len(text) <= limit else text[: limit - 1] + "…"
