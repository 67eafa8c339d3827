"""The kernels that write: bit for bit what `kvlib.attention.write` and `copy_blocks` write, and nothing beside it."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from kvlib.attention import LayerCache, copy_blocks, write
from kvlib.attention import triton as kernels
from kvlib.bench.kernels.kernel_grid import INTERPRETED, Dtypes
from kvlib.bench.kernels.layouts import LAYOUTS, everything_of, layouts_of, moved, poisoned_cache
from kvlib.bench.kernels.pairs import pairwise

NUM_BLOCKS, NUM_KV_HEADS = 50, 3
SCALES = torch.tensor([1.0, 0.7, 3.1])  # of the heads: by the first, numbers are rounded as they are


class Store(NamedTuple):
    """New keys and values of the first of `dtypes` into a cache of the second, or of the first where that is None."""

    dtypes: tuple[torch.dtype, torch.dtype | None]
    layout: str
    block_size: int
    head_size: int

    @property
    def name(self) -> str:
        """What tells it from the others."""
        dtypes = "-".join(str(dtype)[6:] for dtype in self.dtypes if dtype)
        return f"{dtypes}-{self.layout}-block{self.block_size}-head{self.head_size}"

    def caches(self) -> tuple[Tensor, Tensor]:
        """For keys and for values, full of poison."""
        dtype, quantised = self.dtypes
        shape = (NUM_BLOCKS, self.block_size, NUM_KV_HEADS, self.head_size)
        keys, values = (poisoned_cache(*shape, quantised or dtype, layout) for layout in layouts_of(self.layout))
        return keys, values


def stores(dtypes: Dtypes = INTERPRETED) -> list[Store]:
    """Any two values of two settings meet in one of them."""
    settings = {"dtypes": dtypes, "layout": LAYOUTS, "block_size": (1, 16, 24), "head_size": (40, 128)}
    return [Store(**row) for row in pairwise(settings)]


def writes_alike(store: Store, device: torch.device | str = "cpu") -> bool:
    """Whether `write_cache` and `kvlib.attention.write` leave the same bytes, in the slots and around them.

    The first two tokens have slots outside the cache, which `write_cache` leaves out.
    """
    (dtype, quantised), head_size = store.dtypes, store.head_size
    numbers = hard_numbers(quantised)
    num_tokens = 2 + -(-len(numbers) // head_size)
    rows = numbers.repeat(2)[: num_tokens * head_size].view(num_tokens, 1, head_size)
    scales = {"k_scale": SCALES, "v_scale": SCALES.flip(0)} if quantised else {}
    gapped = torch.full((2, num_tokens, NUM_KV_HEADS + 1, head_size + 1), math.nan, dtype=dtype)
    key, value = gapped[:, :, :NUM_KV_HEADS, :head_size]
    key[:], value[:] = rows * SCALES[:, None], -rows * SCALES.flip(0)[:, None]
    num_slots = NUM_BLOCKS * store.block_size
    slots = torch.randperm(num_slots, generator=torch.Generator().manual_seed(0))[:num_tokens]
    slots[:2] = torch.tensor([-1, num_slots])

    expected, got = (store.caches() for _ in range(2))
    write(key[2:], value[2:], expected[0], expected[1], slots[2:], **scales)
    key, value, key_cache, value_cache = (moved(tensor, device) for tensor in (key, value, *got))
    scales = {name: scale.to(device) for name, scale in scales.items()}
    kernels.write_cache(key, value, key_cache, value_cache, slots.to(device), **scales)
    return all(same_bytes(*pair) for pair in zip(expected, (key_cache, value_cache)))


def copies_alike(store: Store, device: torch.device | str = "cpu") -> bool:
    """Whether both `copy_blocks` leave the same bytes in both layers, of caches full of random ones."""
    random = torch.Generator().manual_seed(0)
    expected = [*store.caches(), *store.caches()]
    for cache in expected:
        everything = everything_of(cache).view(torch.uint8)
        everything.copy_(torch.randint(256, everything.shape, generator=random))
    got = [moved(cache, device, copy=True) for cache in expected]
    copies = [(3, 5), (4, NUM_BLOCKS - 1), (4, 1), (7, 2)]
    for copy, caches in ((copy_blocks, expected), (kernels.copy_blocks, got)):
        copy([LayerCache(*caches[:2]), LayerCache(*caches[2:])], copies)
    return all(same_bytes(*pair) for pair in zip(expected, got))


def hard_numbers(dtype: torch.dtype | None) -> Tensor:
    """float32 [N]: what is hard to store in a quantised dtype, or in none: every code, the middle between any two, the
    next float32 to either side of these, numbers beyond the last, infinity, and NaN where the dtype has it."""
    if dtype == torch.int8:
        codes = torch.arange(-128.0, 129.0)
    else:
        codes = torch.arange(256, dtype=torch.uint8).view(torch.float8_e4m3fn).float()
        codes = codes[codes.isfinite()].sort().values
    edges = torch.cat([codes, (codes[1:] + codes[:-1]) / 2])
    beyond = torch.tensor([1.03, 1.04, 1.08, 2.0, 1e4, math.inf]) * codes[-1]
    up, down = (edges.nextafter(torch.tensor(far)) for far in (math.inf, -math.inf))
    numbers = torch.cat([edges, up, down, beyond, -beyond, torch.tensor([2.0**-10, 2.0**-11, 1e-30])])
    return numbers if dtype == torch.int8 else torch.cat([numbers, torch.tensor([math.nan, -math.nan])])


def same_bytes(expected: Tensor, got: Tensor) -> bool:
    """Whether the memory of two tensors is the same, what lies between their numbers too."""
    return torch.equal(*(everything_of(tensor).view(torch.uint8).cpu() for tensor in (expected, got)))
