"""The forward pass of a Llama-family model (Touvron et al., arXiv:2302.13971), in plain torch.

The model knows nothing of a cache. It hands each layer's query, key and value to an `attention` it is given, and
that is the only place where tokens meet: `NoCache` reads the keys and values of this call, `PagedAttention` puts
them into blocks and reads those of every earlier call too.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from kvlib.attention import Batch, attend_batch, write
from kvlib.attention.cache import LayerCache
from kvlib.engine.config import LlamaConfig
from kvlib.engine.weights import Weights

Attention = Callable[[int, Tensor, Tensor, Tensor], Tensor]
"""attention(layer, query, key, value) -> output; query and output [T, num_heads, head_size],
key and value [T, num_kv_heads, head_size], all of the T tokens of this call."""


class Llama:
    """A model with its weights. float32; T tokens a call, of one sequence or of several."""

    def __init__(self, config: LlamaConfig, weights: Weights) -> None:
        self.config = config
        self.weights = weights
        half = torch.arange(0, config.head_size, 2, dtype=torch.float32) / config.head_size  # [head_size / 2]
        self._frequencies = config.rope_theta**-half  # [head_size / 2], radians a position

    def forward(self, token_ids: Tensor, positions: Tensor, attention: Attention) -> Tensor:
        """token_ids [T] and their positions [T] in their own sequences, int64 -> hidden states [T, hidden]."""
        heads, kv_heads, size = self.config.num_heads, self.config.num_kv_heads, self.config.head_size
        angles = positions[:, None, None] * self._frequencies  # [T, 1, head_size / 2]
        cos, sin = angles.cos(), angles.sin()  # [T, 1, head_size / 2]

        hidden = F.embedding(token_ids, self.weights.embedding)  # [T, hidden]
        for index, layer in enumerate(self.weights.layers):
            x = self._norm(hidden, layer.attention_norm)  # [T, hidden]
            query = F.linear(x, layer.query).view(-1, heads, size)  # [T, num_heads, head_size]
            key = F.linear(x, layer.key).view(-1, kv_heads, size)  # [T, num_kv_heads, head_size]
            value = F.linear(x, layer.value).view(-1, kv_heads, size)  # [T, num_kv_heads, head_size]
            mixed = attention(index, rotate(query, cos, sin), rotate(key, cos, sin), value)  # [T, num_heads, head_size]
            hidden = hidden + F.linear(mixed.flatten(1), layer.output)  # [T, hidden]

            x = self._norm(hidden, layer.mlp_norm)  # [T, hidden]
            inner = F.silu(F.linear(x, layer.gate)) * F.linear(x, layer.up)  # [T, intermediate]
            hidden = hidden + F.linear(inner, layer.down)  # [T, hidden]
        return self._norm(hidden, self.weights.norm)  # [T, hidden]

    def logits(self, hidden: Tensor) -> Tensor:
        """Hidden states [R, hidden] of the rows whose next token is wanted -> logits [R, vocab]."""
        return F.linear(hidden, self.weights.unembedding)  # [R, vocab]

    def _norm(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, weight.shape, weight, self.config.rms_norm_eps)  # [T, hidden]


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position embedding (Su et al., arXiv:2104.09864) of x [T, heads, head_size], pairs half a head apart."""
    left, right = x.chunk(2, dim=-1)  # [T, heads, head_size / 2] each
    return torch.cat((left * cos - right * sin, right * cos + left * sin), dim=-1)  # [T, heads, head_size]


class NoCache:
    """Causal attention over the tokens of this call, which are one whole sequence; nothing is kept."""

    def __call__(
        self,
        layer: int,
        query: Tensor,  # [T, num_heads, head_size]
        key: Tensor,  # [T, num_kv_heads, head_size]
        value: Tensor,  # [T, num_kv_heads, head_size]
    ) -> Tensor:
        output = F.scaled_dot_product_attention(
            query.transpose(0, 1)[None],  # [1, num_heads, T, head_size]
            key.transpose(0, 1)[None],  # [1, num_kv_heads, T, head_size]
            value.transpose(0, 1)[None],
            is_causal=True,
            enable_gqa=True,
        )  # [1, num_heads, T, head_size]
        return output[0].transpose(0, 1)  # [T, num_heads, head_size]


@dataclass(frozen=True)
class PagedAttention:
    """Attention over the paged cache, for one step of a batch of sequences; keys and values stay for later steps."""

    caches: list[LayerCache]
    slot_mapping: Tensor  # [T], where the keys and values of this call go
    batch: Batch  # which blocks hold the context of each sequence
    backend: str = "gather"

    def __call__(
        self,
        layer: int,
        query: Tensor,  # [T, num_heads, head_size]
        key: Tensor,  # [T, num_kv_heads, head_size]
        value: Tensor,  # [T, num_kv_heads, head_size]
    ) -> Tensor:
        key_cache, value_cache = self.caches[layer]
        write(key, value, key_cache, value_cache, self.slot_mapping)
        return attend_batch(
            query,
            key_cache,
            value_cache,
            self.batch,
            scale=query.shape[-1] ** -0.5,
            backend=self.backend,
        )  # [T, num_heads, head_size]
