"""Where a decoder's tokens meet: each layer hands its query, key and value to an `attention`.

`NoCache` reads the keys and values of this call, `PagedAttention` puts them into blocks and reads those of every
earlier call too.
"""

from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor

from kvlib.attention import Batch, attend_batch
from kvlib.attention.cache import LayerCache
from kvlib.attention.choice import store_of
from kvlib.attention.writing import check_slots

Attention = Callable[[int, Tensor, Tensor, Tensor], Tensor]
"""attention(layer, query, key, value) -> output; query and output [T, num_heads, head_size],
key and value [T, num_kv_heads, head_size], all of the T tokens of this call."""


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


class PagedAttention:
    """Attention over the paged cache, for one step of a batch of sequences; keys and values stay for later steps.

    slot_mapping [T] int64, on the host: where the keys and values of this call go. batch, on the device of the caches:
    which blocks hold the context of each sequence. Raises BadInput for a slot outside the caches.
    """

    def __init__(self, caches: list[LayerCache], slot_mapping: Tensor, batch: Batch, backend: str = "gather") -> None:
        check_slots(slot_mapping, caches[0].key)  # here, for all layers: on a GPU to look is to wait
        self.caches = caches
        self.slot_mapping = slot_mapping.to(caches[0].key.device)
        self.batch = batch
        self.backend = backend
        self.write = store_of(backend)

    def __call__(
        self,
        layer: int,
        query: Tensor,  # [T, num_heads, head_size]
        key: Tensor,  # [T, num_kv_heads, head_size]
        value: Tensor,  # [T, num_kv_heads, head_size]
    ) -> Tensor:
        key_cache, value_cache, k_scale, v_scale = self.caches[layer]
        self.write(key, value, key_cache, value_cache, self.slot_mapping, k_scale=k_scale, v_scale=v_scale)
        return attend_batch(
            query,
            key_cache,
            value_cache,
            self.batch,
            scale=query.shape[-1] ** -0.5,
            backend=self.backend,
            k_scale=k_scale,
            v_scale=v_scale,
        )  # [T, num_heads, head_size]
