"""How fast memory can be read here: a copy, a kernel that only reads, and one that only reads through block tables.

What a decode kernel takes more than the first is the price of attention, and what that takes more than the second is
the price of looking blocks up.
"""

from functools import partial

import torch
from torch import Tensor

from kvlib.attention.triton.tiles import choose_splits, split_length
from kvlib.bench.gpu.change import Change
from kvlib.bench.gpu.contestants import Prepared
from kvlib.bench.gpu.machine import Machine
from kvlib.bench.gpu.pool import Pool, stored
from kvlib.bench.gpu.reading import read_kernel, read_paged_kernel

TOKENS = 64
PROGRAMS_FOR_EACH_SM = 8
SUM_BOUND = 1e-4  # of the relative error of a sum in float32


def copied(pool: Pool, change: Change, machine: Machine) -> Prepared:
    """torch's copy of the key cache; what it reads and what it writes counts."""
    source = pool.key_cache.nan_to_num(0.0)
    target = torch.full_like(source, torch.nan)
    return Prepared(
        [lambda: target.copy_(source)],
        owned=[target],
        expected=[source],
        details={"kv_bytes": 2 * source.nbytes, "rot_bytes": source.nbytes, "page": 0},
    )


def read(pool: Pool, change: Change, machine: Machine) -> Prepared:
    """`read_kernel` over the key cache, as it lies in memory."""
    rows = pool.key_cache.nan_to_num(0.0).flatten(0, 2)  # [num_rows, head_size]
    programs = PROGRAMS_FOR_EACH_SM * machine.properties.num_sms
    rows_each = -(-len(rows) // programs)
    output = rows.new_empty(programs, rows.shape[1], dtype=torch.float32)

    def call() -> Tensor:
        read_kernel[(programs,)](output, rows, len(rows), rows_each, DIMS=rows.shape[1], ROWS=TOKENS)
        return output

    missing = programs * rows_each - len(rows)
    shares = torch.nn.functional.pad(rows, (0, 0, 0, missing)).unflatten(0, (programs, rows_each))
    return Prepared(
        [call],
        owned=[output],
        kernel=read_kernel,
        expected=[shares.sum(1, dtype=torch.float64)],
        bound=SUM_BOUND,
        details={"kv_bytes": rows.nbytes, "rot_bytes": rows.nbytes, "page": 0, "extra_bytes": output.nbytes},
    )


def read_paged(pool: Pool, change: Change, machine: Machine) -> Prepared:
    """`read_paged_kernel` over the keys and values of the load, split as the decode kernel splits them."""
    load = pool.load
    splits = choose_splits(machine.properties, load.batch, load.num_kv_heads, load.longest)
    split_len = split_length(splits, load.longest, TOKENS)
    shape = (load.batch, load.num_kv_heads, splits, load.head_size)
    owned = [torch.empty(shape, device=machine.device) for _ in pool.tables]
    strides = (*pool.key_cache.stride()[:3], *pool.value_cache.stride()[:3])

    def call(table: Tensor, output: Tensor) -> Tensor:
        read_paged_kernel[(load.num_kv_heads, load.batch, splits)](
            output,
            pool.key_cache,
            pool.value_cache,
            table,
            pool.context_lens,
            split_len,
            table.stride(0),
            *strides,
            BLOCK_SIZE=load.block_size,
            TOKENS=TOKENS,
            DIMS=load.head_size,
        )
        return output

    return Prepared(
        [partial(call, table, output) for table, output in zip(pool.tables, owned)],
        owned,
        read_paged_kernel,
        expected=[_split_sums(pool, table, splits, split_len) for table in pool.tables],
        bound=SUM_BOUND,
        details={"splits": splits, "bn": TOKENS, "extra_bytes": owned[0].nbytes},
    )


def _split_sums(pool: Pool, table: Tensor, splits: int, split_len: int) -> Tensor:
    """What read_paged_kernel should give, float64."""
    sums = torch.zeros(pool.load.batch, splits, pool.load.num_kv_heads, pool.load.head_size, dtype=torch.float64)
    for s in range(pool.load.batch):
        key, value = stored(pool, table, s)
        for split, (keys, values) in enumerate(zip(key.split(split_len), value.split(split_len))):
            sums[s, split] = keys.sum(0, dtype=torch.float64) + values.sum(0, dtype=torch.float64)
    return sums.transpose(1, 2).to(table.device)
