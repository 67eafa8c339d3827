"""The pool of physical blocks: which block is handed out next, and how many table entries name each one."""

from collections import OrderedDict

from kvlib.checks import whole
from kvlib.errors import BadInput, DoubleFree, OutOfBlocks

NULL_BLOCK = 0


class BlockPool:
    """`num_blocks` equal blocks, numbered 1 to `num_blocks`.

    Number 0 is the null block: a placeholder for padding that is never handed out, counted or freed.
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
        self.num_blocks = whole("num_blocks", num_blocks)
        self.ref_counts = [0] * (num_blocks + 1)
        self.keys: list[object] = [None] * (num_blocks + 1)
        self._free = list(range(num_blocks, 0, -1))  # a stack: the end is handed out next
        self._cached: OrderedDict[int, None] = OrderedDict()  # a queue: the beginning is evicted next
        self._holders: dict[object, list[int]] = {}  # key -> every block that holds it

    @property
    def num_free(self) -> int:
        """Blocks that can be handed out now, the cached ones included."""
        return len(self._free) + len(self._cached)

    def take(self, count: int) -> list[int]:
        """Hand out `count` blocks, each with reference count 1. Raises OutOfBlocks and changes nothing if too few."""
        whole("count", count, 0, BadInput)
        if count > self.num_free:
            raise OutOfBlocks(
                f"{count} blocks wanted, {self.num_free} of {self.num_blocks} are free; free a sequence first"
            )
        taken = []
        for _ in range(count):
            block = self._free.pop() if self._free else self._evict()
            self.ref_counts[block] = 1
            taken.append(block)
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
        unnamed = []
        for done, block in enumerate(blocks):
            if self.ref_counts[block] == 0:
                for earlier in blocks[:done]:
                    self.ref_counts[earlier] += 1
                raise DoubleFree(f"block {block} is released more often than tables name it; nothing was released")
            self.ref_counts[block] -= 1
            if self.ref_counts[block] == 0:
                unnamed.append(block)
        for block in unnamed:
            if self.keys[block] is None:
                self._free.append(block)
            else:
                self._cached[block] = None
        return unnamed

    def set_key(self, block: int, key: object) -> None:
        """Give a used block without a key the `key` of its contents. Several blocks may hold one key."""
        self._check_blocks([block])
        self.check_key(key)
        if self.ref_counts[block] == 0 or self.keys[block] is not None:
            raise BadInput(f"block {block} has the key {self.keys[block]!r}; only a used block without a key takes one")
        self.keys[block] = key
        self._holders.setdefault(key, []).append(block)

    def find(self, key: object) -> int | None:
        """The first block that holds `key`, used or cached; None if there is none. Changes nothing."""
        self.check_key(key)
        holders = self._holders.get(key)
        return holders[0] if holders else None

    def check_key(self, key: object) -> None:
        """Raise BadInput unless `key` can stand for the contents of a block: hashable, and not None."""
        try:
            hash(key)
        except TypeError:
            raise BadInput(f"the key {key!r} cannot be hashed; give bytes, a text or a tuple") from None
        if key is None:
            raise BadInput("a key is None, which means no key here; give bytes, a text or a tuple")

    def is_cached(self, block: int) -> bool:
        """Whether `block` waits, unnamed but with its key, to be used again or evicted."""
        return block in self._cached

    def _check_blocks(self, blocks: list[int]) -> None:
        if blocks and not (min(blocks) >= 0 and max(blocks) <= self.num_blocks):
            raise BadInput(f"{blocks} names a block that is not here; the pool has blocks 1 to {self.num_blocks}")

    def _evict(self) -> int:
        block = next(iter(self._cached))
        del self._cached[block]
        holders = self._holders[self.keys[block]]
        holders.remove(block)
        if not holders:
            del self._holders[self.keys[block]]
        self.keys[block] = None
        return block
