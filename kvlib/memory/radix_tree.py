"""The shape of a radix tree: runs of pages from a root, walked, and split where two of them part."""

from kvlib.errors import BadInput


class Node:
    """A run of pages with the block of each, and the runs that continue it. Only the cache it is part of changes it.

    A page is what one block holds: one token, or the few tokens that are shared only together. `stop` is the number
    of pages from the root to the end of this run. `last_use` is an age, and `num_locks` says who needs the node:
    see RadixCache.
    """

    __slots__ = ("blocks", "children", "is_queued", "last_use", "num_locks", "pages", "parent", "stop")

    def __init__(self, parent: "Node | None" = None, pages: tuple | list = (), blocks: tuple | list = ()) -> None:
        self.parent: Node = parent or self  # a root is its own parent
        self.pages = list(pages)
        self.blocks: list[int] = list(blocks)
        self.children: dict[object, Node] = {}  # the first page of a child -> the child
        self.stop = len(self.pages)
        self.num_locks = 0
        self.last_use = 0
        self.is_queued = False
        if parent is not None:
            self.stop += parent.stop
            parent.children[self.pages[0]] = self

    def extend(self, pages: list | tuple, blocks: list[int]) -> None:
        """Continue the run of a leaf."""
        self.pages += pages
        self.blocks += blocks
        self.stop += len(blocks)

    def __repr__(self) -> str:
        return f"Node({self.stop} pages from the root, the last {len(self.pages)} in blocks {self.blocks})"


def walk(node: Node, pages: list) -> tuple[Node, list[int]]:
    """Go down from `node` as far as `pages` agree -> the last node reached, perhaps in part, and the blocks passed."""
    blocks: list[int] = []
    while len(blocks) < len(pages) and pages[len(blocks)] in node.children:
        node = node.children[pages[len(blocks)]]
        same = num_equal(node.pages, pages[len(blocks) : len(blocks) + len(node.pages)])
        blocks += node.blocks[:same]
        if same < len(node.pages):
            break
    return node, blocks


def upward(node: Node, above: Node) -> list[Node]:
    """The nodes from `node` up to `above`, without `above`. Raises BadInput if the path to `node` leads past it."""
    path: list[Node] = []
    while node is not above:
        if node.parent is node:
            raise BadInput(f"{above} is not on the path to {path[:1] or node}; give a node that it continues")
        path.append(node)
        node = node.parent
    return path


def ancestor(node: Node, stop: int) -> Node:
    """The node at which the first `stop` pages of the path to `node` end, split off if they end inside a run."""
    while node.parent.stop >= stop and node.parent is not node:
        node = node.parent
    return node if node.stop == stop else split(node, stop)


#   split(node, 5):    parent ──[ a b c d e ]── node    becomes    parent ──[ a b c ]── upper ──[ d e ]── node
#   stop                 2                       7                   2                    5                7
#   blocks                      7 8 9 4 1                                   7 8 9                  4 1
#   locks, last use              3,   11                                    3,  11                3,  11
#
# `node` stays the lower one: who locked the whole run gives the lock back there, and passes `upper` on the way up.
def split(node: Node, stop: int) -> Node:
    """Divide the run of `node` after page `stop`, counted from the root -> the new node that has the upper part."""
    cut = stop - node.parent.stop
    upper = Node(node.parent, node.pages[:cut], node.blocks[:cut])
    upper.num_locks, upper.last_use = node.num_locks, node.last_use
    node.pages, node.blocks, node.parent = node.pages[cut:], node.blocks[cut:], upper
    upper.children[node.pages[0]] = node
    return upper


def num_equal(one: list, other: list) -> int:
    """How many entries two lists have in common from their start on."""
    if one == other:
        return len(one)
    for index, (left, right) in enumerate(zip(one, other)):
        if left != right:
            return index
    return min(len(one), len(other))
