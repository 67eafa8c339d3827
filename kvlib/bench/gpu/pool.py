"""The memory that a load reads: more blocks than the L2 cache holds, in random order, poison where no token is."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from kvlib.attention.reference import causal_attention
from kvlib.attention.scoring import Scoring
from kvlib.bench.gpu.loads import Load
from kvlib.bench.kernels.problems import NOWHERE

MOST_TABLES = 20  # launches in one CUDA graph
L2_TIMES = 4  # the pool has this many times the L2 cache
SPARE_BLOCKS = 3
WIDTH = 16  # tables have a multiple of so many columns: one compiled kernel serves short and long contexts
E4M3_NAN = 0x7F


class Pool(NamedTuple):
    """A load's tensors.

    query [batch, num_heads, head_size]. key_cache, value_cache [num_blocks, block_size, num_kv_heads, head_size]: block
    0 and every slot that no table uses is NaN. tables: block tables [batch, max_blocks] int32, no block in two of them,
    as many as it takes to name more than the L2 cache holds, but no more than MOST_TABLES; their unused ends point
    nowhere. context_lens [batch] int32. k_scale, v_scale [num_kv_heads] float32, of a quantised cache.
    """

    load: Load
    query: Tensor
    key_cache: Tensor
    value_cache: Tensor
    tables: list[Tensor]
    context_lens: Tensor
    scale: float
    k_scale: Tensor | None
    v_scale: Tensor | None


def num_tables(load: Load, l2_bytes: int) -> int:
    """How many tables it takes to name L2_TIMES the L2 cache, from 1 to MOST_TABLES."""
    return min(MOST_TABLES, max(1, -(-L2_TIMES * l2_bytes // load.kv_bytes)))


def pool_bytes(load: Load, l2_bytes: int) -> int:
    """Bytes of the caches that `new_pool` makes, give or take a block for each sequence."""
    return max(num_tables(load, l2_bytes) * load.kv_bytes, L2_TIMES * l2_bytes)


def new_pool(
    load: Load, device: torch.device, l2_bytes: int, *, shuffled: bool = True, odd_stride: bool = False
) -> Pool:
    """Random keys, values and queries for `load`, the same at every call on one device."""
    random = torch.Generator(device).manual_seed(0)
    widths = [-(-context_len // load.block_size) for context_len in load.context_lens]
    count = num_tables(load, l2_bytes)
    block_bytes = load.kv_bytes // sum(load.context_lens) * load.block_size
    num_blocks = 1 + max(count * sum(widths), -(-L2_TIMES * l2_bytes // block_bytes)) + SPARE_BLOCKS
    blocks = torch.arange(1, num_blocks, dtype=torch.int32, device=device)
    if shuffled:
        blocks = blocks[torch.randperm(num_blocks - 1, generator=random, device=device)]
    tables = [_table(blocks, widths) for blocks in blocks[: count * sum(widths)].split(sum(widths))]

    context_lens = torch.tensor(load.context_lens, dtype=torch.int32, device=device)
    unused = torch.ones(num_blocks * load.block_size, dtype=torch.bool, device=device)
    for table in tables:
        unused[_slots(table, context_lens, load.block_size)] = False
    key_cache, value_cache = (_cache(load, num_blocks, odd_stride, unused, random) for _ in range(2))
    query = torch.empty(load.batch, load.num_heads, load.head_size, dtype=load.query_dtype, device=device)
    query.normal_(generator=random)
    scales: list[Tensor | None] = [None, None]
    if load.cache_dtype.itemsize == 1:
        scales = [0.01 + 0.02 * torch.rand(load.num_kv_heads, generator=random, device=device) for _ in range(2)]
    return Pool(load, query, key_cache, value_cache, tables, context_lens, load.head_size**-0.5, *scales)


def checked_sequences(load: Load) -> list[int]:
    """Which sequences are computed in float64: the first, the last, the longest and the shortest."""
    lengths = load.context_lens
    return sorted({0, load.batch - 1, lengths.index(max(lengths)), lengths.index(min(lengths))})


def answers(pool: Pool, table: Tensor) -> Tensor:
    """Attention in float64 of the checked sequences over the blocks that `table` names: [num_checked, num_heads,
    head_size]."""
    outputs = []
    for s in checked_sequences(pool.load):
        key, value = (numbers.double() for numbers in stored(pool, table, s))
        if pool.k_scale is not None and pool.v_scale is not None:
            key, value = key * pool.k_scale.double()[:, None], value * pool.v_scale.double()[:, None]
        outputs.append(causal_attention(pool.query[s : s + 1].double(), key, value, Scoring(pool.scale)))
    return torch.cat(outputs)


def stored(pool: Pool, table: Tensor, sequence: int) -> tuple[Tensor, Tensor]:
    """The keys and values of one sequence as they are stored, each [context_len, num_kv_heads, head_size]."""
    own = slice(sequence, sequence + 1)
    slots = _slots(table[own], pool.context_lens[own], pool.load.block_size)
    block, offset = slots // pool.load.block_size, slots % pool.load.block_size
    dtype = pool.load.cache_dtype
    bits = {1: torch.uint8, 2: torch.int16}[dtype.itemsize]  # not every device indexes e4m3
    key, value = (cache.view(bits)[block, offset].view(dtype) for cache in (pool.key_cache, pool.value_cache))
    return key, value


def _table(blocks: Tensor, widths: list[int]) -> Tensor:
    columns = -(-max(widths) // WIDTH) * WIDTH
    table = blocks.new_full((len(widths), columns), NOWHERE)
    for row, own in zip(table, blocks.split(widths)):
        row[: len(own)] = own
    return table


def _slots(table: Tensor, context_lens: Tensor, block_size: int) -> Tensor:
    """The slots of the tokens of all contexts, sequence by sequence, in order."""
    slots = table[:, :, None].long() * block_size + torch.arange(block_size, device=table.device)
    position = torch.arange(slots.shape[1] * block_size, device=table.device)
    return slots.flatten(1)[position < context_lens[:, None]]


def _cache(load: Load, num_blocks: int, odd_stride: bool, unused: Tensor, random: torch.Generator) -> Tensor:
    shape = (num_blocks, load.block_size, load.num_kv_heads, load.head_size + odd_stride)
    cache = torch.empty(shape, dtype=load.query_dtype, device=unused.device).normal_(generator=random)
    if load.cache_dtype == torch.float8_e4m3fn:
        cache = cache.mul_(100).clamp_(-448, 448).to(load.cache_dtype)
        cache.view(torch.uint8).flatten(0, 1)[unused] = E4M3_NAN
    else:
        cache.flatten(0, 1)[unused] = math.nan
    return cache[..., : load.head_size]
