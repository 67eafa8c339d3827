"""The paged cache itself: how it is made, and the checks that everybody who is handed one needs."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from kvlib.attention.quantised import LARGEST, Scale, read_scale
from kvlib.checks import whole
from kvlib.errors import BadConfig, BadInput

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
DTYPES = (*FLOATS, *LARGEST)
_KNOWN_DTYPES = ", ".join(map(str, DTYPES))


class LayerCache(NamedTuple):
    """The cache of one layer, and what the numbers in it mean.

    key, value [num_blocks + 1, block_size, num_kv_heads, head_size]. key_scale, value_scale [num_kv_heads] float32:
    a quantised cache holds each number divided by the scale of its KV head; any other cache has None.
    """

    key: Tensor
    value: Tensor
    key_scale: Tensor | None = None
    value_scale: Tensor | None = None


def new_cache(
    num_layers: int,
    num_blocks: int,
    block_size: int,
    num_kv_heads: int,
    head_size: int,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
    scales: Sequence[tuple[Scale, Scale]] | None = None,
) -> list[LayerCache]:
    """Zeros for each layer, keys and values each [num_blocks + 1, block_size, num_kv_heads, head_size].

    Block 0 is the null block, which belongs to no sequence: padding in a block table is 0, and padding tokens
    write to slot 0. The other num_blocks are the memory manager's, ids 1 to num_blocks. `scales` is for the quantised
    dtypes, torch.float8_e4m3fn and torch.int8: a pair (key_scale, value_scale) for each layer, each float32
    [num_kv_heads] or one number for all heads. Raises BadConfig for a size that is not a whole number from 1 on, a
    dtype that is not in DTYPES, or scales that do not fit.
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
    layers = []
    for key_scale, value_scale in [(None, None)] * num_layers if scales is None else _pairs(scales, num_layers):
        key, value = (torch.zeros(shape, dtype=dtype, device=device) for _ in range(2))
        key_scale = read_scale("key_scale", key_scale, key, BadConfig)
        value_scale = read_scale("value_scale", value_scale, value, BadConfig)
        layers.append(LayerCache(key, value, key_scale, value_scale))
    return layers


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


def check_dtype(name: str, tensor: Tensor, cache: Tensor) -> None:
    """Raises BadInput unless `tensor` has the dtype of `cache`, or any of FLOATS where the cache is quantised."""
    if cache.dtype not in LARGEST and tensor.dtype != cache.dtype:
        raise BadInput(f"{name} has dtype {tensor.dtype}; expected {cache.dtype}, that of the caches")
    if tensor.dtype not in FLOATS:
        raise BadInput(f"{name} has dtype {tensor.dtype}; expected one of {', '.join(map(str, FLOATS))}")


def _pairs(scales: object, num_layers: int) -> Sequence[tuple[Scale, Scale]]:
    if (
        not isinstance(scales, list | tuple)
        or len(scales) != num_layers
        or not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in scales)
    ):
        raise BadConfig(f"scales is {scales!r}; give a pair for each of {num_layers} layers, (key_scale, value_scale)")
    return scales
