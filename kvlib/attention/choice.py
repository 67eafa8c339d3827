"""Which backend of `kvlib.attention.attend` a device can have, and what stores and copies blocks beside it."""

from collections.abc import Callable, Sequence

import torch

from kvlib.attention.cache import LayerCache
from kvlib.attention.copying import Pairs, copy_blocks
from kvlib.attention.writing import store
from kvlib.errors import BadConfig
from kvlib.native import library, why_not

Store = Callable[..., None]
"""What takes the arguments of `kvlib.attention.write`, and looks at no number in slot_mapping and the scales."""

Copy = Callable[[Sequence[LayerCache], Pairs], None]


def check_backend(backend: str, dtype: torch.dtype, device: torch.device) -> None:
    """Raise BadConfig if `backend`, one of BACKENDS, cannot read a cache of `dtype` on `device`, or be had here."""
    if backend == "native" and (dtype != torch.float32 or device.type != "cpu"):
        raise BadConfig(
            f"attention backend 'native' reads caches of torch.float32 on the CPU, not {dtype} on {device}; take 'auto'"
        )
    if backend == "native" and library() is None:
        raise BadConfig(f"attention backend 'native' cannot be had: {why_not()}; or take 'gather'")
    if backend == "triton":
        try:
            from kvlib.attention.triton import device_of

            gpu = device_of(torch.empty(0, device=device))
        except Exception as error:  # without a driver or a compiler Triton raises what its parts raise
            raise BadConfig(f"attention backend 'triton' cannot be had: {error}") from error
        if gpu.capability < (7, 5):
            raise BadConfig(
                f"attention backend 'triton' needs compute capability 7.5, and {gpu.name} has "
                f"{'.'.join(map(str, gpu.capability))}; take 'gather'"
            )


def best_backend(dtype: torch.dtype, device: torch.device) -> str:
    """The fastest backend for a cache of `dtype` on `device`."""
    fastest = "native" if device.type == "cpu" else "triton"
    try:
        check_backend(fastest, dtype, device)
    except BadConfig:
        return "gather"
    return fastest


def store_of(backend: str) -> Store:
    """What stores the keys and values that `backend` reads: its own kernel, or torch."""
    if backend != "triton":
        return store
    from kvlib.attention.triton import write_cache

    return write_cache


def copy_of(backend: str) -> Copy:
    """What copies whole blocks for copy-on-write, no block twice or both a source and a target in one call."""
    if backend != "triton":
        return copy_blocks
    from kvlib.attention import triton

    return triton.copy_blocks
