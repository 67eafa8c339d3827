"""The measures of the replica of the machine: where its boards, holes and levels are in space, in pixels."""

from dataclasses import dataclass
from math import ceil, sqrt
from typing import NamedTuple

from kvlib.show.board import Board
from kvlib.show.exploded_space import COS
from kvlib.sizing import ModelSpec

SPAN = 266  # from the left corner of the machine to its right one, as the page shows it
GAP, MARGIN = 0.3, 0.5  # between boards and around all of them, in cells

# Heights of undersides over the ground, and how thick the parts are.
BASE, PLATES, BOARDS, PINS, COVER, TABLE = 0, 42, 178, 246, 308, 331
BASE_THICKNESS, PLATES_THICKNESS, BOARD_THICKNESS, COVER_THICKNESS = 14, 72, 4, 5


class Token(NamedTuple):
    """A token of `seq`: the entry of its table that names the block, the block, and the slot in it."""

    seq: str
    entry: int
    block: int
    slot: int


@dataclass(frozen=True)
class Machine:
    """The machine in the state of `board`, with one plate for each layer of `spec`.

    A cell is the place of one token, `cell` pixels along x and along y. Boards lie in rows, the first row in front;
    x and y begin in the corner at the back.
    """

    board: Board
    spec: ModelSpec

    @property
    def num_blocks(self) -> int:
        """Boards."""
        return self.board.log.num_blocks

    @property
    def block_size(self) -> int:
        """Holes of a board."""
        return self.board.log.block_size

    @property
    def blocks(self) -> range:
        """The numbers of the blocks as they are painted: those at the back first."""
        return range(self.num_blocks, 0, -1)

    @property
    def boards_a_row(self) -> int:
        """Boards side by side along x, so that the machine is nearly as deep as wide."""
        return max(1, round(sqrt(1.4 * self.num_blocks / self.block_size)))

    @property
    def num_rows(self) -> int:
        """Rows of boards, the last perhaps not full."""
        return ceil(self.num_blocks / self.boards_a_row)

    @property
    def cell(self) -> float:
        """Pixels of the place of one token."""
        return SPAN / COS / (self._cells_wide + self._cells_deep)

    @property
    def width(self) -> float:
        """Along x, of every level."""
        return self._cells_wide * self.cell

    @property
    def depth(self) -> float:
        """Along y, of every level."""
        return self._cells_deep * self.cell

    def corner(self, block: int) -> tuple[float, float]:
        """x and y where the board of a block begins."""
        row, column = divmod(block - 1, self.boards_a_row)
        x = MARGIN + column * (self.block_size + GAP)
        y = MARGIN + (self.num_rows - 1 - row) * (1 + GAP)
        return x * self.cell, y * self.cell

    def hole(self, block: int, slot: int) -> tuple[float, float]:
        """x and y of the middle of a slot of a block."""
        x, y = self.corner(block)
        return x + (slot + 0.5) * self.cell, y + 0.5 * self.cell

    def tokens(self) -> list[Token]:
        """What is stored, each slot once, as the first sequence that reads it has it."""
        tokens: dict[tuple[int, int], Token] = {}
        for seq, table in self.board.tables.items():
            for position in range(table.num_tokens):
                entry, slot = divmod(position, self.block_size)
                block = table.blocks[entry]
                tokens.setdefault((block, slot), Token(seq, entry, block, slot))
        return list(tokens.values())

    @property
    def followed(self) -> Token | None:
        """The newest token of the sequence that entered first, whose way the drawing shows; None if there is none."""
        tokens = self.tokens()
        return next((token for token in reversed(tokens) if token.seq == tokens[0].seq), None)

    @property
    def _cells_wide(self) -> float:
        return self.boards_a_row * (self.block_size + GAP) - GAP + 2 * MARGIN

    @property
    def _cells_deep(self) -> float:
        return self.num_rows * (1 + GAP) - GAP + 2 * MARGIN
