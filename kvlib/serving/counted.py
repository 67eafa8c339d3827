"""Paged memory for the simulator: blocks counted, not numbered, so that an iteration costs the same for any batch.

Who gets which block decides no time and no share, so the counts are all that is kept: they are those of
`kvlib.memory.BlockManager` without sharing, iteration by iteration.
"""

from kvlib.checks import share, whole
from kvlib.errors import BadConfig, RequestTooLarge
from kvlib.serving.batch import SimulatedRequest

LARGEST_BLOCK = 1 << 20  # tokens; each offset in a block has a counter


class CountedBlocks:
    """`num_blocks` blocks of `block_size` tokens; an admission leaves the share `watermark` of them free while another
    request runs (Kwon et al., section 4.2; vLLM's block manager). Raises BadConfig for a setting out of range.
    """

    def __init__(self, num_blocks: int, block_size: int = 16, *, watermark: float = 0.01) -> None:
        self.num_blocks = whole("num_blocks", num_blocks)
        self.block_size = whole("block_size", block_size)
        if block_size > LARGEST_BLOCK:
            raise BadConfig(f"block_size is {block_size}; give at most {LARGEST_BLOCK:,} tokens a block")
        self.num_slots = num_blocks * block_size
        self.num_free_blocks = num_blocks
        self.num_unused = 0  # slots of last blocks that their requests will never fill
        self._reserve = int(share("watermark", watermark) * num_blocks)
        self._phases = [0] * block_size  # how many running requests have this offset, modulo block_size
        self._unused_from: dict[int, int] = {}  # by iteration: slots of the last blocks that are taken then

    @property
    def num_held(self) -> int:
        """Slots of all blocks that are handed out."""
        return (self.num_blocks - self.num_free_blocks) * self.block_size

    def check_fits(self, num_prompt_tokens: int, num_output_tokens: int) -> None:
        """Raise RequestTooLarge if a request could not end even in the empty memory."""
        needed = self._blocks_for(num_prompt_tokens + num_output_tokens - 1)
        if needed > self.num_blocks:
            raise RequestTooLarge(
                f"{num_prompt_tokens} + {num_output_tokens} tokens need {needed} blocks of {self.block_size}, the "
                f"memory has {self.num_blocks}; shorten the request or give the memory at least {needed} blocks"
            )

    def can_admit(self, request: SimulatedRequest) -> bool:
        """Whether the blocks for all known tokens are free, and those kept back beside them."""
        kept_back = self._reserve if self.num_free_blocks < self.num_blocks else 0
        return self._blocks_for(request.num_tokens) + kept_back <= self.num_free_blocks

    def admit(self, request: SimulatedRequest) -> None:
        """Take the blocks for a request that the batch has just started."""
        self.num_free_blocks -= self._blocks_for(request.num_tokens)
        self._phases[request.offset % self.block_size] += 1
        unused = self._last_block_unused(request)
        if self._is_in_last_block(request, request.num_tokens):
            self.num_unused += unused
        else:
            taken_in = self._last_block_taken_in(request)
            self._unused_from[taken_in] = self._unused_from.get(taken_in, 0) + unused

    def is_short(self, iteration: int) -> bool:
        """Whether the running requests need more new blocks in this iteration than are free."""
        return self._num_wanted(iteration) > self.num_free_blocks

    def grow(self, iteration: int) -> None:
        """Give a block to each running request whose last one is full."""
        self.num_free_blocks -= self._num_wanted(iteration)
        self.num_unused += self._unused_from.pop(iteration, 0)

    def free(self, request: SimulatedRequest, num_stored: int) -> None:
        """Take back the blocks of a request that stores `num_stored` tokens."""
        self.num_free_blocks += self._blocks_for(num_stored)
        self._phases[request.offset % self.block_size] -= 1
        unused = self._last_block_unused(request)
        if self._is_in_last_block(request, num_stored):
            self.num_unused -= unused
        else:
            self._unused_from[self._last_block_taken_in(request)] -= unused

    def _num_wanted(self, iteration: int) -> int:
        return self._phases[(1 - iteration) % self.block_size]  # the new token is the first of a block

    def _blocks_for(self, num_tokens: int) -> int:
        return -(-num_tokens // self.block_size)

    def _last_block_unused(self, request: SimulatedRequest) -> int:
        return -request.num_final_tokens % self.block_size

    def _is_in_last_block(self, request: SimulatedRequest, num_stored: int) -> bool:
        return self._blocks_for(num_stored) == self._blocks_for(request.num_final_tokens)

    def _last_block_taken_in(self, request: SimulatedRequest) -> int:
        return (self._blocks_for(request.num_final_tokens) - 1) * self.block_size + 1 - request.offset
