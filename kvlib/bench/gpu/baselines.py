"""What others offer for the same step: torch's own attention on copied or contiguous memory, and FlexAttention.

None of them may meet NaN under a weight of 0, so their caches hold zeros where those of our kernels hold poison.
"""

import re
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.experimental._paged_attention import PagedAttention
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention
from torch.nn.functional import scaled_dot_product_attention

from kvlib.bench.gpu.change import Change
from kvlib.bench.gpu.contestants import Contestant, Prepared
from kvlib.bench.gpu.machine import Machine
from kvlib.bench.gpu.pool import Pool
from kvlib.errors import BadConfig

ZEROED = "unused slots zeroed"


def gathered(pool: Pool, change: Change, machine: Machine) -> Prepared:
    """All blocks copied into rows as long as the longest context, then torch's attention, with a mask where lengths
    differ. The heads of a group take the place of query rows, so no key is repeated."""
    load = pool.load
    width = -(-load.longest // load.block_size)
    length = width * load.block_size
    visible = (torch.arange(length, device=machine.device) < pool.context_lens[:, None])[:, None, None]
    mask = None if bool(visible.all()) else visible  # [batch, 1, 1, length]
    query = pool.query.unflatten(1, (load.num_kv_heads, -1))  # [batch, num_kv_heads, group_size, head_size]
    caches = _without_poison(pool)

    def call(blocks: Tensor) -> Tensor:
        key, value = (
            cache.index_select(0, blocks).view(load.batch, length, load.num_kv_heads, -1).transpose(1, 2)
            for cache in caches
        )
        return scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=pool.scale)

    return Prepared([partial(call, _filled(table, pool)) for table in pool.tables], note=ZEROED)


def contiguous(backend: SDPBackend) -> Contestant:
    """torch's attention by one of its backends, over keys and values that lie in rows already; for equal lengths."""

    def prepare(pool: Pool, change: Change, machine: Machine) -> Prepared:
        load = pool.load
        query = pool.query[:, :, None]  # [batch, num_heads, 1, head_size]
        rows = []
        for table in pool.tables:
            caches = (cache[_filled(table, pool)].flatten(0, 1) for cache in _without_poison(pool))
            shape = (load.batch, -1, load.num_kv_heads, load.head_size)
            rows.append([cache.view(shape)[:, : load.longest].transpose(1, 2).contiguous() for cache in caches])

        def call(key: Tensor, value: Tensor) -> Tensor:
            with sdpa_kernel(backend):
                return scaled_dot_product_attention(query, key, value, scale=pool.scale, enable_gqa=True)[:, :, 0]

        try:
            call(*rows[0])
        except RuntimeError as error:
            if not re.search("No (available kernel|viable backend)", str(error)):
                raise
            raise BadConfig(f"torch has no {backend.name.lower()} for this load on this device") from None
        return Prepared([partial(call, *row) for row in rows], details={"page": 0})

    return prepare


def flex(pool: Pool, change: Change, machine: Machine) -> Prepared:
    """FlexAttention with torch's own page table, compiled; in the interpreter as plain torch."""
    attention: Any = flex_attention if machine.interpreted else torch.compile(flex_attention, dynamic=False)
    key, value = (  # [1, num_kv_heads, num_slots, head_size]
        cache.flatten(0, 1).transpose(0, 1).contiguous()[None] for cache in _without_poison(pool)
    )
    query = pool.query[:, :, None]  # [batch, num_heads, 1, head_size]

    def call(mask: BlockMask) -> Tensor:
        return attention(query, key, value, block_mask=mask, scale=pool.scale, enable_gqa=True)[:, :, 0]

    # For one table only, because another may be compiled anew.
    return Prepared([partial(call, _paged_mask(pool, pool.tables[0]))], note=ZEROED)


def _paged_mask(pool: Pool, table: Tensor) -> BlockMask:
    load, device = pool.load, table.device
    pages = PagedAttention(len(pool.key_cache), load.block_size, load.batch, str(device))
    blocks = _filled(table, pool).view(load.batch, -1)
    for s, context_len in enumerate(load.context_lens):
        pages.empty_pages = blocks[s, : -(-context_len // load.block_size)].tolist()  # so it takes those of the table
        pages.reserve(torch.tensor(s, device=device), torch.tensor(context_len, device=device))

    def inside(sequence: Tensor, head: Tensor, query: Tensor, position: Tensor) -> Tensor:
        return position < pool.context_lens[sequence]

    length = blocks.shape[1] * load.block_size
    logical = create_block_mask(inside, load.batch, None, 1, length, device=str(device), BLOCK_SIZE=load.block_size)
    return pages.convert_logical_block_mask(logical)


def _filled(table: Tensor, pool: Pool) -> Tensor:
    """The blocks of all sequences, each row as long as the longest needs, filled up with its own first block."""
    block_size = pool.load.block_size
    width = -(-pool.load.longest // block_size)
    used = torch.arange(width, device=table.device) * block_size < pool.context_lens[:, None]
    return torch.where(used, table[:, :width], table[:, :1]).flatten()


def _without_poison(pool: Pool) -> list[Tensor]:
    return [cache.nan_to_num(0.0) for cache in (pool.key_cache, pool.value_cache)]
