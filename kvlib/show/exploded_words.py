"""The parts of the machine that can be read: the flip board of the block tables behind it, the type in front."""

from collections.abc import Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element

from kvlib.show.exploded_ink import group, owned, path, slab, write
from kvlib.show.exploded_machine import BOARD_THICKNESS, BOARDS, TABLE, Machine
from kvlib.show.exploded_space import Point, end, flat, floor, on_wall, outline, wall
from kvlib.show.figures import sequence_letter
from kvlib.show.memory import shown

FLAP_WIDTH, FLAP_HEIGHT, ROW = 20, 15, 19
BEHIND, TABLE_DEPTH = -10.0, 6.0  # y of the flip board's face, and how thick it is
FIRST_FLAP, FLAPS = 23, FLAP_WIDTH + 3  # x of the first, and from one to the next
TYPE_HEIGHT, TYPE_DEPTH, CHARACTER = 15, 8, 6.1  # of a piece, and the width of one letter on it
AFTER_LETTER, SPACE, STEP = 9, 1.5, 9.0  # before the first piece, between two, and from line to line


def table_height(machine: Machine) -> float:
    """How tall the flip board is, in pixels."""
    return len(machine.board.tables) * ROW + 8


def table(machine: Machine) -> list[Element]:
    """The flip board: a row for each sequence, a flap for each of its last blocks, and blank flaps for more."""
    tall = table_height(machine)
    board = slab(0, BEHIND - TABLE_DEPTH, TABLE, machine.width, TABLE_DEPTH, tall)
    rows = [
        owned(machine, [seq], "row", *_row(machine, seq, TABLE + tall - 6 - row * ROW - FLAP_HEIGHT))
        for row, seq in enumerate(machine.board.tables)
    ]
    return [*board, *rows]


def _row(machine: Machine, seq: str, z: float) -> Iterator[Element]:
    yield write(sequence_letter(machine.board.numbers[seq]), on_wall(13, BEHIND, z + 4), "letter")
    entries = machine.board.tables[seq].blocks
    first = _first_entry(machine, seq)
    for entry in range(first, first + _num_flaps(machine)):
        x = _flap_x(entry - first)
        flap = wall(x, BEHIND, z, FLAP_WIDTH, FLAP_HEIGHT)
        if entry >= len(entries):
            yield path("flap blank", flap)
            continue
        text = "…" if 0 < first == entry else str(entries[entry])
        followed = machine.followed is not None and machine.followed[:2] == (seq, entry)
        yield group(
            "followed" if followed else "",
            path("flap", flap),
            *(path("hinge", wall(side, BEHIND, z + FLAP_HEIGHT / 2, 3, 0)) for side in (x, x + FLAP_WIDTH - 3)),
            write(text, on_wall(x + FLAP_WIDTH / 2, BEHIND, z + 4), "flap-number"),
        )


def _num_flaps(machine: Machine) -> int:
    return int((machine.width - FIRST_FLAP) / FLAPS)


def _first_entry(machine: Machine, seq: str) -> int:
    """The entry on the first flap of a row: that of a long table stands for all before it, too."""
    return max(0, len(machine.board.tables[seq].blocks) - _num_flaps(machine))


def _flap_x(place: int) -> float:
    return FIRST_FLAP + place * FLAPS


def pointer(machine: Machine) -> list[Element]:
    """The line from the flap of the followed token, down behind the machine, to the board that it names."""
    token = machine.followed
    if token is None:
        return []
    flap = max(0, token.entry - _first_entry(machine, token.seq))
    flap_x, level = _flap_x(flap) + FLAP_WIDTH / 2, BOARDS + BOARD_THICKNESS
    x, y = machine.corner(token.block)
    x += machine.block_size * machine.cell / 2
    line = outline((flap_x, BEHIND, TABLE), (flap_x, BEHIND, level), (x, BEHIND, level), (x, y, level), closed=False)
    head = outline((x - 3, y - 6, level), (x, y, level), (x + 3, y - 6, level), closed=False)
    return [owned(machine, [token.seq], "pointer", path("thread", line), path("head", head))]


def letters(machine: Machine) -> list[Element]:
    """The type: a line for each sequence, a piece for each of its last tokens, without colour if it is not stored."""
    return [owned(machine, [seq], "line", *_line(machine, seq, row)) for row, seq in enumerate(machine.board.tables)]


def letters_bottom(machine: Machine) -> float:
    """How far below the corner at the back the type and the ground reach, in pixels of the page."""
    bottom = flat(machine.width, machine.depth, 0)[1]
    for row, seq in enumerate(machine.board.tables):
        x, y, z = _line_start(machine, row)
        x += AFTER_LETTER + sum(piece.width + SPACE for piece in _pieces(machine, seq, row))
        bottom = max(bottom, flat(x, y, z)[1])
    return bottom


def _line_start(machine: Machine, row: int) -> Point:
    """Each line is a step to the front, to the right and down from the one before, so that all begin below it."""
    return 12.0 + STEP * row, machine.depth + 26 + STEP * row, -15 * row


def _line(machine: Machine, seq: str, row: int) -> Iterator[Element]:
    x, y, z = _line_start(machine, row)
    yield write(sequence_letter(machine.board.numbers[seq]), on_wall(x, y, z + 4), "letter")
    x += AFTER_LETTER
    for width, text, is_stored in _pieces(machine, seq, row):
        yield group(
            "" if is_stored else "unstored",
            path("type-end", end(x + width, y - TYPE_DEPTH, z, TYPE_DEPTH, TYPE_HEIGHT)),
            path("type-top", floor(x, y - TYPE_DEPTH, z + TYPE_HEIGHT, width, TYPE_DEPTH)),
            path("type", wall(x, y, z, width, TYPE_HEIGHT)),
            write(text, on_wall(x + width / 2, y, z + 4), "piece"),
        )
        x += width + SPACE


class _Piece(NamedTuple):
    """Its width, in pixels, what stands on it, and whether the token has a pin."""

    width: float
    text: str
    is_stored: bool


def _pieces(machine: Machine, seq: str, row: int) -> list[_Piece]:
    """The last tokens that fit, up to the one that is known and not stored yet, if there is one."""
    room = machine.width - STEP * row - AFTER_LETTER
    num_stored = machine.board.tables[seq].num_tokens
    kept: list[_Piece] = []
    for position, token in reversed(list(enumerate(machine.board.log.texts.get(seq, [])[: num_stored + 1]))):
        text = shown(token, 12)
        width = max(10.0, CHARACTER * len(text) + 5)
        room -= width + SPACE
        if room < 0:
            break
        kept.append(_Piece(width, text, position < num_stored))
    return kept[::-1]
