"""The forward pass of a Llama-family model (Touvron et al., arXiv:2302.13971), in plain torch.

Qwen2 adds a bias to queries, keys and values, which their Linears hold; Qwen3 a norm on each head of queries and keys.

The model knows nothing of a cache. It hands each layer's query, key and value to an `attention` it is given, and
that is the only place where tokens meet.
"""

import torch.nn.functional as F
from torch import Tensor

from kvlib.models.attending import Attention
from kvlib.models.config import LlamaConfig
from kvlib.models.decoder import Decoder
from kvlib.models.rope import frequencies, rotate
from kvlib.models.weights import Weights


class Llama(Decoder):
    """A model with its weights; T tokens a call, of one sequence or of several."""

    config: LlamaConfig
    weights: Weights

    def __init__(self, config: LlamaConfig, weights: Weights) -> None:
        self.config = config
        self.weights = weights
        turns = frequencies(config.head_size, config.rope_theta, config.rope_scaling)  # [head_size / 2]
        self._frequencies = turns.to(self.device)

    def forward(self, token_ids: Tensor, positions: Tensor, attention: Attention) -> Tensor:
        """token_ids [T] and their positions [T] in their own sequences, int64 -> hidden states [T, hidden]."""
        heads, kv_heads, size = self.config.num_heads, self.config.num_kv_heads, self.config.head_size
        angles = positions[:, None, None] * self._frequencies  # [T, 1, head_size / 2]
        cos, sin = angles.cos().to(self.dtype), angles.sin().to(self.dtype)  # [T, 1, head_size / 2]

        hidden = F.embedding(token_ids, self.weights.embedding)  # [T, hidden]
        for index, layer in enumerate(self.weights.layers):
            x = self._norm(hidden, layer.attention_norm)  # [T, hidden]
            query = layer.query(x).view(-1, heads, size)  # [T, num_heads, head_size]
            key = layer.key(x).view(-1, kv_heads, size)  # [T, num_kv_heads, head_size]
            value = layer.value(x).view(-1, kv_heads, size)  # [T, num_kv_heads, head_size]
            if layer.head_norms is not None:
                query_norm, key_norm = layer.head_norms  # [head_size] each
                query, key = self._norm(query, query_norm), self._norm(key, key_norm)
            mixed = attention(index, rotate(query, cos, sin), rotate(key, cos, sin), value)  # [T, num_heads, head_size]
            hidden = hidden + layer.output(mixed.flatten(1))  # [T, hidden]

            x = self._norm(hidden, layer.mlp_norm)  # [T, hidden]
            inner = F.silu(layer.gate(x)) * layer.up(x)  # [T, intermediate]
            hidden = hidden + layer.down(inner)  # [T, hidden]
        return self._norm(hidden, self.weights.norm)  # [T, hidden]

    def logits(self, hidden: Tensor) -> Tensor:
        """Hidden states [R, hidden] of the rows whose next token is wanted -> logits [R, vocab], float32."""
        return self.weights.unembedding(hidden).float()  # [R, vocab]

    def _norm(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, weight.shape, weight, self.config.rms_norm_eps)  # of x's shape
