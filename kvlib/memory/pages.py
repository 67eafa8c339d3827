"""Keys for a radix tree: what each full block holds, as it is. The tree compares them, and chains them itself."""

from kvlib.checks import whole
from kvlib.memory.contents import packed, tagged


class Pages:
    """How the blocks of a RadixManager get their keys: `block_size` tokens a block. Used as PrefixHasher is."""

    def __init__(self, block_size: int = 1) -> None:
        self.block_size = whole("block_size", block_size)

    def start(self, **extra: str | int | bytes) -> "PageKeys":
        """The keys of one sequence, none yet. Sequences share blocks only if all of `extra` is equal: whatever else
        decides what a block holds, such as an adapter and its version, or a salt that keeps tenants apart."""
        return PageKeys(self.block_size, tagged(extra))


class PageKeys:
    """The keys of the full blocks of one sequence, extended as its tokens become known.

    With one token a block a key is the token's id, else the tuple of the block's ids. The first key holds the extra
    keys, too: whatever follows it in the tree is theirs alone. Two tuples of ids and of texts are never equal.
    """

    def __init__(self, block_size: int = 1, extra: tuple = ()) -> None:
        self.keys: list[object] = []
        self._block_size = whole("block_size", block_size)
        self._extra = extra
        self._rest: list[int] = []  # the tokens of a block that is not full yet

    @property
    def num_tokens(self) -> int:
        """How many tokens were given so far."""
        return len(self.keys) * self._block_size + len(self._rest)

    def copy(self) -> "PageKeys":
        """Keys of a sequence that has the same tokens so far and goes on by itself."""
        copied = PageKeys(self._block_size, self._extra)
        copied.keys, copied._rest = list(self.keys), list(self._rest)
        return copied

    def extend(self, token_ids: list[int]) -> None:
        """Add the next tokens of the sequence, ids of 0 to 2**32 - 1. Raises BadInput, and adds none, for another."""
        packed(token_ids)  # which raises for what is no token
        tokens = self._rest + list(token_ids)
        size = self._block_size
        num_full = len(tokens) // size * size
        pages: list[object] = list(tokens[:num_full])
        if size > 1:
            pages = [tuple(tokens[start : start + size]) for start in range(0, num_full, size)]
        if pages and self._extra and not self.keys:
            pages[0] = (self._extra, pages[0])
        self.keys += pages
        self._rest = tokens[num_full:]
