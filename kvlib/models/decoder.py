"""What the engine asks of a model, whatever its architecture."""

from abc import ABC, abstractmethod

from torch import Tensor

from kvlib.models.attending import Attention
from kvlib.models.config import DecoderConfig


class Decoder(ABC):
    """A decoder-only transformer with its weights, float32; T tokens a call, of one sequence or of several.

    It knows nothing of a cache: every layer hands its query, key and value to the `attention` of the call.
    """

    config: DecoderConfig

    @abstractmethod
    def forward(self, token_ids: Tensor, positions: Tensor, attention: Attention) -> Tensor:
        """token_ids [T] and their positions [T] in their own sequences, int64 -> hidden states [T, hidden]."""

    @abstractmethod
    def logits(self, hidden: Tensor) -> Tensor:
        """Hidden states [R, hidden] of the rows whose next token is wanted -> logits [R, vocab]."""
