"""Sliding windows: a model that looks back only so far needs no blocks from before that."""

from kvlib.checks import whole
from kvlib.errors import BadInput
from kvlib.memory.manager import BlockManager
from kvlib.memory.pool import NULL_BLOCK, real


class WindowBlockManager(BlockManager):
    """A BlockManager for layers in which a token attends to the last `window` tokens, itself among them.

    Blocks that no token to come can see are given back; the null block holds their place in the table, so that
    positions keep their index (vLLM's sliding-window manager).
    """

    def __init__(self, num_blocks: int, block_size: int, *, window: int, watermark: float = 0.0) -> None:
        super().__init__(num_blocks, block_size, watermark=watermark)
        self.window = whole("window", window)

    def slide(self, seq_id: object, num_computed: int) -> list[int]:
        """Let go of the blocks that are out of sight once the first `num_computed` tokens are computed.

        Returns the blocks let go, the last first. Raises BadInput if so many tokens are not stored.
        """
        table = self.table(seq_id)
        if whole("num_computed", num_computed, 0, BadInput) > table.num_tokens:
            raise BadInput(f"num_computed is {num_computed}; {seq_id!r} has stored {table.num_tokens} tokens")
        num_hidden = max(0, num_computed - self.window + 1) // self.block_size
        gone = real(table.blocks[:num_hidden][::-1])
        table.blocks[:num_hidden] = [NULL_BLOCK] * num_hidden
        self.pool.release(gone)
        return gone

    def cached_prefix(self, num_tokens: int, keys: list | tuple) -> list[int]:
        """As BlockManager.cached_prefix, but only the last window of a beginning needs to be there.

        The null block stands for what lies before that. The longest beginning is looked for first.
        """
        whole("num_tokens", num_tokens, 1, BadInput)
        wanted = max(1, -(-(self.window - 1) // self.block_size))  # blocks that the next token can see
        found = [self.pool.find([key]) for key in keys[: (num_tokens - 1) // self.block_size]]
        for stop in range(len(found), 0, -1):
            seen = found[max(0, stop - wanted) : stop]
            if all(seen):
                return [NULL_BLOCK] * (stop - len(seen)) + [block for [block] in seen]
        return []
