"""The block table of one sequence: from a token's position to the slot that holds its key and value."""

from kvlib.errors import BadInput
from kvlib.memory.pool import NULL_BLOCK


class BlockTable:
    """Logical block i of the sequence lies in physical block `blocks[i]`; all but the last are full.

    `num_tokens` tokens are stored. Position p is found in slot
    `blocks[p // block_size] * block_size + p % block_size`, counted in tokens from the start of the memory
    (PagedAttention paper, section 4.2 and figure 6). The first `num_keyed` blocks have their keys. Positions
    below `writable_to` are in blocks of the sequence's own for certain: 0 after a fork, until the manager has looked.
    """

    __slots__ = ("block_size", "blocks", "num_keyed", "num_tokens", "writable_to")

    def __init__(self, block_size: int, blocks: list[int], num_tokens: int, num_keyed: int = 0) -> None:
        if not 0 <= num_tokens <= len(blocks) * block_size:
            raise BadInput(f"{num_tokens} tokens do not fit into the {len(blocks)} blocks of {block_size} in {blocks}")
        self.block_size = block_size
        self.blocks = blocks
        self.num_tokens = num_tokens
        self.num_keyed = num_keyed
        self.writable_to = 0

    @property
    def room(self) -> int:
        """Empty slots in the last block, 0 to block_size - 1 tokens."""
        return len(self.blocks) * self.block_size - self.num_tokens

    def slots(self, start: int, stop: int) -> list[int]:
        """The slot mapping: the slots of positions start to stop - 1. Raises BadInput for one that is not stored."""
        if not 0 <= start <= stop <= self.num_tokens:
            raise BadInput(f"positions {start} to {stop} are not all stored; the table has {self.num_tokens} of them")
        size = self.block_size
        if start < stop and NULL_BLOCK in self.blocks[start // size : (stop - 1) // size + 1]:
            raise BadInput(f"positions {start} to {stop} are not all stored; the table gave some back: {self.blocks}")
        return [self.blocks[position // size] * size + position % size for position in range(start, stop)]

    def entries(self) -> list[tuple[int, int]]:
        """(physical block, filled slots) of each logical block, as the paper's figures draw a table."""
        filled = [self.block_size] * len(self.blocks)
        if filled:
            filled[-1] -= self.room
        return list(zip(self.blocks, filled))

    def __repr__(self) -> str:
        return f"BlockTable({self.num_tokens} tokens in blocks {self.blocks} of {self.block_size})"
