"""The cache's tensors, asked for only where they can fit."""

from kvlib.attention import LayerCache, new_cache
from kvlib.engine.config import DecoderConfig
from kvlib.errors import BadConfig
from kvlib.machine import free_memory
from kvlib.sizing import ModelSpec


def allocate(config: DecoderConfig, num_blocks: int, block_size: int) -> list[LayerCache]:
    """`kvlib.attention.new_cache` for the model of `config`, float32.

    Raises BadConfig with the bytes wanted, before anything is allocated where the free memory is known.
    """
    shape = (num_blocks, block_size, config.num_kv_heads, config.head_size)
    block_bytes = ModelSpec(
        "", config.num_layers, config.num_heads, config.num_kv_heads, config.head_size, "float32"
    ).block_bytes(block_size)
    wanted, free = (num_blocks + 1) * block_bytes, free_memory()
    too_large = (
        f"num_blocks is {num_blocks}: with the null block the cache would take {wanted:,} bytes, {block_bytes:,} for "
        f"each block of {block_size} tokens"
    )
    if free is not None and wanted > free:
        fitting = max(0, free // block_bytes - 1)
        raise BadConfig(f"{too_large}; {free:,} bytes are free, which hold at most {fitting} blocks: give fewer")
    try:
        return new_cache(config.num_layers, *shape)
    except (RuntimeError, MemoryError, TypeError, OverflowError) as error:  # by size, torch raises any of them
        raise BadConfig(f"{too_large}, more than there is; give fewer blocks") from error
