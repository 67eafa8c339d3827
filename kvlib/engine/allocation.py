"""The cache's tensors, asked for only where they can fit."""

from typing import NamedTuple

import torch

from kvlib.attention import LayerCache, new_cache
from kvlib.attention.choice import best_backend, check_backend
from kvlib.attention.quantised import LARGEST
from kvlib.engine.calibration import kv_scales
from kvlib.engine.settings import CACHE_DTYPES, Settings
from kvlib.errors import BadConfig
from kvlib.machine import free_memory
from kvlib.models.decoder import Decoder
from kvlib.models.model import Model
from kvlib.sizing import ModelSpec

HOST = torch.device("cpu")


class Allocated(NamedTuple):
    """The caches of the pool and of the host, one a layer, and the attention backend that reads them."""

    caches: list[LayerCache]
    host_caches: list[LayerCache]
    backend: str


def allocate(model: Model, settings: Settings) -> Allocated:
    """`kvlib.attention.new_cache` for a model: num_blocks blocks beside its weights, and num_host_blocks more on the
    host to swap to.

    Raises BadConfig with the bytes wanted, before anything is allocated where the free memory is known, for a cache
    that is not quantised and has another dtype than the weights, and for an attention backend that cannot read it.
    """
    decoder = model.decoder
    config, device = decoder.config, decoder.device
    dtype = CACHE_DTYPES[settings.kv_cache_dtype] or decoder.dtype
    if dtype not in LARGEST and dtype != decoder.dtype:
        raise BadConfig(
            f"kv_cache_dtype is {settings.kv_cache_dtype!r}, and the weights are {decoder.dtype}; a cache that is not "
            "quantised has their dtype: take 'auto'"
        )
    too_large = _check_free_memory(decoder, settings)
    backend = settings.attention_backend
    if backend == "auto":
        backend = best_backend(dtype, device)
    check_backend(backend, dtype, device)
    scales = kv_scales(model, dtype) if dtype in LARGEST else None
    shape = (settings.block_size, config.num_kv_heads, config.head_size, dtype)

    def blocks(num_blocks: int, device: torch.device) -> list[LayerCache]:
        return new_cache(config.num_layers, num_blocks, *shape, device, scales) if num_blocks else []

    try:
        caches, host = blocks(settings.num_blocks, device), blocks(settings.num_host_blocks, HOST)
    except (RuntimeError, MemoryError, TypeError, OverflowError) as error:  # by size, torch raises any of them
        raise BadConfig(f"{too_large}, more than there is; give fewer blocks") from error
    return Allocated(caches, host, backend)


def _check_free_memory(decoder: Decoder, settings: Settings) -> str:
    """What is wanted, in words for an error. Raises BadConfig if it is known to be more than is free."""
    config, size = decoder.config, settings.block_size
    dtype = str(decoder.dtype) if settings.kv_cache_dtype == "auto" else settings.kv_cache_dtype
    block_bytes = ModelSpec(
        "", config.num_layers, config.num_heads, config.num_kv_heads, config.head_size, dtype
    ).block_bytes(size)

    def check(asked: str, num_blocks: int, null_blocks: int, free: int | None) -> str:
        wanted = (num_blocks + null_blocks) * block_bytes
        too_large = (
            f"{asked}: with the null block the cache would take {wanted:,} bytes, {block_bytes:,} for each block of "
            f"{size} tokens"
        )
        if free is not None and wanted > free:
            fitting = max(0, free // block_bytes - null_blocks)
            raise BadConfig(f"{too_large}; {free:,} bytes are free, which hold at most {fitting} blocks: give fewer")
        return too_large

    pool, host = settings.num_blocks, settings.num_host_blocks
    if decoder.device == HOST:
        asked = f"num_blocks is {pool}" + (f" and num_host_blocks {host}" if host else "")
        return check(asked, pool + host, 2 if host else 1, free_memory())
    if host:
        check(f"num_host_blocks is {host}", host, 1, free_memory())
    free, _ = torch.cuda.mem_get_info(decoder.device)
    return check(f"num_blocks is {pool} on {decoder.device}", pool, 1, free)
