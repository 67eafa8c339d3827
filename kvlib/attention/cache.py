"""The paged cache itself: how it is made, how new keys and values get in, how a block is copied."""

import torch
from torch import Tensor

from kvlib.errors import BadConfig, BadInput

LayerCache = tuple[Tensor, Tensor]


def new_cache(
    num_layers: int,
    num_blocks: int,
    block_size: int,
    num_kv_heads: int,
    head_size: int,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> list[LayerCache]:
    """A (key_cache, value_cache) for each layer, each [num_blocks + 1, block_size, num_kv_heads, head_size].

    Block 0 is the null block, which belongs to no sequence: padding in a block table is 0, and padding tokens
    write to slot 0. The other num_blocks are the memory manager's, ids 1 to num_blocks. Raises BadConfig for
    a size below 1.
    """
    sizes = {
        "num_layers": num_layers,
        "num_blocks": num_blocks,
        "block_size": block_size,
        "num_kv_heads": num_kv_heads,
        "head_size": head_size,
    }
    for name, size in sizes.items():
        if size < 1:
            raise BadConfig(f"{name} is {size}; a cache needs at least 1")
    shape = (num_blocks + 1, block_size, num_kv_heads, head_size)
    return [
        (torch.zeros(shape, dtype=dtype, device=device), torch.zeros(shape, dtype=dtype, device=device))
        for _ in range(num_layers)
    ]


def write(key: Tensor, value: Tensor, key_cache: Tensor, value_cache: Tensor, slot_mapping: Tensor) -> None:
    """Store the keys and values of new tokens in one layer's cache.

    key, value [num_tokens, num_kv_heads, head_size]; key_cache, value_cache as `new_cache` makes them, of any
    strides; slot_mapping [num_tokens] int64, slot = block * block_size + offset. No slot may come twice, but for
    slot 0, where padding goes. Raises BadInput, and writes nothing, when shapes or dtypes differ or a slot is
    outside the cache.
    """
    num_blocks, block_size, num_kv_heads, head_size = key_cache.shape
    expected = [len(slot_mapping), num_kv_heads, head_size]
    for name, tensor in (("key", key), ("value", value)):
        if list(tensor.shape) != expected:
            raise BadInput(
                f"{name} has shape {list(tensor.shape)}; expected {expected}: a row for each slot in slot_mapping, "
                "and the heads of key_cache"
            )
        if tensor.dtype != key_cache.dtype:
            raise BadInput(f"{name} has dtype {tensor.dtype}; expected {key_cache.dtype}, that of key_cache")
    if value_cache.shape != key_cache.shape or value_cache.dtype != key_cache.dtype:
        raise BadInput(
            f"value_cache has shape {list(value_cache.shape)} and dtype {value_cache.dtype}; expected "
            f"{list(key_cache.shape)} and {key_cache.dtype}, those of key_cache"
        )
    if slot_mapping.dtype != torch.int64 or slot_mapping.dim() != 1:
        raise BadInput(
            f"slot_mapping has shape {list(slot_mapping.shape)} and dtype {slot_mapping.dtype}; "
            "expected [num_tokens] and torch.int64"
        )
    if len(slot_mapping) == 0:
        return
    lowest, highest = (int(slot) for slot in slot_mapping.aminmax())
    if lowest < 0 or highest >= num_blocks * block_size:
        raise BadInput(
            f"slot_mapping runs from {lowest} to {highest}; expected slots of this cache, 0 to "
            f"{num_blocks * block_size - 1} (slot 0 for padding)"
        )
    block, offset = slot_mapping // block_size, slot_mapping % block_size  # [num_tokens] each
    key_cache[block, offset] = key
    value_cache[block, offset] = value


def copy_blocks(caches: list[LayerCache], copies: list[tuple[int, int]]) -> None:
    """Copy whole blocks in every layer, one pair (source, target) of physical blocks after another.

    A later pair sees what an earlier one wrote. Raises BadInput, and copies nothing, when a block is outside
    a cache or is the null block.
    """
    if not caches:
        raise BadInput("caches is empty; give the (key_cache, value_cache) of each layer")
    last_block = min(len(cache) for layer in caches for cache in layer) - 1
    for source, target in copies:
        if not (1 <= source <= last_block and 1 <= target <= last_block):
            raise BadInput(
                f"copies holds ({source}, {target}); expected physical blocks from 1 to {last_block}, "
                "as block 0 is the null block"
            )
    for source, target in copies:
        for key_cache, value_cache in caches:
            key_cache[target] = key_cache[source]
            value_cache[target] = value_cache[source]
