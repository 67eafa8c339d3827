"""The kernels that write to the cache, as functions of tensors. None waits for the GPU."""

from collections.abc import Sequence

import torch
from torch import Tensor

from kvlib.attention.cache import LayerCache
from kvlib.attention.copying import Pairs, check_copies
from kvlib.attention.triton.arguments import copy_arguments, write_arguments
from kvlib.attention.triton.cache import copy_kernel, write_kernel
from kvlib.attention.triton.inputs import check_computable, check_places, check_rows, check_scale
from kvlib.attention.writing import check_new
from kvlib.errors import BadInput


def write_cache(
    key: Tensor,
    value: Tensor,
    key_cache: Tensor,
    value_cache: Tensor,
    slot_mapping: Tensor,
    *,
    k_scale: Tensor | None = None,
    v_scale: Tensor | None = None,
) -> None:
    """Store the keys and values of new tokens in one layer's cache, bit for bit as `kvlib.attention.write` does.

    Arguments as there, all on one device, each head's numbers in a row; k_scale and v_scale are float32
    [num_kv_heads]. The numbers in slot_mapping are not looked at: a slot outside the cache is left out, and of a slot
    that comes twice either may stay. In an int8 cache NaN becomes 0. Raises BadInput for all else that does not fit.
    """
    check_new(key, value, key_cache, value_cache, slot_mapping)
    device = check_places(key=key, value=value, key_cache=key_cache, value_cache=value_cache, slot_mapping=slot_mapping)
    check_rows(key=key, value=value, key_cache=key_cache, value_cache=value_cache)
    for name, source in (("key", key), ("value", value)):
        check_computable(name, source, device)
    check_scale("k_scale", k_scale, key_cache)
    check_scale("v_scale", v_scale, value_cache)
    slot_mapping = slot_mapping.contiguous()
    if len(slot_mapping) == 0:
        return
    for source, cache, scale in ((key, key_cache, k_scale), (value, value_cache, v_scale)):
        arguments = write_arguments(source, cache, slot_mapping, scale, device)
        write_kernel[tuple(source.shape[:2])](**arguments)


def copy_blocks(caches: Sequence[LayerCache], copies: Pairs) -> None:
    """Copy whole blocks in every layer, as `kvlib.attention.copy_blocks` does; one launch for keys, one for values.

    All copies are made at once: raises BadInput, and copies nothing, when a block is a target twice, or both a target
    and a source, beside what is refused there.
    """
    check_copies(caches, copies)
    sources, targets = ([pair[side] for pair in copies] for side in (0, 1))
    if len(set(targets)) < len(targets) or set(targets) & set(sources):
        raise BadInput(
            f"copies is {copies!r}; expected no block as a target twice or as both source and target, since all are "
            "copied at once"
        )
    if not copies:
        return
    for layer in caches:
        for name, cache in (("key", layer.key), ("value", layer.value)):
            check_places(**{name: cache})
            check_rows(**{name: cache})
    device = caches[0].key.device
    blocks = [torch.tensor(each, device=device) for each in (sources, targets)]
    for layer in caches:
        for cache in (layer.key, layer.value):
            copy_kernel[(len(copies), *cache.shape[1:3])](**copy_arguments(cache, *blocks))
