"""The variants of the kernels that are compiled for each card, with the arguments that a launch would hand in."""

from typing import NamedTuple

import torch
from torch import Tensor

from kvlib.attention.scoring import Scoring
from kvlib.attention.triton.arguments import (
    Arguments,
    combine_arguments,
    copy_arguments,
    decode_arguments,
    naive_arguments,
    prefill_arguments,
    write_arguments,
)
from kvlib.attention.triton.device import Device
from kvlib.attention.triton.tiles import Tiles, decode_tiles, prefill_tiles
from kvlib.errors import BadConfig

NUM_SEQS, MAX_BLOCKS, NUM_BLOCKS, NUM_KV_HEADS, NUM_SPLITS = 64, 256, 4096, 8, 8
SPLIT_LEN, LEAST_QUERIES = 512, 2
ODD = 3  # numbers between one head and the next, so that no address is a multiple of 16 bytes


class Variant(NamedTuple):
    """One kernel as one model with one cache would call it.

    cache_dtype: where it is not that of the query. odd: heads lie at odd strides, which no vector load can read.
    """

    kernel: str
    head_size: int = 128
    group_size: int = 4
    block_size: int = 16
    dtype: torch.dtype = torch.float16
    cache_dtype: torch.dtype | None = None
    window: int | None = None
    softcap: float | None = None
    split: bool = False
    odd: bool = False

    @property
    def name(self) -> str:
        """The kernel, and what differs from the first variant."""
        words = [self.kernel, *(["split"] if self.split else []), str(self.dtype)[6:]]
        words += [f"{str(self.cache_dtype)[6:]} cache"] if self.cache_dtype else []
        for field, default in Variant._field_defaults.items():
            value = getattr(self, field)
            if field not in ("dtype", "cache_dtype", "split", "odd") and value != default:
                words.append(f"{field.replace('_', ' ')} {value}")
        return ", ".join([*words, *(["odd strides"] if self.odd else [])])

    @property
    def codes(self) -> torch.dtype:
        """The dtype of the cache."""
        return self.cache_dtype or self.dtype


E4M3, INT8, BF16, FP32 = torch.float8_e4m3fn, torch.int8, torch.bfloat16, torch.float32
VARIANTS = (
    *(Variant("decode", dtype=dtype) for dtype in (torch.float16, BF16, FP32)),
    Variant("decode", split=True),
    *(Variant("decode", head_size=size) for size in (64, 80, 256)),
    *(Variant("decode", group_size=size) for size in (1, 8, 20, 128)),
    *(Variant("decode", block_size=size) for size in (1, 24)),
    Variant("decode", window=4096),
    Variant("decode", softcap=50.0),
    *(Variant("decode", cache_dtype=dtype) for dtype in (E4M3, INT8)),
    *(Variant("decode", dtype=dtype, cache_dtype=E4M3) for dtype in (BF16, FP32)),
    Variant("decode", head_size=256, cache_dtype=E4M3),
    Variant("decode", head_size=256, group_size=20, dtype=FP32),
    Variant("decode", head_size=256, group_size=20, cache_dtype=INT8),
    Variant("decode", odd=True),
    Variant("combine"),
    *(Variant("prefill", dtype=dtype) for dtype in (torch.float16, BF16, FP32)),
    *(Variant("prefill", head_size=size) for size in (64, 256)),
    *(Variant("prefill", group_size=size) for size in (1, 20)),
    *(Variant("prefill", cache_dtype=dtype) for dtype in (E4M3, INT8)),
    Variant("prefill", dtype=FP32, cache_dtype=E4M3),
    Variant("prefill", head_size=256, group_size=20, dtype=FP32),
    Variant("prefill", head_size=256, cache_dtype=E4M3),
    Variant("prefill", block_size=24, window=4096, softcap=50.0),
    Variant("naive"),
    *(Variant("write", cache_dtype=dtype) for dtype in (None, E4M3, INT8)),
    Variant("copy"),
)


def variants_of(device: Device) -> list[Variant]:
    """Those that the device can compute: all but bfloat16 on a T4, and what has too large tiles for it."""
    return [variant for variant in VARIANTS if _computes(device, variant)]


def _computes(device: Device, variant: Variant) -> bool:
    try:
        tiles_of(variant, device)
    except BadConfig:
        return False
    return device.has_bfloat16 or variant.dtype != BF16


def tiles_of(variant: Variant, device: Device) -> Tiles | None:
    """The tiles that a launch takes on the device; None for a kernel without any."""
    choose = {"decode": decode_tiles, "prefill": prefill_tiles}.get(variant.kernel)
    return choose and choose(device, variant.head_size, variant.group_size, variant.dtype, variant.codes)


def arguments_of(variant: Variant, device: Device) -> Arguments:
    """All arguments of the variant's kernel by name, with tensors that have shapes and strides and no memory."""
    num_heads, head_size = NUM_KV_HEADS * variant.group_size, variant.head_size
    query = _meta(NUM_SEQS, num_heads, head_size, dtype=variant.dtype)
    gap = ODD if variant.odd else 0
    cache_shape = (NUM_BLOCKS, variant.block_size, NUM_KV_HEADS, head_size + gap)
    key_cache, value_cache = (_meta(*cache_shape, dtype=variant.codes)[..., :head_size] for _ in range(2))
    tables = {
        "block_tables": _meta(NUM_SEQS, MAX_BLOCKS, dtype=torch.int32),
        "context_lens": _meta(NUM_SEQS, dtype=torch.int32),
        "query_start_loc": _meta(NUM_SEQS + 1, dtype=torch.int32),
    }
    parts, log_sums = _meta(NUM_SEQS, num_heads, NUM_SPLITS, head_size), _meta(NUM_SEQS, num_heads, NUM_SPLITS)
    head_scale = _meta(NUM_KV_HEADS) if variant.cache_dtype else None
    scoring = Scoring(head_size**-0.5, variant.window, variant.softcap, head_scale, head_scale)
    tiles = tiles_of(variant, device)
    if variant.kernel == "decode" and tiles:
        del tables["query_start_loc"]
        output, sums = (parts, log_sums) if variant.split else (query, None)
        return decode_arguments(output, sums, query, key_cache, value_cache, tables, scoring, device, tiles, SPLIT_LEN)
    if variant.kernel == "prefill" and tiles:
        return prefill_arguments(query, query, key_cache, value_cache, tables, scoring, device, tiles, LEAST_QUERIES)
    if variant.kernel == "combine":
        return combine_arguments(query, parts, log_sums, None)
    if variant.kernel == "naive":
        return naive_arguments(query, query, key_cache, value_cache, tables, scoring.scale)
    if variant.kernel == "write":
        key = _meta(NUM_SEQS, NUM_KV_HEADS, head_size, dtype=variant.dtype)
        return write_arguments(key, key_cache, _meta(NUM_SEQS, dtype=torch.int64), head_scale, device)
    pairs = _meta(2, NUM_SEQS, dtype=torch.int64)
    return copy_arguments(key_cache, *pairs)


def _meta(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.empty(shape, dtype=dtype, device="meta")
