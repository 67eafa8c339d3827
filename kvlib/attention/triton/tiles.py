"""How much one program takes on, and how many programs share a context: chosen before anything is compiled.

Nothing here depends on the lengths of single contexts, only on the longest that may come: a captured CUDA graph keeps
its grid, and must stay right when the lengths change.
"""

from typing import NamedTuple

import torch
import triton

from kvlib.attention.triton.device import Device
from kvlib.checks import whole
from kvlib.errors import BadConfig

MAX_HEAD_SIZE = 256
MAX_GROUP = 128
LEAST_SPLIT = 256  # tokens; shorter splits cost more in combining than they gain
PROGRAMS_FOR_EACH_SM = 4  # enough reads in flight to keep the memory busy


class Tiles(NamedTuple):
    """One program's share: `rows` of query, `tokens` of the context at a time, by `num_warps` warps.

    num_stages: how far Triton's pipeline loads ahead.
    """

    rows: int
    tokens: int
    num_warps: int
    num_stages: int


def decode_tiles(
    device: Device, head_size: int, group_size: int, dtype: torch.dtype, cache_dtype: torch.dtype
) -> Tiles:
    """Tiles of the decode kernel: the heads of one KV group as rows. Raises BadConfig where none fits the device."""
    rows = triton.next_power_of_2(group_size)
    tokens = _few_tokens(rows, head_size)
    if _multiplies_in_tiles(device, dtype):
        rows = max(rows, 16)  # a tensor core multiplies 16 rows at least
        few = head_size > 128 and rows < 32 and cache_dtype.itemsize < dtype.itemsize
        tokens = 32 if few else 64  # codes of wide heads take registers of their own
    tiles = Tiles(rows, tokens, 4 if rows < 32 else 8, _stages(device, dtype, cache_dtype))
    return _fitting(tiles, device, head_size, group_size, dtype, cache_dtype)


def prefill_tiles(
    device: Device, head_size: int, group_size: int, dtype: torch.dtype, cache_dtype: torch.dtype
) -> Tiles:
    """Tiles of the prefill kernel: tokens times heads of one KV group as rows. Raises BadConfig where none fits.

    The largest whose sums stay in registers: `kvlib bench compile` lists what is spilled.
    """
    least = triton.next_power_of_2(group_size)
    if _multiplies_in_tiles(device, dtype):
        converts = cache_dtype.itemsize < dtype.itemsize
        rows = max(64 if head_size > 128 or converts else 128, least)
        tokens = 32 if head_size > 128 or device.capability == (8, 9) else 64
    else:
        rows = max(16, least)
        tokens = _few_tokens(rows, head_size)
    tiles = Tiles(rows, tokens, 8, _stages(device, dtype, cache_dtype))
    return _fitting(tiles, device, head_size, group_size, dtype, cache_dtype)


def choose_splits(device: Device, num_seqs: int, num_kv_heads: int, max_context_len: int) -> int:
    """How many splits make a small batch fill the device, and leave a full one whole.

    max_context_len is the longest context that may come, or the window where that is shorter.
    """
    programs = max(1, num_seqs * num_kv_heads)
    wanted = round(PROGRAMS_FOR_EACH_SM * device.num_sms / programs)
    return max(1, min(wanted, max_context_len // LEAST_SPLIT))


def split_length(num_splits: int, max_context_len: int, tokens: int) -> int:
    """Tokens of each split, whole tiles of `tokens`: so many that `num_splits` cover the longest context."""
    return triton.cdiv(max(1, max_context_len), num_splits * tokens) * tokens


def padded(head_size: int) -> int:
    """Columns of a tile: a power of two, and 16 at least, as tl.dot asks."""
    return max(16, triton.next_power_of_2(head_size))


def shared_bytes(tiles: Tiles, device: Device, head_size: int, dtype: torch.dtype, cache_dtype: torch.dtype) -> int:
    """An upper bound of the shared memory of one program: the query, a tile of keys and of values, and the weights."""
    columns = padded(head_size)
    buffers = max(1, tiles.num_stages // 2)
    query_and_weights = tiles.rows * (columns + tiles.tokens) * dtype.itemsize
    stored, converted = (2 * tiles.tokens * columns * itemsize for itemsize in (cache_dtype.itemsize, dtype.itemsize))
    block_numbers = 1024
    if not _multiplies_in_tiles(device, dtype):
        weights = tiles.rows * max(columns, tiles.tokens) * dtype.itemsize  # or the query, converted
        ahead = stored if stored < converted and device.has_tensor_cores and tiles.num_stages > 1 else 0
        loaded = max(stored, converted) * buffers + ahead  # what is copied ahead has not been converted yet
        return tiles.rows * columns * dtype.itemsize + weights + loaded + block_numbers
    if device.capability >= (9, 0) and tiles.rows >= 64:
        return query_and_weights + stored * buffers + converted + block_numbers  # wgmma reads both factors from there
    return query_and_weights + stored * buffers + block_numbers


def _multiplies_in_tiles(device: Device, dtype: torch.dtype) -> bool:
    """Whether tl.dot becomes an instruction on tiles: float32 is multiplied exactly, number by number."""
    return device.has_tensor_cores and dtype != torch.float32


def _stages(device: Device, dtype: torch.dtype, cache_dtype: torch.dtype) -> int:
    """2, to load the next tile while this one is multiplied; 1 where codes are converted and multiplied one by one.

    There the next tile would wait in registers, which the products need.
    """
    return 2 if cache_dtype.itemsize == dtype.itemsize or _multiplies_in_tiles(device, dtype) else 1


def _few_tokens(rows: int, head_size: int) -> int:
    """Tokens of a tile that is multiplied number by number: few, as each takes registers for all rows."""
    return 16 if rows * padded(head_size) >= 8192 else 32


def check_tiles(
    tiles: Tiles, device: Device, head_size: int, group_size: int, dtype: torch.dtype, cache_dtype: torch.dtype
) -> None:
    """Raise BadConfig for tiles that the kernels cannot have, or that need more shared memory than the device has."""
    if not isinstance(tiles, Tiles):
        raise BadConfig(f"tiles is {tiles!r}; give Tiles(rows, tokens, num_warps, num_stages)")
    whole("tiles.num_stages", tiles.num_stages)
    if whole("tiles.num_warps", tiles.num_warps) > 32 or tiles.num_warps & (tiles.num_warps - 1):
        raise BadConfig(f"tiles.num_warps is {tiles.num_warps}; expected a power of two up to 32")
    for name, size, least in (("rows", tiles.rows, group_size), ("tokens", tiles.tokens, 16)):
        if whole(f"tiles.{name}", size) < least or size & (size - 1):
            raise BadConfig(f"tiles.{name} is {size}; expected a power of two from {least} on")
    needed = shared_bytes(tiles, device, head_size, dtype, cache_dtype)
    if needed > device.shared_bytes:
        raise BadConfig(
            f"tiles of {tiles.rows} rows and {tiles.tokens} tokens of head size {head_size} need about {needed} bytes "
            f"of shared memory; a program on {device.name} has {device.shared_bytes}: give smaller tiles, or take "
            'backend "gather"'
        )


def _fitting(
    tiles: Tiles, device: Device, head_size: int, group_size: int, dtype: torch.dtype, cache_dtype: torch.dtype
) -> Tiles:
    while shared_bytes(tiles, device, head_size, dtype, cache_dtype) > device.shared_bytes and tiles.tokens > 16:
        tiles = tiles._replace(tokens=tiles.tokens // 2)
    check_tiles(tiles, device, head_size, group_size, dtype, cache_dtype)
    return tiles
