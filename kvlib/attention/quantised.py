"""Keys and values in one byte a number: the scales of the heads, the way in and the way out.

A number x of KV head h is stored as x / scale[h], rounded to the nearest number that the cache's dtype has; stored *
scale[h] is what it stands for. vLLM calls the scales k_scale and v_scale. e4m3, with three bits of fraction:
Micikevicius et al., arXiv 2209.05433. int8 is used symmetrically, -127 to 127.
"""

from numbers import Real

import torch
from torch import Tensor

from kvlib.errors import BadInput, KvlibError

LARGEST = {torch.float8_e4m3fn: 448.0, torch.int8: 127.0}
"""The largest number that each quantised dtype stores."""

Scale = Tensor | float | None
"""What a caller gives: float32 [num_kv_heads], or one float32 or number for all heads, or None."""


def quantise(x: Tensor, scale: Tensor, dtype: torch.dtype) -> Tensor:
    """x [..., num_kv_heads, head_size] as it is stored, in `dtype`; scale [num_kv_heads].

    Ties round to even. What lies beyond the largest number, infinity too, is stored as that number. NaN stays NaN in
    e4m3; int8 has none: raises BadInput. On a GPU, where to look is to wait, NaN becomes 0 in int8.
    """
    if dtype == torch.int8 and x.is_cpu and x.isnan().any():
        raise BadInput("a key or a value is NaN, which int8 cannot store; look for the layer that made it")
    limit = LARGEST[dtype]
    scaled = (x / scale[:, None]).clamp(-limit, limit)  # the cast to int8 wraps; older torch makes NaN of large e4m3
    return (scaled.round().nan_to_num() if dtype == torch.int8 else scaled).to(dtype)


def dequantise(stored: Tensor, scale: Tensor) -> Tensor:
    """The float32 numbers that stored [..., num_kv_heads, head_size] stands for; scale [num_kv_heads]."""
    return stored.float() * scale[:, None]


def read_scale(name: str, given: object, cache: Tensor, error: type[KvlibError] = BadInput) -> Tensor | None:
    """The scale of `cache` [..., num_kv_heads, head_size] as float32 [num_kv_heads]; None if it is not quantised.

    Raises `error`, with the argument's name, for a scale that does not fit, is missing, has no use, or is no finite
    number above 0.
    """
    scale = shaped_scale(name, given, cache, error)
    if scale is not None and not (scale.isfinite() & (scale > 0)).all():
        raise error(f"{name} is {scale.tolist()}; expected finite numbers above 0")
    return scale


def shaped_scale(name: str, given: object, cache: Tensor, error: type[KvlibError] = BadInput) -> Tensor | None:
    """`read_scale` without a look at the numbers, for which a GPU would be waited for."""
    num_kv_heads = cache.shape[-2]
    if cache.dtype not in LARGEST:
        if given is not None:
            raise error(f"{name} is given, but a cache of {cache.dtype} holds numbers as they are; leave {name} out")
        return None
    expected = f"expected float32 [{num_kv_heads}], a scale for each KV head, or one number for all"
    if given is None:
        raise error(f"{name} is missing for a cache of {cache.dtype}; {expected}")
    if isinstance(given, Tensor):
        if given.dtype != torch.float32 or list(given.shape) not in ([], [num_kv_heads]):
            raise error(f"{name} has shape {list(given.shape)} and dtype {given.dtype}; {expected}")
        scale = given.expand(num_kv_heads).contiguous()
    elif isinstance(given, Real) and not isinstance(given, bool):
        scale = torch.full([num_kv_heads], float(given))
    else:
        raise error(f"{name} is of type {type(given).__name__}; {expected}")
    return scale.to(cache.device)
