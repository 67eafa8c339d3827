"""What can be counted of a decode step before it runs, on any device: bytes, operations, programs, waves."""

from math import ceil
from typing import NamedTuple

from kvlib.attention.triton.device import Device
from kvlib.attention.triton.tiles import choose_splits, decode_tiles, shared_bytes
from kvlib.bench.gpu.loads import Load

ENTRY_BYTES = 4  # an entry of a block table, int32


class Grid(NamedTuple):
    """How the decode kernel is launched for a load on a device.

    splits: of each context. programs: in all. places: how many the device holds at once, as far as shared memory goes;
    registers can make it fewer.
    """

    splits: int
    programs: int
    places: int

    @property
    def waves(self) -> int:
        """How often the places are taken until all programs have run, the last time perhaps not all of them."""
        return ceil(self.programs / self.places)


def grid(load: Load, device: Device) -> Grid | None:
    """The launch of `load` on `device`; None where the device has no arithmetic of its dtype."""
    if load.dtype == "bf16" and not device.has_bfloat16:
        return None
    splits = choose_splits(device, load.batch, load.num_kv_heads, load.longest)
    dtypes = load.query_dtype, load.cache_dtype
    tiles = decode_tiles(device, load.head_size, load.num_heads // load.num_kv_heads, *dtypes)
    on_one_sm = device.shared_bytes // shared_bytes(tiles, device, load.head_size, *dtypes)
    return Grid(splits, load.batch * load.num_kv_heads * splits, device.num_sms * on_one_sm)


def table_bytes(load: Load) -> int:
    """Bytes of the entries of the block tables that are in use."""
    return sum(ceil(context_len / load.block_size) for context_len in load.context_lens) * ENTRY_BYTES


def intensity(load: Load) -> float:
    """Operations for each byte of keys and values: a multiplication and an addition for each number of a key and of a
    value, once for every query head that shares it."""
    operations = 4 * load.num_heads * load.head_size * sum(load.context_lens)
    return operations / load.kv_bytes
