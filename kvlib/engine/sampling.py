"""From the logits of one row to the next token."""

import math
from collections.abc import Iterable

import torch
from torch import Tensor

from kvlib.engine.params import SamplingParams
from kvlib.engine.penalties import Penalties
from kvlib.errors import BadModelFile


class Sampler:
    """Chooses the tokens of answer `index` to `prompt_ids`, one after the other.

    `end_ids` are the model's own end tokens; they and stop_token_ids have no chance before min_tokens, as in vLLM also
    with ignore_eos. The ids are of the vocabulary; `SamplingParams.check_vocabulary` sees to that.
    """

    def __init__(self, params: SamplingParams, prompt_ids: list[int], end_ids: Iterable[int], index: int = 0) -> None:
        self._params = params
        self._prompt_ids = prompt_ids
        self._ending_ids = torch.tensor(sorted({*end_ids, *params.stop_token_ids}), dtype=torch.int64)
        self._generator = generator_of(params, index)
        self._num_chosen = 0
        self._penalties: Penalties | None = None  # made for the first token: requests that wait need no memory

    def choose(self, logits: Tensor) -> int:
        """The id of the next token, from the model's `logits` [vocab], float32, which stay as they are."""
        if self._num_chosen < self._params.min_tokens:
            logits = logits.index_fill(0, self._ending_ids, -torch.inf)  # [vocab]
        if self._params.penalised and self._penalties is None:
            self._penalties = Penalties(self._params, self._prompt_ids, len(logits))
        if self._penalties is not None:
            logits = self._penalties.apply(logits)  # [vocab]
        token = sample(logits, self._params, self._generator)
        if self._penalties is not None:
            self._penalties.add(token)
        self._num_chosen += 1
        return token


def sample(logits: Tensor, params: SamplingParams, generator: torch.Generator | None = None) -> int:
    """The token id chosen from `logits` [vocab], float32: the likeliest, or one drawn with `generator`.

    A draw uses one random number. Penalties and min_tokens, which look back, are the Sampler's. Raises BadModelFile
    where no logit is the largest.
    """
    if not logits.max().isfinite():
        raise BadModelFile("the model's logits are no numbers; its weights are damaged: load the model again")
    if params.greedy:
        return int(logits.argmax())
    kept = restrict(logits / params.temperature, params)  # [vocab]
    chance = 1 - float(torch.rand((), generator=generator, dtype=torch.float64))
    return draw(kept.softmax(dim=-1), chance)


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
        kept = nucleus(logits.softmax(dim=-1), params.top_p)  # [num_kept]
        logits = torch.full_like(logits, -torch.inf).index_copy(0, kept, logits[kept])  # [vocab]
    return logits


def nucleus(likelihood: Tensor, top_p: float) -> Tensor:
    """The ids of the likeliest tokens that together reach `top_p` of `likelihood` [vocab], likeliest first."""
    # Tokens below their even share of 1 - top_p lie outside: sorting the few above it is what makes this fast.
    floor = (1 - top_p) / len(likelihood) / 2  # half, for rounding
    candidates = (likelihood >= floor).nonzero()[:, 0]  # [num_candidates]
    ordered, order = likelihood[candidates].sort(descending=True)  # [num_candidates] each
    likelier = ordered.cumsum(dim=-1) - ordered  # [num_candidates], probability of all tokens before this one
    inside = likelier < top_p  # [num_candidates]
    inside[0] = True
    return candidates[order[inside]]


def draw(likelihood: Tensor, chance: float) -> int:
    """The first token id up to which `likelihood` [vocab] reaches the share `chance` of its sum.

    With `chance` drawn evenly from above 0 to 1, that is each token as often as it is likely.
    """
    reached = likelihood.cumsum(dim=-1, dtype=torch.float64)  # [vocab]
    return int(torch.searchsorted(reached, chance * reached[-1]))


def generator_of(params: SamplingParams, index: int = 0) -> torch.Generator | None:
    """The source of chance of answer `index` of a request, seeded with seed + index as in vLLM.

    None, torch's own, where no seed is given.
    """
    return None if params.seed is None else torch.Generator().manual_seed((params.seed + index) % 2**64)
