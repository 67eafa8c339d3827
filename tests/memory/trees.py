"""What must hold in every radix tree, looked up from the outside."""


def nodes(tree):
    """(node, all pages from the root to its end) of every node but the root, parents first."""
    found, todo = [], [(tree.root, ())]
    while todo:
        node, path = todo.pop()
        for child in node.children.values():
            todo.append((child, path + tuple(child.pages)))
            found.append(todo[-1])
    return found


def runs(tree):
    """The runs of a tree whose pages are letters, in the order of the alphabet."""
    return sorted("".join(node.pages) for node, _ in nodes(tree))


def content(tree):
    """Every cached beginning, as the tuple of its pages -> the block of its last page."""
    return {path[: len(path) - i]: node.blocks[-1 - i] for node, path in nodes(tree) for i in range(len(node.pages))}


def check(tree):
    """The laws of the tree's shape, its counts and its locks."""
    found = nodes(tree)
    for node, path in found:
        assert len(node.pages) == len(node.blocks) > 0
        assert node.stop == len(path)
        assert node.parent.children.get(node.pages[0]) is node
        assert node.num_locks >= sum(child.num_locks for child in node.children.values())
    blocks = [block for node, _ in found for block in node.blocks]
    assert len(set(blocks)) == len(blocks), "a block is in two places"
    assert all(block in tree for block in blocks)
    assert tree.num_evictable == sum(len(node.blocks) for node, _ in found if node.num_locks == 0)
    assert tree.num_protected == sum(len(node.blocks) for node, _ in found if node.num_locks > 0)
