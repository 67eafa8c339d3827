"""One step of the scheduler as one forward pass over the paged cache."""

from itertools import accumulate
from typing import NamedTuple

import torch
from torch import Tensor

from kvlib.attention import Batch, LayerCache, copy_blocks
from kvlib.engine.attending import PagedAttention
from kvlib.engine.decoder import Decoder
from kvlib.memory import NULL_BLOCK, BlockManager


class Chunk(NamedTuple):
    """The tokens of one sequence to compute now, at positions `start`, `start` + 1 and so on."""

    seq_id: str
    start: int
    token_ids: list[int]

    @property
    def stop(self) -> int:
        """The position after the last: the sequence's context length once the chunk is computed."""
        return self.start + len(self.token_ids)


class Worker:
    """Holds the cache's tensors, one keys and one values a layer, for the blocks that `manager` hands out."""

    def __init__(self, decoder: Decoder, manager: BlockManager, caches: list[LayerCache], backend: str) -> None:
        self.caches = caches
        self._decoder = decoder
        self._manager = manager
        self._backend = backend

    @torch.inference_mode()
    def run(self, chunks: list[Chunk], copies: list[tuple[int, int]]) -> Tensor:
        """Copy blocks, compute all chunks in one batch -> logits [num_chunks, vocab] after each one's last token."""
        copy_blocks(self.caches, copies)
        tables = [self._manager.table(chunk.seq_id) for chunk in chunks]
        slots = [slot for table, chunk in zip(tables, chunks) for slot in table.slots(chunk.start, chunk.stop)]
        width = max(len(table.blocks) for table in tables)
        block_tables = [table.blocks + [NULL_BLOCK] * (width - len(table.blocks)) for table in tables]
        query_start_loc = torch.tensor([0, *accumulate(len(chunk.token_ids) for chunk in chunks)])  # [num_chunks + 1]
        batch = Batch(
            torch.tensor(block_tables),  # [num_chunks, width]
            torch.tensor([chunk.stop for chunk in chunks]),  # [num_chunks]
            query_start_loc,
            block_size=self._manager.block_size,
        )
        attention = PagedAttention(self.caches, torch.tensor(slots), batch, self._backend)
        token_ids = torch.tensor([token for chunk in chunks for token in chunk.token_ids])  # [T]
        positions = torch.cat([torch.arange(chunk.start, chunk.stop) for chunk in chunks])  # [T]
        hidden = self._decoder.forward(token_ids, positions, attention)  # [T, hidden]
        return self._decoder.logits(hidden[query_start_loc[1:] - 1])  # [num_chunks, vocab]
