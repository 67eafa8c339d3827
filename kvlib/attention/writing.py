"""How new keys and values get into the cache."""

import torch
from torch import Tensor

from kvlib.attention.cache import check_caches, check_dtype, check_tensors
from kvlib.attention.quantised import Scale, quantise, read_scale, shaped_scale
from kvlib.errors import BadInput


def write(
    key: Tensor,
    value: Tensor,
    key_cache: Tensor,
    value_cache: Tensor,
    slot_mapping: Tensor,
    *,
    k_scale: Scale = None,
    v_scale: Scale = None,
) -> None:
    """Store the keys and values of new tokens in one layer's cache.

    key, value [num_tokens, num_kv_heads, head_size]; key_cache, value_cache as `new_cache` makes them, of any
    strides; slot_mapping [num_tokens] int64, slot = block * block_size + offset. No slot may come twice, but for
    slot 0, where padding goes. A quantised cache takes keys and values of any floating dtype, and its k_scale and
    v_scale, each float32 [num_kv_heads] or one number; `kvlib.attention.quantised.quantise` says how they are
    rounded. Raises BadInput, and writes nothing, when shapes, dtypes or scales do not fit, a slot is outside the cache,
    or a number is none that the cache can store.
    """
    check_new(key, value, key_cache, value_cache, slot_mapping)
    key_scale = read_scale("k_scale", k_scale, key_cache)
    value_scale = read_scale("v_scale", v_scale, value_cache)
    check_slots(slot_mapping, key_cache)
    store(key, value, key_cache, value_cache, slot_mapping, k_scale=key_scale, v_scale=value_scale)


def store(
    key: Tensor,
    value: Tensor,
    key_cache: Tensor,
    value_cache: Tensor,
    slot_mapping: Tensor,
    *,
    k_scale: Scale = None,
    v_scale: Scale = None,
) -> None:
    """`write` for one layer of a step whose slots are checked already, into a cache that `new_cache` made.

    The numbers in slot_mapping and in the scales are not looked at, for which a GPU would be waited for.
    """
    check_new(key, value, key_cache, value_cache, slot_mapping)
    key_scale = shaped_scale("k_scale", k_scale, key_cache)
    value_scale = shaped_scale("v_scale", v_scale, value_cache)
    if key_scale is not None and value_scale is not None:
        key = quantise(key, key_scale, key_cache.dtype)
        value = quantise(value, value_scale, value_cache.dtype)
    block_size = key_cache.shape[1]
    block, offset = slot_mapping // block_size, slot_mapping % block_size  # [num_tokens] each
    key_cache[block, offset] = key
    value_cache[block, offset] = value


def check_slots(slot_mapping: Tensor, cache: Tensor) -> None:
    """Raises BadInput unless slot_mapping, which may be on the host, names slots of `cache`."""
    num_slots = cache.shape[0] * cache.shape[1]
    if len(slot_mapping) == 0:
        return
    lowest, highest = (int(slot) for slot in slot_mapping.aminmax())
    if lowest < 0 or highest >= num_slots:
        raise BadInput(
            f"slot_mapping runs from {lowest} to {highest}; expected slots of this cache, 0 to {num_slots - 1} (slot 0 "
            "for padding)"
        )


def check_new(key: Tensor, value: Tensor, key_cache: Tensor, value_cache: Tensor, slot_mapping: Tensor) -> None:
    """Raises BadInput unless shapes and dtypes are those that `write` describes; the slots are not looked at."""
    check_tensors(key=key, value=value, slot_mapping=slot_mapping)
    check_caches(key_cache, value_cache)
    if slot_mapping.dtype != torch.int64 or slot_mapping.dim() != 1:
        raise BadInput(
            f"slot_mapping has shape {list(slot_mapping.shape)} and dtype {slot_mapping.dtype}; "
            "expected [num_tokens] and torch.int64"
        )
    num_kv_heads, head_size = key_cache.shape[2:]
    expected = [len(slot_mapping), num_kv_heads, head_size]
    for name, tensor in (("key", key), ("value", value)):
        if list(tensor.shape) != expected:
            raise BadInput(
                f"{name} has shape {list(tensor.shape)}; expected {expected}: a row for each slot in slot_mapping, "
                "and the heads of key_cache"
            )
        check_dtype(name, tensor, key_cache)
