"""The block manager: gives blocks to sequences, shares them, copies on write, takes them back."""

from kvlib.checks import share, whole
from kvlib.errors import BadInput, OutOfBlocks, RequestTooLarge, UnknownSequence
from kvlib.memory.pool import BlockPool, real
from kvlib.memory.table import BlockTable


class BlockManager:
    """Block tables over one pool of `num_blocks` blocks of `block_size` tokens each.

    `watermark` is the share of the pool, 0 to below 1, that an admission must leave free while another
    sequence holds memory; it keeps room for those to grow (vLLM's default is 0).
    Bookkeeping only: the tensors belong to whoever reads the tables. A call that raises has changed nothing.

    After Kwon et al., SOSP 2023, sections 4.2 to 4.5, and the block manager of vLLM.
    """

    def __init__(self, num_blocks: int, block_size: int, *, watermark: float = 0.0) -> None:
        self.block_size = whole("block_size", block_size)
        self.pool = BlockPool(whole("num_blocks", num_blocks))
        self._reserve = int(share("watermark", watermark) * num_blocks)
        self._tables: dict[object, BlockTable] = {}

    @property
    def num_free_blocks(self) -> int:
        """Blocks that can be handed out now."""
        return self.pool.num_free

    @property
    def sequences(self) -> list[object]:
        """The ids of the sequences that hold memory, in the order in which they were given it."""
        return list(self._tables)

    def __contains__(self, seq_id: object) -> bool:
        """Whether `seq_id` holds memory."""
        return seq_id in self._tables

    def table(self, seq_id: object) -> BlockTable:
        """The block table of `seq_id`. Read it; only the manager changes it."""
        table = self._tables.get(seq_id)
        if table is None:
            raise UnknownSequence(f"no sequence {seq_id!r} holds memory here; those that do: {self.sequences[:8]}")
        return table

    def blocks_for(self, num_tokens: int) -> int:
        """How many blocks `num_tokens` tokens, 1 or more, fill, the last perhaps in part."""
        whole("num_tokens", num_tokens, 1, BadInput)
        return -(-num_tokens // self.block_size)

    def check_fits(self, num_tokens: int, num_sequences: int = 1, num_shared_tokens: int = 0) -> None:
        """Raise RequestTooLarge if `num_sequences` sequences of `num_tokens` tokens each, of which they share the
        full blocks of the first `num_shared_tokens`, do not fit even in the empty pool."""
        whole("num_sequences", num_sequences, 1, BadInput)
        whole("num_shared_tokens", num_shared_tokens, 0, BadInput)
        shared = (num_sequences - 1) * (num_shared_tokens // self.block_size)
        needed = num_sequences * self.blocks_for(num_tokens) - shared
        if needed > self.pool.num_blocks:
            times = f"{num_sequences} times " if num_sequences > 1 else ""
            raise RequestTooLarge(
                f"{times}{num_tokens} tokens need {needed} blocks of {self.block_size}, the pool has "
                f"{self.pool.num_blocks}; shorten the request or give the pool at least {needed} blocks"
            )

    def cached_prefix(self, num_tokens: int, keys: list | tuple) -> list[int]:
        """The blocks that already hold the beginning of a request, up to the first key that nobody holds.

        `keys` are those of the request's full blocks, in order. The last of `num_tokens` tokens is never among
        the hits: its query must be computed for the next token to be predicted. Changes nothing.
        """
        whole("num_tokens", num_tokens, 1, BadInput)
        return self.pool.find(keys[: (num_tokens - 1) // self.block_size])

    def can_admit(self, num_tokens: int, keys: list | tuple = (), *, num_more_blocks: int = 0) -> bool:
        """Whether `admit` would succeed now: all blocks of the request at once, or none; and leave `num_more_blocks`
        free ones after it, for the sequences that are forked from it."""
        whole("num_more_blocks", num_more_blocks, 0, BadInput)
        return self._fits_now(num_tokens, self.cached_prefix(num_tokens, keys), num_more_blocks)

    def admit(self, seq_id: object, num_tokens: int, keys: list | tuple = ()) -> int:
        """Give `seq_id` a table for `num_tokens` tokens; returns how many of them are already in the cache.

        Raises RequestTooLarge if they can never fit, OutOfBlocks if they do not fit now.
        """
        self._check_unused(seq_id)
        self.check_fits(num_tokens)
        hits = self.cached_prefix(num_tokens, keys)
        if not self._fits_now(num_tokens, hits):
            raise OutOfBlocks(
                f"sequence {seq_id!r} needs {self.blocks_for(num_tokens) - len(hits)} new blocks; of the "
                f"{self.pool.num_free} free ones {self._num_waiting(hits)} hold its own beginning and "
                f"{self._kept_back()} are kept back; admit it later"
            )
        return self._open_table(seq_id, num_tokens, hits)

    def _open_table(self, seq_id: object, num_tokens: int, hits: list[int]) -> int:
        self.pool.share(real(hits))  # before taking: a block taken first could evict a hit
        taken = self.pool.take(self.blocks_for(num_tokens) - len(hits))
        self._tables[seq_id] = table = BlockTable(self.block_size, hits + taken, num_tokens, len(hits))
        table.writable_to = len(table.blocks) * self.block_size
        return len(hits) * self.block_size

    def can_append(self, seq_ids: list) -> bool:
        """Whether each of these sequences could get room for one more token now."""
        return growth([self.table(seq_id) for seq_id in seq_ids], self.pool.ref_counts) <= self.pool.num_free

    def append(self, seq_id: object, num_tokens: int = 1) -> tuple[int, int] | None:
        """Make room for the next `num_tokens` tokens of `seq_id`.

        Returns None, or the (source, target) blocks that must be copied before the tokens are written: the last
        block was shared and had room, so the sequence goes on in a copy of its own (copy-on-write, section 4.4).
        Raises OutOfBlocks if the pool has too few free blocks now.
        """
        table = self._tables.get(seq_id) or self.table(seq_id)
        if type(num_tokens) is not int or num_tokens < 1:
            whole("num_tokens", num_tokens, 1, BadInput)
        if table.num_tokens + num_tokens <= table.writable_to:
            table.num_tokens += num_tokens
            return None
        return self._append_with_blocks(table, num_tokens)

    def _append_with_blocks(self, table: BlockTable, num_tokens: int) -> tuple[int, int] | None:
        """As `append`, where the last block is full or may be another sequence's, too."""
        room = len(table.blocks) * self.block_size - table.num_tokens
        copies_tail = room > 0 and self.pool.ref_counts[table.blocks[-1]] > 1
        taken = self.pool.take(-((room - num_tokens) // self.block_size) + copies_tail)
        copy = None
        if copies_tail:
            copy = (table.blocks[-1], taken[0])
            self.pool.release([table.blocks.pop()])
        table.blocks += taken
        table.num_tokens += num_tokens
        table.writable_to = len(table.blocks) * self.block_size
        return copy

    def append_each(self, seq_ids: list) -> list[tuple[int, int] | None]:
        """Make room for one more token of each of these sequences, in turn -> what `append` returns for each.

        One call for all that decode together. Where no block is left for one of them, the list ends before it.
        """
        tables, copies = self._tables, []  # type: dict[object, BlockTable], list[tuple[int, int] | None]
        for seq_id in seq_ids:
            table = tables.get(seq_id) or self.table(seq_id)
            copy = None
            if table.num_tokens < table.writable_to:
                table.num_tokens += 1
            else:
                try:
                    copy = self._append_with_blocks(table, 1)
                except OutOfBlocks:
                    break
            copies.append(copy)
        return copies

    def fork(self, parent_id: object, child_id: object, num_blocks: int | None = None) -> None:
        """Give `child_id` a table of its own that names the blocks of `parent_id`: all, or the first `num_blocks`.

        Raises BadInput if those are not full blocks of the parent's.
        """
        parent = self.table(parent_id)
        self._check_unused(child_id)
        blocks, num_tokens = list(parent.blocks), parent.num_tokens
        if num_blocks is not None:
            num_tokens = whole("num_blocks", num_blocks, 0, BadInput) * self.block_size
            blocks = blocks[:num_blocks]
            if num_tokens > parent.num_tokens:
                raise BadInput(f"{num_blocks} full blocks of {parent_id!r} are wanted; it has {parent}")
        self.pool.share(real(blocks))
        parent.writable_to = 0
        self._tables[child_id] = BlockTable(self.block_size, blocks, num_tokens, min(parent.num_keyed, len(blocks)))

    def publish(self, seq_id: object, keys: list) -> None:
        """Let later requests find the first `len(keys)` blocks of `seq_id`, once their contents are computed."""
        table = self._table_with_full_blocks(seq_id, len(keys))
        start = table.num_keyed
        if start < len(keys):
            self.pool.set_keys(table.blocks[start : len(keys)], keys[start:])
            table.num_keyed = len(keys)

    def free(self, seq_id: object) -> None:
        """Take back everything `seq_id` holds, its last block first.

        So a cached block is evicted before the blocks it continues, which stay findable without it.
        """
        blocks = self.table(seq_id).blocks
        del self._tables[seq_id]
        self.pool.release(real(blocks[::-1]))

    def reset_cache(self) -> None:
        """Forget every key, as after the model's weights have changed. Raises BlocksInUse while any is used."""
        self.pool.forget()

    def _table_with_full_blocks(self, seq_id: object, num_keys: int) -> BlockTable:
        table = self.table(seq_id)
        full = table.num_tokens // self.block_size
        if num_keys > full:
            raise BadInput(f"{num_keys} keys given, sequence {seq_id!r} has {full} full blocks; only those have keys")
        return table

    def _check_unused(self, seq_id: object) -> None:
        try:
            hash(seq_id)
        except TypeError:
            raise BadInput(f"the id {seq_id!r:.80} cannot be hashed; give a text or a number") from None
        if seq_id in self:
            raise BadInput(f"sequence {seq_id!r} already holds memory; free it first or choose another id")

    def _fits_now(self, num_tokens: int, hits: list[int], num_more_blocks: int = 0) -> bool:
        available = self.pool.num_free - self._num_waiting(hits) - self._kept_back()
        return self.blocks_for(num_tokens) - len(hits) + num_more_blocks <= available

    def _num_waiting(self, hits: list[int]) -> int:
        return self.pool.num_cached(hits)  # free now, but not once they are shared

    def _kept_back(self) -> int:
        return self._reserve if self._tables else 0


def growth(tables: list[BlockTable], ref_counts: list[int]) -> int:
    """How many free blocks it takes to give each of these sequences room for one more token.

    One for each full table; and of the tables that share a last block with room, all but one need a copy of their
    own, or all of them if another sequence holds the block, too.
    """
    num_full = sum(table.room == 0 for table in tables)
    lasts = [table.blocks[-1] for table in tables if table.room]
    return num_full + sum(min(lasts.count(block), ref_counts[block] - 1) for block in set(lasts))
