"""One step of the scheduler on tensors: blocks are moved and copied, then all tokens go through the model at once."""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import torch
from torch import Tensor

from kvlib.attention import Batch, swap_blocks
from kvlib.attention.choice import copy_of
from kvlib.engine.allocation import Allocated
from kvlib.engine.decoders import NO_ADAPTER, Decoders
from kvlib.memory import NULL_BLOCK, BlockManager
from kvlib.models.attending import PagedAttention
from kvlib.models.decoder import Decoder
from kvlib.serving.request import Step


class Chunk(NamedTuple):
    """The tokens of one sequence to compute now, at positions `start`, `start` + 1 and so on."""

    seq_id: str
    start: int
    token_ids: list[int]
    adapter_id: int = NO_ADAPTER

    @property
    def stop(self) -> int:
        """The position after the last: the sequence's context length once the chunk is computed."""
        return self.start + len(self.token_ids)


class Worker:
    """Holds the cache's tensors, for the blocks that `manager` hands out, and those of the host that are swapped to."""

    def __init__(
        self,
        decoders: Decoders,
        manager: BlockManager,
        allocated: Allocated,
    ) -> None:
        self._decoders = decoders
        self.caches, self._host_caches, self._backend = allocated
        self._copy_blocks = copy_of(self._backend)
        self._manager = manager

    def move(self, step: Step) -> None:
        """Swap out, swap in, copy on write, in this order: a block may be left by one and taken by the next."""
        if step.swap_outs:
            swap_blocks(self.caches, self._host_caches, step.swap_outs)
        if step.swap_ins:
            swap_blocks(self._host_caches, self.caches, step.swap_ins)
        if step.copies:
            self._copy_blocks(self.caches, step.copies)

    @torch.inference_mode()
    def compute(self, chunks: list[Chunk]) -> list[Tensor]:
        """All chunks, those of one adapter in one batch -> hidden states [tokens of the chunk, hidden] of each."""
        hidden: dict[int, Tensor] = {}
        for adapter_id in dict.fromkeys(chunk.adapter_id for chunk in chunks):
            places = [place for place, chunk in enumerate(chunks) if chunk.adapter_id == adapter_id]
            hidden |= zip(places, self._pass([chunks[place] for place in places], self._decoders[adapter_id]))
        return [hidden[place] for place in range(len(chunks))]

    def _pass(self, chunks: list[Chunk], decoder: Decoder) -> Sequence[Tensor]:
        tables = [self._manager.table(chunk.seq_id) for chunk in chunks]
        slots = [slot for table, chunk in zip(tables, chunks) for slot in table.slots(chunk.start, chunk.stop)]
        width = max(len(table.blocks) for table in tables)
        block_tables = [table.blocks + [NULL_BLOCK] * (width - len(table.blocks)) for table in tables]
        lengths = [len(chunk.token_ids) for chunk in chunks]
        device = decoder.device
        batch = Batch(
            torch.tensor(block_tables),  # [num_chunks, width]
            torch.tensor([chunk.stop for chunk in chunks]),  # [num_chunks]
            torch.tensor([0, *accumulate(lengths)]),  # [num_chunks + 1]
            block_size=self._manager.block_size,
            device=device,
        )
        attention = PagedAttention(self.caches, torch.tensor(slots), batch, self._backend)
        token_ids = torch.tensor([token for chunk in chunks for token in chunk.token_ids])  # [T]
        positions = torch.cat([torch.arange(chunk.start, chunk.stop) for chunk in chunks])  # [T]
        hidden = decoder.forward(token_ids.to(device), positions.to(device), attention)  # [T, hidden]
        return hidden.split(lengths)

    @torch.inference_mode()
    def logits(self, hidden: Tensor) -> Tensor:
        """Hidden states [R, hidden] -> logits [R, vocab], on the host; adapters have no part in it."""
        return self._decoders[NO_ADAPTER].logits(hidden).cpu()
