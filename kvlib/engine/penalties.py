"""What a token costs for having been said before."""

import torch
from torch import Tensor

from kvlib.engine.params import SamplingParams


class Penalties:
    """The three penalties of one answer, in vLLM's order and meaning; a step costs the same however long the answer.

    The repetition penalty looks at prompt and answer, the frequency and presence penalties at the answer alone.
    """

    def __init__(self, params: SamplingParams, prompt_ids: list[int], vocab_size: int) -> None:
        self._params = params
        self._counts = torch.zeros(vocab_size)  # [vocab], how often the answer has each token
        self._known = torch.zeros(vocab_size, dtype=torch.bool)  # [vocab], whether prompt or answer has it
        self._known[prompt_ids] = True

    def add(self, token_id: int) -> None:
        """The answer has one more token."""
        self._counts[token_id] += 1
        self._known[token_id] = True

    def apply(self, logits: Tensor) -> Tensor:
        """`logits` [vocab] with the penalties taken off."""
        factor = self._params.repetition_penalty
        if factor != 1:
            repeated = torch.where(logits > 0, logits / factor, logits * factor)  # [vocab]
            logits = torch.where(self._known, repeated, logits)  # [vocab]
        if self._params.frequency_penalty != 0:
            logits = logits - self._params.frequency_penalty * self._counts  # [vocab]
        if self._params.presence_penalty != 0:
            logits = logits - self._params.presence_penalty * (self._counts > 0)  # [vocab]
        return logits
