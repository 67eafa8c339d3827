"""From the logits of one row to the next token."""

import math

import torch
from torch import Tensor

from kvlib.engine.params import SamplingParams

GREEDY_BELOW = 1e-5  # as in vLLM: logits divided by less than this overflow


def sample(logits: Tensor, params: SamplingParams, generator: torch.Generator | None = None) -> int:
    """The token id chosen from `logits` [vocab], float32: the likeliest, or one drawn with `generator`."""
    if params.temperature < GREEDY_BELOW:
        return int(logits.argmax())
    kept = restrict(logits / params.temperature, params)  # [vocab]
    return int(torch.multinomial(kept.softmax(dim=-1), 1, generator=generator))


def restrict(logits: Tensor, params: SamplingParams) -> Tensor:
    """`logits` [vocab] with -inf for every token that min_p, top_k or top_p, in this order, leaves out.

    The likeliest token always stays.
    """
    if params.min_p > 0:
        floor = logits.max() + math.log(params.min_p)  # []
        logits = logits.masked_fill(logits < floor, -torch.inf)  # [vocab]
    if 0 < params.top_k < len(logits):
        floor = logits.topk(params.top_k).values[-1]  # []
        logits = logits.masked_fill(logits < floor, -torch.inf)  # [vocab]
    if params.top_p < 1:
        ordered, order = logits.sort(descending=True)  # [vocab] each
        likelihood = ordered.softmax(dim=-1)  # [vocab]
        likelier = likelihood.cumsum(dim=-1) - likelihood  # [vocab], probability of all tokens before this one
        left_out = order[1:][likelier[1:] >= params.top_p]
        logits = logits.index_fill(0, left_out, -torch.inf)  # [vocab]
    return logits


def generator_of(params: SamplingParams) -> torch.Generator | None:
    """The source of chance of one request; None, torch's own, where no seed is given."""
    return None if params.seed is None else torch.Generator().manual_seed(params.seed)
