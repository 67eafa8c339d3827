"""Swapping: the blocks of sequences that yield move to a second memory, and back."""

from kvlib.checks import whole
from kvlib.errors import BlocksInUse, UnknownSequence
from kvlib.memory.manager import BlockManager, growth
from kvlib.memory.pool import NULL_BLOCK, BlockPool, real
from kvlib.memory.table import BlockTable


class SwapBlockManager(BlockManager):
    """A BlockManager with a second pool, of `num_host_blocks` blocks in the host's memory, 0 for none.

    Sequences go there and come back together, so that blocks they share stay shared and are moved once
    (Kwon et al., SOSP 2023, section 4.5). A sequence on the host holds no block of the first pool.
    """

    def __init__(self, num_blocks: int, block_size: int, *, num_host_blocks: int = 0, watermark: float = 0.0) -> None:
        super().__init__(num_blocks, block_size, watermark=watermark)
        self.host_pool = BlockPool(whole("num_host_blocks", num_host_blocks, 0))
        self._host_tables: dict[object, BlockTable] = {}

    def __contains__(self, seq_id: object) -> bool:
        """Whether `seq_id` holds memory, here or on the host."""
        return super().__contains__(seq_id) or seq_id in self._host_tables

    def can_swap_out(self, seq_ids: list) -> bool:
        """Whether the host has room for the blocks of these sequences, each block once."""
        return len(distinct_blocks([self.table(seq_id) for seq_id in seq_ids])) <= self.host_pool.num_free

    def swap_out(self, seq_ids: list) -> list[tuple[int, int]]:
        """Move sequences that may share blocks to the host -> the (block, host block) copies to make at once.

        Raises OutOfBlocks if the host has too few free blocks (Kwon et al., section 4.5).
        """
        tables = {seq_id: self.table(seq_id) for seq_id in seq_ids}
        arrived, copies = moved(list(tables.values()), self.host_pool)
        for seq_id in tables:
            super().free(seq_id)
        self._host_tables.update(zip(tables, arrived))
        return copies

    def can_swap_in(self, seq_ids: list) -> bool:
        """Whether these sequences could come back now, and each have room for one more token."""
        tables = [self.host_table(seq_id) for seq_id in seq_ids]
        needed = len(distinct_blocks(tables)) + growth(tables, self.host_pool.ref_counts)
        return needed <= self.pool.num_free - self._kept_back()

    def swap_in(self, seq_ids: list) -> list[tuple[int, int]]:
        """Bring sequences back from the host -> the (host block, block) copies to make before anything is computed.

        Raises OutOfBlocks if too few blocks are free.
        """
        tables = {seq_id: self.host_table(seq_id) for seq_id in seq_ids}
        arrived, copies = moved(list(tables.values()), self.pool)
        for seq_id in tables:
            self._leave_host(seq_id)
        self._tables.update(zip(tables, arrived))
        return copies

    def free(self, seq_id: object) -> None:
        """Take back everything `seq_id` holds, here or on the host."""
        if seq_id in self._host_tables:
            self._leave_host(seq_id)
        else:
            super().free(seq_id)

    def reset_cache(self) -> None:
        """As BlockManager.reset_cache. What waits on the host counts as used: it would bring old values back."""
        if self._host_tables:
            raise BlocksInUse(
                f"{len(self._host_tables)} sequences wait on the host; bring them back or free them first"
            )
        super().reset_cache()

    def host_table(self, seq_id: object) -> BlockTable:
        """The block table of a sequence that is swapped out, in blocks of the host pool. Only to be read."""
        if seq_id not in self._host_tables:
            raise UnknownSequence(
                f"no sequence {seq_id!r} is swapped out; those that are: {list(self._host_tables)[:8]}"
            )
        return self._host_tables[seq_id]

    def _leave_host(self, seq_id: object) -> None:
        self.host_pool.release(real(self._host_tables.pop(seq_id).blocks))


def distinct_blocks(tables: list[BlockTable]) -> list[int]:
    """The blocks that the tables name, each once, in the order in which they are first named."""
    return list(dict.fromkeys(block for table in tables for block in real(table.blocks)))


def moved(tables: list[BlockTable], target: BlockPool) -> tuple[list[BlockTable], list[tuple[int, int]]]:
    """Tables of the same tokens in blocks of `target`, and the (block, block of `target`) copies that make it true.

    Raises OutOfBlocks, and changes nothing, if `target` has too few free blocks. The keys stay behind: what a moved
    block holds is to be published anew.
    """
    sources = distinct_blocks(tables)
    home = dict(zip(sources, target.take(len(sources))))
    arrived = [
        BlockTable(table.block_size, [home.get(block, NULL_BLOCK) for block in table.blocks], table.num_tokens)
        for table in tables
    ]
    target.share([block for table in arrived for block in real(table.blocks)])
    target.release(list(home.values()))  # the count that taking them gave, beside one for each table entry
    return arrived, list(home.items())
