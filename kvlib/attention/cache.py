"""The paged cache itself: how it is made, how new keys and values get in, how a block is copied."""

import torch
from torch import Tensor

from kvlib.checks import whole
from kvlib.errors import BadConfig, BadInput

LayerCache = tuple[Tensor, Tensor]
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
_KNOWN_DTYPES = ", ".join(map(str, DTYPES))


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
    a size that is not a whole number from 1 on, or a dtype that is not in DTYPES.
    """
    sizes = {
        "num_layers": num_layers,
        "num_blocks": num_blocks,
        "block_size": block_size,
        "num_kv_heads": num_kv_heads,
        "head_size": head_size,
    }
    for name, size in sizes.items():
        whole(name, size)
    if dtype not in DTYPES:
        raise BadConfig(f"dtype is {dtype!r}, of type {type(dtype).__name__}; give one of {_KNOWN_DTYPES}")
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
    check_tensors(key=key, value=value, slot_mapping=slot_mapping)
    check_caches(key_cache, value_cache)
    if slot_mapping.dtype != torch.int64 or slot_mapping.dim() != 1:
        raise BadInput(
            f"slot_mapping has shape {list(slot_mapping.shape)} and dtype {slot_mapping.dtype}; "
            "expected [num_tokens] and torch.int64"
        )
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
    _check_pairs("caches", caches, "(key_cache, value_cache)")
    _check_pairs("copies", copies, "(source, target)")
    for layer in caches:
        check_caches(*layer)
    if not caches:
        raise BadInput("caches is empty; give the (key_cache, value_cache) of each layer")
    last_block = min(len(cache) for layer in caches for cache in layer) - 1
    for source, target in copies:
        if not all(type(block) is int and 1 <= block <= last_block for block in (source, target)):
            raise BadInput(
                f"copies holds ({source!r}, {target!r}); expected physical blocks from 1 to {last_block}, "
                "as block 0 is the null block"
            )
    for source, target in copies:
        for key_cache, value_cache in caches:
            key_cache[target] = key_cache[source]
            value_cache[target] = value_cache[source]


def check_tensors(**given: object) -> None:
    """Raises BadInput with the name and type of the first argument that is no tensor."""
    for name, tensor in given.items():
        if not isinstance(tensor, Tensor):
            raise BadInput(f"{name} is of type {type(tensor).__name__}; give a torch.Tensor")


def check_caches(key_cache: Tensor, value_cache: Tensor) -> None:
    """Raises BadInput unless both are caches [num_blocks, block_size, num_kv_heads, head_size] of one dtype."""
    check_tensors(key_cache=key_cache, value_cache=value_cache)
    if key_cache.dim() != 4 or 0 in key_cache.shape:
        raise BadInput(
            f"key_cache has shape {list(key_cache.shape)}; expected [num_blocks, block_size, num_kv_heads, head_size], "
            "each 1 or more"
        )
    if key_cache.dtype not in DTYPES:
        raise BadInput(f"key_cache has dtype {key_cache.dtype}; expected one of {_KNOWN_DTYPES}")
    if value_cache.shape != key_cache.shape or value_cache.dtype != key_cache.dtype:
        raise BadInput(
            f"value_cache has shape {list(value_cache.shape)} and dtype {value_cache.dtype}; expected "
            f"{list(key_cache.shape)} and {key_cache.dtype}, those of key_cache"
        )


def _check_pairs(name: str, given: object, pair: str) -> None:
    entries = given if isinstance(given, list | tuple) else [given]
    for entry in entries:
        if not isinstance(entry, list | tuple) or len(entry) != 2:
            raise BadInput(f"{name} is or holds a {type(entry).__name__}; give a list of pairs {pair}")
