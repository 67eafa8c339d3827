"""A block manager whose cache is a radix tree: beginnings are found by comparing what blocks hold, not by a hash."""

from kvlib.memory.manager import BlockManager
from kvlib.memory.pool import BlockPool
from kvlib.memory.radix import Insertion, RadixCache
from kvlib.memory.radix_tree import Node, ancestor, num_equal


class TreePool(BlockPool):
    """A pool that shares its blocks with a tree: a block's count is the tables that name it, and one for the tree.

    What only the tree holds is free as long as the tree can evict it, and is handed out when nothing else is left.
    """

    def __init__(self, num_blocks: int, tree: RadixCache) -> None:
        super().__init__(num_blocks)
        self.tree = tree

    @property
    def num_free(self) -> int:
        """Blocks that can be handed out now, the cached ones included."""
        return len(self._free) + self.tree.num_evictable

    def take(self, count: int) -> list[int]:
        """As BlockPool.take; evicts from the tree what is missing."""
        missing = count - len(self._free)
        if not 0 < missing <= self.tree.num_evictable:
            return super().take(count)
        return super().take(count - missing) + self.tree.evict(missing)  # the tree's count is the taker's from now on

    def find(self, keys: list | tuple) -> list[int]:
        """The blocks on the path that `keys` make from the root, as far as the tree has it. Changes nothing."""
        return self.tree.find(keys)

    def num_cached(self, blocks: list[int]) -> int:
        """How many of `blocks` wait in the tree, named by no table, to be used again or evicted."""
        return sum(self.ref_counts[block] == 1 and block in self.tree for block in blocks)

    def forget(self) -> None:
        """Empty the tree, as after the model's weights have changed. Raises BlocksInUse while a block is used."""
        super().forget()
        self.release(self.tree.evict(self.tree.num_evictable))


class RadixManager(BlockManager):
    """Used as BlockManager is. A block is a page of the tree, and shared in whole; with one token a block, the
    default, requests share every token that they have in common.

    `keys` has one key for each full block: what it holds, such as its token ids (see PageKeys). The tree chains them
    itself, so keys that are chained already, as those of PrefixKeys, do as well. Of two blocks with one content one
    is kept: `publish` may change tables. Admission, publication and `free` make the blocks they name the last used;
    `cached_prefix`, `can_admit` and a refused admission change nothing.

    After SGLang's radix cache (Zheng et al., NeurIPS 2024, section 3).
    """

    def __init__(self, num_blocks: int, block_size: int = 1, *, watermark: float = 0.0) -> None:
        super().__init__(num_blocks, block_size, watermark=watermark)
        self.tree = RadixCache()
        self.pool: TreePool = TreePool(num_blocks, self.tree)
        self._ends: dict[object, Node] = {}  # sequence -> the locked node at which the tree's part of its table ends

    def admit(self, seq_id: object, num_tokens: int, keys: list | tuple = ()) -> int:
        """As BlockManager.admit."""
        hits = self.cached_prefix(num_tokens, keys)
        if seq_id in self or not self._fits_now(num_tokens, hits):
            return super().admit(seq_id, num_tokens, keys)  # which raises, and says why
        end = self.tree.match_prefix(keys[: len(hits)]).node
        self.tree.lock(end)  # before taking: a block taken first could evict a hit
        self._ends[seq_id] = end
        return self._open_table(seq_id, num_tokens, hits)

    def fork(self, parent_id: object, child_id: object, num_blocks: int | None = None) -> None:
        """As BlockManager.fork."""
        super().fork(parent_id, child_id, num_blocks)
        end = ancestor(self._ends[parent_id], self.table(child_id).num_keyed)
        self.tree.lock(end)
        self._ends[child_id] = end

    def publish(self, seq_id: object, keys: list) -> None:
        """As BlockManager.publish. Blocks whose content the tree has already are freed, and the table of every
        sequence that names them, of `seq_id` and of its forks, names the tree's blocks from then on."""
        table = self._table_with_full_blocks(seq_id, len(keys))
        start = table.num_keyed
        if start < len(keys):
            self.pool.check_keys(keys[start:])
            own = table.blocks[start : len(keys)]
            naming = self._naming(own[0], start) if self.pool.ref_counts[own[0]] > 1 else [seq_id]
            inserted = self.tree.insert(keys[start:], own, after=self._ends[seq_id])
            self.pool.share(own[inserted.num_known :])  # the tree's count
            for other in naming:
                self._hand_over(other, own, inserted)

    def free(self, seq_id: object) -> None:
        """As BlockManager.free. What was not published is gone; the rest stays in the tree until it is evicted."""
        super().free(seq_id)
        self.tree.unlock(self._ends.pop(seq_id))

    def _naming(self, block: int, index: int) -> list[object]:
        """The sequences whose logical block `index` is `block`: after a fork there may be several."""
        return [seq_id for seq_id, table in self._tables.items() if table.blocks[index : index + 1] == [block]]

    #                    0             num_keyed      + num_known            stop                   end
    #   the table        |-- the tree's --|-- duplicates --|-- new content --|-- not published yet --|
    #   from now on      |------------------ the tree's -------------------|-- not published yet --|
    #   given back                        |-- duplicates --|
    #
    # A fork names part of `own` only, up to where it parted: its `stop` and its lock end there.
    def _hand_over(self, seq_id: object, own: list[int], inserted: Insertion) -> None:
        """Let a table that names blocks of `own`, from its first on, name the tree's blocks of the same content."""
        table = self._tables[seq_id]
        start = table.num_keyed
        stop = start + num_equal(table.blocks[start : start + len(own)], own)
        num_duplicates = min(inserted.num_known, stop - start)
        self.pool.share(inserted.blocks[:num_duplicates])
        self.pool.release(own[:num_duplicates])
        table.blocks[start:stop] = inserted.blocks[: stop - start]
        table.num_keyed = stop
        end = ancestor(inserted.node, stop)
        self.tree.lock(end, above=self._ends[seq_id])
        self._ends[seq_id] = end
