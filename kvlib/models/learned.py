"""The forward pass of OPT (Zhang et al., arXiv:2205.01068) and GPT-2, which learn a vector for each position.

Beside `llama.py` only what differs: positions are added once, at the start; a LayerNorm also takes away the mean
and adds a bias; the MLP has no gate; every query head has a KV head of its own.
"""

from collections.abc import Callable
from functools import partial

import torch.nn.functional as F
from torch import Tensor

from kvlib.models.attending import Attention
from kvlib.models.config import LearnedConfig
from kvlib.models.decoder import Decoder
from kvlib.models.learned_weights import LearnedWeights, Norm

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_new": partial(F.gelu, approximate="tanh"),
}


class Learned(Decoder):
    """A model with its weights; T tokens a call, of one sequence or of several."""

    config: LearnedConfig
    weights: LearnedWeights

    def __init__(self, config: LearnedConfig, weights: LearnedWeights) -> None:
        self.config = config
        self.weights = weights
        self._activation = ACTIVATIONS[config.activation]

    def forward(self, token_ids: Tensor, positions: Tensor, attention: Attention) -> Tensor:
        """token_ids [T] and their positions [T] in their own sequences, int64 -> hidden states [T, hidden]."""
        heads, size = self.config.num_heads, self.config.head_size
        places = F.embedding(positions + self.config.position_offset, self.weights.positions)  # [T, hidden]
        hidden = F.embedding(token_ids, self.weights.embedding) + places  # [T, hidden]
        for index, layer in enumerate(self.weights.layers):
            x = self._norm(hidden, layer.attention_norm)  # [T, hidden]
            query = layer.query(x).view(-1, heads, size)  # [T, num_heads, head_size]
            key = layer.key(x).view(-1, heads, size)  # [T, num_heads, head_size]
            value = layer.value(x).view(-1, heads, size)  # [T, num_heads, head_size]
            mixed = attention(index, query, key, value)  # [T, num_heads, head_size]
            hidden = hidden + layer.output(mixed.flatten(1))  # [T, hidden]

            x = self._norm(hidden, layer.mlp_norm)  # [T, hidden]
            hidden = hidden + layer.down(self._activation(layer.up(x)))  # [T, hidden]
        return self._norm(hidden, self.weights.norm)  # [T, hidden]

    def logits(self, hidden: Tensor) -> Tensor:
        """Hidden states [R, hidden] of the rows whose next token is wanted -> logits [R, vocab], float32."""
        return self.weights.unembedding(hidden).float()  # [R, vocab]

    def _norm(self, x: Tensor, norm: Norm) -> Tensor:
        return F.layer_norm(x, norm.weight.shape, norm.weight, norm.bias, self.config.layer_norm_eps)  # [T, hidden]
