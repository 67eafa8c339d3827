"""What the engine asks of a model, whatever its architecture."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor

from kvlib.models.attending import Attention
from kvlib.models.config import DecoderConfig
from kvlib.models.learned_weights import LearnedWeights
from kvlib.models.weights import Weights


class Decoder(ABC):
    """A decoder-only transformer with its weights; T tokens a call, of one sequence or of several.

    It knows nothing of a cache: every layer hands its query, key and value to the `attention` of the call.
    """

    config: DecoderConfig
    weights: Weights | LearnedWeights

    @property
    def device(self) -> torch.device:
        """Where the weights lie, and all that `forward` is given."""
        return self.weights.embedding.device

    @property
    def dtype(self) -> torch.dtype:
        """Of the weights, and so of the keys and values."""
        return self.weights.embedding.dtype

    @abstractmethod
    def forward(self, token_ids: Tensor, positions: Tensor, attention: Attention) -> Tensor:
        """token_ids [T] and their positions [T] in their own sequences, int64 -> hidden states [T, hidden]."""

    @abstractmethod
    def logits(self, hidden: Tensor) -> Tensor:
        """Hidden states [R, hidden] of the rows whose next token is wanted -> logits [R, vocab], float32."""
