"""The cache's tensors, asked for only where they can fit."""

from typing import NamedTuple

from kvlib.attention import LayerCache, new_cache
from kvlib.attention.backends import best_backend, check_backend
from kvlib.attention.quantised import LARGEST
from kvlib.engine.calibration import kv_scales
from kvlib.engine.settings import CACHE_DTYPES, Settings
from kvlib.errors import BadConfig
from kvlib.machine import free_memory
from kvlib.models.config import DecoderConfig
from kvlib.models.model import Model
from kvlib.sizing import ModelSpec


class Allocated(NamedTuple):
    """The caches of the pool and of the host, one a layer, and the attention backend that reads them."""

    caches: list[LayerCache]
    host_caches: list[LayerCache]
    backend: str


def allocate(model: Model, settings: Settings) -> Allocated:
    """`kvlib.attention.new_cache` for a model: num_blocks blocks, and num_host_blocks more to swap to.

    Raises BadConfig with the bytes wanted, before anything is allocated where the free memory is known, and for an
    attention backend that cannot read such a cache.
    """
    config = model.decoder.config
    too_large = _check_free_memory(config, settings)
    dtype = CACHE_DTYPES[settings.kv_cache_dtype]
    backend = settings.attention_backend
    if backend == "auto":
        backend = best_backend(dtype)
    check_backend(backend, dtype)
    scales = kv_scales(model, dtype) if dtype in LARGEST else None
    shape = (settings.block_size, config.num_kv_heads, config.head_size, dtype)

    def blocks(num_blocks: int) -> list[LayerCache]:
        return new_cache(config.num_layers, num_blocks, *shape, scales=scales) if num_blocks else []

    try:
        caches, host = blocks(settings.num_blocks), blocks(settings.num_host_blocks)
    except (RuntimeError, MemoryError, TypeError, OverflowError) as error:  # by size, torch raises any of them
        raise BadConfig(f"{too_large}, more than there is; give fewer blocks") from error
    return Allocated(caches, host, backend)


def _check_free_memory(config: DecoderConfig, settings: Settings) -> str:
    """What is wanted, in words for an error. Raises BadConfig if it is known to be more than is free."""
    size = settings.block_size
    dtype = "float32" if settings.kv_cache_dtype == "auto" else settings.kv_cache_dtype
    block_bytes = ModelSpec(
        "", config.num_layers, config.num_heads, config.num_kv_heads, config.head_size, dtype
    ).block_bytes(size)
    null_blocks = 2 if settings.num_host_blocks else 1
    wanted = (settings.num_blocks + settings.num_host_blocks + null_blocks) * block_bytes
    host = f" and num_host_blocks {settings.num_host_blocks}" if settings.num_host_blocks else ""
    too_large = (
        f"num_blocks is {settings.num_blocks}{host}: with the null block the cache would take {wanted:,} bytes, "
        f"{block_bytes:,} for each block of {size} tokens"
    )
    free = free_memory()
    if free is not None and wanted > free:
        fitting = max(0, free // block_bytes - null_blocks)
        raise BadConfig(f"{too_large}; {free:,} bytes are free, which hold at most {fitting} blocks: give fewer")
    return too_large
