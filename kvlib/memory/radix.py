"""A cache of everything computed, as a radix tree: requests that begin alike share one path from its root.

Nothing is hashed into a chain: a beginning is a path, and its pages are compared themselves. After RadixAttention
(Zheng et al., "SGLang", NeurIPS 2024, section 3).
"""

from collections import namedtuple
from heapq import heappop, heappush

from kvlib.checks import whole
from kvlib.errors import BadInput, DoubleFree, OutOfBlocks
from kvlib.memory.radix_tree import Node, ancestor, upward, walk


class Match(namedtuple("Match", ("blocks", "node"))):
    """The cached beginning of a request: the block of each of its pages, and the node at which it ends."""

    __slots__ = ()
    blocks: list[int]
    node: Node


class Insertion(namedtuple("Insertion", ("blocks", "num_known", "node"))):
    """The tree's block for each page given, how many of the pages it had before, and the node at which they end."""

    __slots__ = ()
    blocks: list[int]
    num_known: int
    node: Node


class RadixCache:
    """What is cached: each page, a hashable value, with the number of the block that holds it.

    `num_evictable` and `num_protected` count the blocks without and with a lock: together, the tree. A lock on a node
    protects the whole path to it. What has no lock is evicted from the leaves up, the one used longest ago first.
    A match, an insertion and the return of a lock are a use of the node at which they end; `find` is none. The nodes
    above need no note of it: a parent becomes a leaf when its last child goes, and that was the oldest leaf.
    A call that raises has changed nothing.
    """

    def __init__(self) -> None:
        self.root = Node()
        self.num_evictable = 0
        self.num_protected = 0
        self._held: set[int] = set()
        self._clock = 0
        self._leaves: list[tuple[int, int, Node]] = []  # a heap: (last use, a number of its own, node)

    def __contains__(self, block: int) -> bool:
        """Whether the tree holds `block`."""
        return block in self._held

    def find(self, pages: list | tuple) -> list[int]:
        """The blocks of the longest cached beginning of `pages`. Changes nothing, not even an age."""
        return self._walk(self.root, pages)[1]

    def match_prefix(self, pages: list | tuple) -> Match:
        """As `find`, with the node at which the beginning ends; a run it ends inside of is split there.

        Lock the node before anything is evicted: until then nothing protects it.
        """
        node, blocks = self._walk(self.root, pages)
        end = ancestor(node, len(blocks))
        self._touch(end)
        return Match(blocks, end)

    def insert(self, pages: list | tuple, blocks: list[int], after: Node | None = None) -> Insertion:
        """Add `pages`, one block each, below the root or below `after`, a node that the caller has locked.

        For pages that are there already the tree keeps its own blocks: those given are the caller's to free, once
        every table that names them names the tree's. A leaf `after` that nobody else has locked grows longer, and
        the lock with it. Raises BadInput for a new block that is in the tree already.
        """
        start = after or self.root
        self._check_here(start)
        if len(pages) != len(blocks):
            raise BadInput(f"{len(pages)} pages and {len(blocks)} blocks were given; each page has one block")
        _check_hashable(pages)
        node, known = self._walk(start, pages)
        new = blocks[len(known) :]
        if not self._held.isdisjoint(new) or len(set(new)) < len(new):
            raise BadInput(f"one of {new} would be in the tree twice; a block holds one page, in one place")
        end = ancestor(node, start.stop + len(known))
        if new and end is after and after.num_locks == 1 and not after.children:
            after.extend(pages[len(known) :], new)
            self.num_protected += len(new)
        elif new:
            end = Node(end, pages[len(known) :], new)
            self.num_evictable += len(new)
        self._held.update(new)
        self._touch(end)
        self._queue(end)
        return Insertion(known + new, len(known), end)

    def lock(self, node: Node, above: Node | None = None) -> None:
        """Protect the path to `node`: one lock more on every node of it, up to the root.

        With `above`, a node of that path which the caller has locked, that lock moves down to `node`.
        """
        self._check_here(node)
        for each in upward(node, above or self.root):
            if each.num_locks == 0:
                self._count_protected(len(each.blocks))
            each.num_locks += 1

    def unlock(self, node: Node) -> None:
        """Give a lock on `node` back. Raises DoubleFree if it has none."""
        if node.num_locks == 0 and node is not self.root:
            raise DoubleFree(f"{node} has no lock to give back; unlock it once for every lock")
        for each in upward(node, self.root):
            each.num_locks -= 1
            if each.num_locks == 0:
                self._count_protected(-len(each.blocks))
        self._touch(node)
        self._queue(node)

    def evict(self, num: int) -> list[int]:
        """Drop exactly `num` pages that have no lock -> their blocks, from leaf to leaf, the end of each run first.

        A node whose last child is gone is a leaf from then on. Raises OutOfBlocks if too few have no lock.
        """
        if whole("num", num, 0, BadInput) > self.num_evictable:
            raise OutOfBlocks(
                f"{num} blocks are to be evicted, {self.num_evictable} have no lock and {self.num_protected} have one; "
                f"free a sequence first"
            )
        evicted: list[int] = []
        while len(evicted) < num:
            evicted += self._trim(self._oldest_leaf(), num - len(evicted))
        self._held.difference_update(evicted)
        self.num_evictable -= num
        return evicted

    def _walk(self, node: Node, pages: list | tuple) -> tuple[Node, list[int]]:
        try:
            return walk(node, list(pages))
        except TypeError:
            _check_hashable(pages)
            raise

    def _touch(self, node: Node) -> None:
        self._clock += 1
        node.last_use = self._clock

    def _count_protected(self, num_blocks: int) -> None:
        self.num_protected += num_blocks
        self.num_evictable -= num_blocks

    def _queue(self, node: Node) -> None:
        """Let `node` wait for its eviction, once, if it is a leaf without a lock."""
        if not (node.children or node.num_locks or node.is_queued or node is self.root):
            node.is_queued = True
            self._clock += 1
            heappush(self._leaves, (node.last_use, self._clock, node))

    def _oldest_leaf(self) -> Node:
        """Take the leaf without a lock that was used longest ago out of the queue."""
        while True:
            last_use, _, node = heappop(self._leaves)
            node.is_queued = False
            if last_use == node.last_use and not node.children and not node.num_locks:
                return node
            self._queue(node)  # where it belongs by now, if it is such a leaf still

    def _trim(self, leaf: Node, most: int) -> list[int]:
        """Cut up to `most` pages off the end of a leaf that is not queued -> their blocks, the last first."""
        kept = max(0, len(leaf.pages) - most)
        cut = leaf.blocks[kept:][::-1]
        if kept:
            del leaf.pages[kept:], leaf.blocks[kept:]
            leaf.stop -= len(cut)
            self._queue(leaf)
        else:
            del leaf.parent.children[leaf.pages[0]]
            self._queue(leaf.parent)
        return cut

    def _check_here(self, node: Node) -> None:
        if node is not self.root and node.parent.children.get(node.pages[0]) is not node:
            raise BadInput(f"{node} was evicted; match its pages again, and lock before anything is evicted")


def _check_hashable(pages: list | tuple) -> None:
    try:
        hash(tuple(pages))
    except TypeError as error:
        shown = f"{pages!r:.80}"
        raise BadInput(
            f"one of the pages {shown} cannot be looked up ({error}); give tokens, or tuples of them"
        ) from None
