"""The pool of physical blocks: which block is handed out next, and how many table entries name each one."""

from collections import OrderedDict

from kvlib.checks import whole
from kvlib.errors import BadInput, BlocksInUse, DoubleFree, OutOfBlocks

NULL_BLOCK = 0


def real(blocks: list[int]) -> list[int]:
    """`blocks` without the null block."""
    return [block for block in blocks if block != NULL_BLOCK] if NULL_BLOCK in blocks else blocks


class BlockPool:
    """`num_blocks` equal blocks, numbered 1 to `num_blocks`.

    Number 0 is the null block: a placeholder in tables that is never handed out, counted or freed.
    Every other block is in exactly one of three states:

    ==========  ===============  ===  ====================================================
    state       reference count  key  handed out
    ==========  ===============  ===  ====================================================
    used        1 or more        any  no
    free        0                no   first, the one freed last before all others
    cached      0                yes  when no free block is left, the one freed first first
    ==========  ===============  ===  ====================================================

    A key stands for what a full block holds, so a later request with the same beginning can find it
    (vLLM docs, Automatic Prefix Caching). The pool only stores keys; it does not know how they are made.
    A cached block keeps its key until it is handed out again: handing out is what evicts.
    """

    def __init__(self, num_blocks: int) -> None:
        self.num_blocks = whole("num_blocks", num_blocks, 0)
        self.ref_counts = [0] * (num_blocks + 1)
        self.keys: list[object] = [None] * (num_blocks + 1)
        self._free = list(range(num_blocks, 0, -1))  # a stack: the end is handed out next
        self._cached: OrderedDict[int, None] = OrderedDict()  # a queue: the beginning is evicted next
        self._holder: dict[object, int] = {}  # key -> the first block that holds it
        self._later_holders: dict[object, list[int]] = {}  # key -> the others, oldest first; few keys have any

    @property
    def num_free(self) -> int:
        """Blocks that can be handed out now, the cached ones included."""
        return len(self._free) + len(self._cached)

    def take(self, count: int) -> list[int]:
        """Hand out `count` blocks, each with reference count 1. Raises OutOfBlocks and changes nothing if too few."""
        kept = len(self._free) - whole("count", count, 0, BadInput)
        if kept >= 0:
            taken = self._free[kept:][::-1]
            del self._free[kept:]
        elif -kept <= len(self._cached):
            taken = self._free[::-1] + self._evict(-kept)
            self._free.clear()
        else:
            raise OutOfBlocks(
                f"{count} blocks wanted, {self.num_free} of {self.num_blocks} are free; free a sequence first"
            )
        counts = self.ref_counts
        for block in taken:
            counts[block] = 1
        return taken

    def share(self, blocks: list[int]) -> None:
        """Count one more table entry for each of `blocks`; a cached block is used again from now on.

        Raises BadInput, and changes nothing, for a free block: what it holds stands for nothing.
        """
        self._check_blocks(blocks)
        for block in blocks:
            if self.ref_counts[block] == 0 and block not in self._cached:
                raise BadInput(f"block {block} is free; only a used or cached block can be shared")
        for block in blocks:
            if self.ref_counts[block] == 0:
                del self._cached[block]
            self.ref_counts[block] += 1

    def release(self, blocks: list[int]) -> list[int]:
        """Count one table entry less for each of `blocks`; returns those that nobody names any more.

        They become free, or cached if they have a key, in the order given. Raises DoubleFree, and changes
        nothing, if a block would be released more often than it is named.
        """
        self._check_blocks(blocks)
        counts, unnamed = self.ref_counts, []
        for done, block in enumerate(blocks):
            count = counts[block] - 1
            if count < 0:
                for earlier in blocks[:done]:
                    counts[earlier] += 1
                raise DoubleFree(f"block {block} is released more often than tables name it; nothing was released")
            counts[block] = count
            if count == 0:
                unnamed.append(block)
        keys, free, cached = self.keys, self._free, self._cached
        for block in unnamed:
            if keys[block] is None:
                free.append(block)
            else:
                cached[block] = None
        return unnamed

    def set_keys(self, blocks: list[int], keys: list) -> None:
        """Give each of the used `blocks` the key of its contents; one that has a key, or the null block, keeps it.

        Several blocks may hold one key. Raises BadInput, and sets none, for a key that cannot be one or a free block.
        """
        self.check_keys(keys)
        if len(blocks) != len(keys):
            raise BadInput(f"{len(blocks)} blocks and {len(keys)} keys were given; give one key for each block")
        counts, held, holder = self.ref_counts, self.keys, self._holder
        for block in blocks:
            if not 0 <= block <= self.num_blocks or (counts[block] == 0 and block != NULL_BLOCK):
                raise BadInput(f"block {block} is free or not here; only a used block takes a key")
        for block, key in zip(blocks, keys):
            if held[block] is None and block != NULL_BLOCK:
                held[block] = key
                if holder.setdefault(key, block) != block:
                    self._later_holders.setdefault(key, []).append(block)

    def find(self, keys: list | tuple) -> list[int]:
        """The blocks that hold `keys`, used or cached, up to the first key that nobody holds. Changes nothing."""
        found, holder = [], self._holder
        try:
            for key in keys:
                block = holder.get(key)
                if block is None:
                    self.check_keys([key])
                    break
                found.append(block)
        except TypeError:
            self.check_keys(keys)
        return found

    def check_keys(self, keys: list | tuple) -> None:
        """Raise BadInput unless each key can stand for the contents of a block: hashable, and not None."""
        keys = tuple(keys)
        try:
            hash(keys)
        except TypeError as error:
            shown = f"{keys!r:.80}"
            raise BadInput(f"one of the keys {shown} cannot be one ({error}); give bytes, texts or tuples") from None
        if None in keys:
            raise BadInput("a key is None, which means no key here; give bytes, a text or a tuple")

    def num_cached(self, blocks: list[int]) -> int:
        """How many of `blocks` wait, unnamed but with their key, to be used again or evicted."""
        cached = self._cached
        return len([block for block in blocks if block in cached])

    def forget(self) -> None:
        """Drop every key, as after the model's weights have changed. Raises BlocksInUse while a block is used."""
        if self.num_free < self.num_blocks:
            raise BlocksInUse(
                f"{self.num_blocks - self.num_free} blocks are in use; free the sequences that hold them first"
            )
        for block in self._cached:
            self.keys[block] = None
        self._free += reversed(self._cached)
        self._cached.clear()
        self._holder.clear()
        self._later_holders.clear()

    def _check_blocks(self, blocks: list[int]) -> None:
        are_whole = type(sum(blocks)) is int  # a single float would make the sum one
        if blocks and not (are_whole and min(blocks) >= 0 and max(blocks) <= self.num_blocks):
            raise BadInput(f"{blocks} names a block that is not here; the pool has blocks 1 to {self.num_blocks}")

    def _evict(self, count: int) -> list[int]:
        """Take the `count` cached blocks freed first, without what they held: their keys are forgotten."""
        cached, held, holder = self._cached, self.keys, self._holder
        oldest = iter(cached)
        evicted = [next(oldest) for _ in range(count)]
        for block in evicted:
            del cached[block]
            key = held[block]
            held[block] = None
            if key in self._later_holders:
                self._leave_to_others(key, block)
            else:
                del holder[key]
        return evicted

    def _leave_to_others(self, key: object, block: int) -> None:
        """`block` no longer holds `key`, which others hold, too: the first of them is found from now on."""
        later = self._later_holders[key]
        if self._holder[key] == block:
            self._holder[key] = later.pop(0)
        else:
            later.remove(block)
        if not later:
            del self._later_holders[key]
