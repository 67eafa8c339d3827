"""One step of a server through the kernels: prompts, chunks and decode rows of one batch, each by its own kernel."""

from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from kvlib.attention.batch import Batch
from kvlib.attention.scoring import Scoring
from kvlib.attention.triton.launch import paged_decode, paged_prefill


class Step(NamedTuple):
    """A batch as the kernels read it: its tables on their device, and the most of everything, on the host.

    decoding: the longest context of a sequence with one query row, 0 where there is none. prefilling: the most query
    rows of any other, 0 where there is none.
    """

    tables: dict[str, Tensor]
    decoding: int
    prefilling: int


def attend_step(query: Tensor, key_cache: Tensor, value_cache: Tensor, batch: Batch, scoring: Scoring) -> Tensor:
    """Attention of all rows of a batch; shapes as in `kvlib.attention.attend`.

    Raises BadInput for what the kernels do not take: see `kvlib.attention.triton.inputs`.
    """
    step = plan(batch, query.device)
    output = torch.zeros_like(query, memory_format=torch.contiguous_format)
    shared = {**step.tables, **scoring._asdict(), "output": output}
    if step.decoding or not step.prefilling:
        paged_decode(query, key_cache, value_cache, max_context_len=step.decoding, **shared)
    if step.prefilling:
        paged_prefill(query, key_cache, value_cache, max_query_len=step.prefilling, least_queries=2, **shared)
    return output


@lru_cache(maxsize=1)  # once a step: all layers hand in the same batch
def plan(batch: Batch, device: torch.device) -> Step:
    """What the launches of every layer need of a batch."""
    decoding = [sequence.context_len for sequence in batch.sequences if sequence.num_queries == 1]
    prefilling = [sequence.num_queries for sequence in batch.sequences if sequence.num_queries > 1]
    # int32, whatever was given: block numbers fit, and kernels need fewer registers.
    tables = {name: tensor.int().to(device).contiguous() for name, tensor in batch.tables.items()}
    return Step(tables, max(decoding, default=0), max(prefilling, default=0))
