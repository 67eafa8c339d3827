"""How far a cache is off, on the keys and values that the model itself makes of a text."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from kvlib.attention import LayerCache, new_cache
from kvlib.attention.quantised import Scale, dequantise, quantise
from kvlib.engine.prompts import read_prompt
from kvlib.models.attending import NoCache
from kvlib.models.model import Model


class CacheError(NamedTuple):
    """What the cache of one layer loses of the keys and values of a text.

    key_rms, value_rms: root mean square of the error, as a share of that of the numbers. key_max, value_max: the
    largest error, as a share of the largest number.
    """

    key_rms: float
    key_max: float
    value_rms: float
    value_max: float


class Comparing(NoCache):
    """Attention over keys and values as they are, that notes how far off they would be in `caches`, one a layer."""

    def __init__(self, caches: list[LayerCache]) -> None:
        self.errors: list[CacheError] = []
        self._caches = caches

    def __call__(self, layer: int, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        cache = self._caches[layer]
        dtype = cache.key.dtype
        self.errors.append(CacheError(*_off(key, cache.key_scale, dtype), *_off(value, cache.value_scale, dtype)))
        return super().__call__(layer, query, key, value)


@torch.inference_mode()
def cache_errors(
    model: Model,
    text: str | list[int],
    *,
    dtype: torch.dtype,
    scales: Sequence[tuple[Scale, Scale]] | None = None,
) -> list[CacheError]:
    """The error of each layer on `text`, a text or token ids; `dtype` and `scales` as `kvlib.attention.new_cache` takes
    them. Raises what read_prompt and new_cache raise."""
    config, device = model.decoder.config, model.decoder.device
    token_ids = torch.tensor(read_prompt(text, model, "the text").token_ids, device=device)  # [T]
    shape = (config.num_layers, 1, 1, config.num_kv_heads, config.head_size)
    comparing = Comparing(new_cache(*shape, dtype, device, scales=scales))
    model.decoder.forward(token_ids, torch.arange(len(token_ids), device=device), comparing)
    return comparing.errors


def _off(x: Tensor, scale: Tensor | None, dtype: torch.dtype) -> tuple[float, float]:
    """The root mean square and the largest error of x [T, num_kv_heads, head_size], as CacheError gives them."""
    x = x.float()
    stored = x.to(dtype).to(x.dtype) if scale is None else dequantise(quantise(x, scale, dtype), scale)
    error = stored - x
    return float(error.norm() / x.norm()), float(error.abs().max() / x.abs().max())
