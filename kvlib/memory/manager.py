"""The block manager: gives blocks to sequences, shares them, copies on write, takes them back."""

from kvlib.checks import whole
from kvlib.errors import BadConfig, BadInput, OutOfBlocks, RequestTooLarge, UnknownSequence
from kvlib.memory.pool import BlockPool
from kvlib.memory.table import BlockTable


class BlockManager:
    """Block tables over one pool of `num_blocks` blocks of `block_size` tokens each.

    `watermark` is the share of the pool, 0 to below 1, that an admission must leave free while another
    sequence holds memory; it keeps room for those to grow (vLLM's default is 0).
    Bookkeeping only: the tensors belong to whoever reads the tables. A call that raises has changed nothing.

    After Kwon et al., SOSP 2023, sections 4.2 to 4.5, and the block manager of vLLM.
    """

    def __init__(self, num_blocks: int, block_size: int, *, watermark: float = 0.0) -> None:
        if not isinstance(watermark, int | float) or not 0 <= watermark < 1:
            raise BadConfig(f"watermark is {watermark!r}; it is a share of the pool, from 0 to below 1")
        self.block_size = whole("block_size", block_size)
        self.pool = BlockPool(num_blocks)
        self._reserve = int(watermark * num_blocks)
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
        if seq_id not in self._tables:
            raise UnknownSequence(f"no sequence {seq_id!r} holds memory here; those that do: {self.sequences[:8]}")
        return self._tables[seq_id]

    def blocks_for(self, num_tokens: int) -> int:
        """How many blocks `num_tokens` tokens, 1 or more, fill, the last perhaps in part."""
        whole("num_tokens", num_tokens, 1, BadInput)
        return -(-num_tokens // self.block_size)

    def check_fits(self, num_tokens: int) -> None:
        """Raise RequestTooLarge if `num_tokens` tokens do not fit even in the empty pool."""
        needed = self.blocks_for(num_tokens)
        if needed > self.pool.num_blocks:
            raise RequestTooLarge(
                f"{num_tokens} tokens need {needed} blocks of {self.block_size}, the pool has {self.pool.num_blocks}; "
                f"shorten the request or give the pool at least {needed} blocks"
            )

    def cached_prefix(self, num_tokens: int, keys: list[object] | tuple[()]) -> list[int]:
        """The blocks that already hold the beginning of a request, up to the first key that nobody holds.

        `keys` are those of the request's full blocks, in order. The last of `num_tokens` tokens is never among
        the hits: its query must be computed for the next token to be predicted. Changes nothing.
        """
        whole("num_tokens", num_tokens, 1, BadInput)
        hits = []
        for key in keys[: (num_tokens - 1) // self.block_size]:
            block = self.pool.find(key)
            if block is None:
                break
            hits.append(block)
        return hits

    def can_admit(self, num_tokens: int, keys: list[object] | tuple[()] = ()) -> bool:
        """Whether `admit` would succeed now: all blocks of the request at once, or none."""
        return self._fits_now(num_tokens, self.cached_prefix(num_tokens, keys))

    def admit(self, seq_id: object, num_tokens: int, keys: list[object] | tuple[()] = ()) -> int:
        """Give `seq_id` a table for `num_tokens` tokens; returns how many of them are already in the cache.

        Raises RequestTooLarge if they can never fit, OutOfBlocks if they do not fit now.
        """
        if seq_id in self._tables:
            raise BadInput(f"sequence {seq_id!r} already holds memory; free it first or choose another id")
        self.check_fits(num_tokens)
        hits = self.cached_prefix(num_tokens, keys)
        if not self._fits_now(num_tokens, hits):
            raise OutOfBlocks(
                f"sequence {seq_id!r} needs {self.blocks_for(num_tokens) - len(hits)} new blocks; of the "
                f"{self.pool.num_free} free ones {self._num_waiting(hits)} hold its own beginning and "
                f"{self._kept_back()} are kept back; admit it later"
            )
        self.pool.share(hits)  # before taking: a block taken first could evict a hit
        taken = self.pool.take(self.blocks_for(num_tokens) - len(hits))
        self._tables[seq_id] = BlockTable(self.block_size, hits + taken, num_tokens)
        return len(hits) * self.block_size

    def append(self, seq_id: object, num_tokens: int = 1) -> tuple[int, int] | None:
        """Make room for the next `num_tokens` tokens of `seq_id`.

        Returns None, or the (source, target) blocks that must be copied before the tokens are written: the last
        block was shared and had room, so the sequence goes on in a copy of its own (copy-on-write, section 4.4).
        Raises OutOfBlocks if the pool has too few free blocks now.
        """
        table = self.table(seq_id)
        whole("num_tokens", num_tokens, 1, BadInput)
        room = table.room
        copies_tail = room > 0 and self.pool.ref_counts[table.blocks[-1]] > 1
        if num_tokens <= room and not copies_tail:
            table.num_tokens += num_tokens
            return None
        taken = self.pool.take(self.blocks_for(table.num_tokens + num_tokens) - len(table.blocks) + copies_tail)
        copy = None
        if copies_tail:
            copy = (table.blocks[-1], taken[0])
            self.pool.release([table.blocks.pop()])
        table.blocks += taken
        table.num_tokens += num_tokens
        return copy

    def fork(self, parent_id: object, child_id: object) -> None:
        """Give `child_id` a table of its own that names the same blocks as `parent_id`'s."""
        parent = self.table(parent_id)
        if child_id in self._tables:
            raise BadInput(f"sequence {child_id!r} already holds memory; fork into an id that is not in use")
        self.pool.share(parent.blocks)
        self._tables[child_id] = BlockTable(self.block_size, list(parent.blocks), parent.num_tokens)

    def publish(self, seq_id: object, keys: list[object]) -> None:
        """Let later requests find the first `len(keys)` blocks of `seq_id`, once their contents are computed."""
        table = self.table(seq_id)
        if len(keys) * self.block_size > table.num_tokens:
            full = table.num_tokens // self.block_size
            raise BadInput(f"{len(keys)} keys given, sequence {seq_id!r} has {full} full blocks; only those have keys")
        for key in keys:
            self.pool.check_key(key)
        for block, key in zip(table.blocks, keys):
            if self.pool.keys[block] is None:
                self.pool.set_key(block, key)

    def free(self, seq_id: object) -> None:
        """Take back everything `seq_id` holds, its last block first.

        So a cached block is evicted before the blocks it continues, which stay findable without it.
        """
        blocks = self.table(seq_id).blocks
        del self._tables[seq_id]
        self.pool.release(blocks[::-1])

    def _fits_now(self, num_tokens: int, hits: list[int]) -> bool:
        available = self.pool.num_free - self._num_waiting(hits) - self._kept_back()
        return self.blocks_for(num_tokens) - len(hits) <= available

    def _num_waiting(self, hits: list[int]) -> int:
        return sum(self.pool.is_cached(block) for block in hits)  # free now, but not once they are shared

    def _kept_back(self) -> int:
        return self._reserve if self._tables else 0
