"""What a row measures: a contestant makes, from a pool, calls that compute the pool's attention table by table."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from kvlib.attention.triton import Workspace, naive, paged_decode
from kvlib.attention.triton.decode import decode_kernel
from kvlib.attention.triton.naive import naive_kernel
from kvlib.attention.triton.tiles import choose_splits, decode_tiles
from kvlib.bench.gpu.change import Change
from kvlib.bench.gpu.loads import Load
from kvlib.bench.gpu.machine import Machine
from kvlib.bench.gpu.pool import Pool


class Prepared(NamedTuple):
    """Calls for the tables of the pool in their order, or for the first of them; each returns its output, [batch,
    num_heads, head_size], or that with its heads in groups.

    owned: the outputs, where the calls write to given ones. kernel: whose registers are of interest. expected: what the
    calls should return, in float64, where that is not attention; bound: the relative error that it may have then.
    details: fields of the row. note: what a reader has to know.
    """

    calls: Sequence[Callable[[], Tensor]]
    owned: Sequence[Tensor] = ()
    kernel: object = None
    expected: Sequence[Tensor] | None = None
    bound: float | None = None
    details: Mapping[str, Any] = MappingProxyType({})
    note: str = ""


Contestant = Callable[[Pool, Change, Machine], Prepared]


def ours(pool: Pool, change: Change, machine: Machine) -> Prepared:
    """`paged_decode`, with output and workspace allocated before."""
    load = pool.load
    query, tables, context_lens = pool.query, pool.tables, pool.context_lens
    group_size = load.num_heads // load.num_kv_heads
    if not change.packed:  # each head of a group as a sequence of its own, which reads the same blocks
        query = query.unflatten(1, (load.num_kv_heads, group_size)).transpose(1, 2).flatten(0, 1).contiguous()
        tables = [table.repeat_interleave(group_size, 0) for table in tables]
        context_lens = context_lens.repeat_interleave(group_size)
    if change.wide_ids:
        tables, context_lens = [table.long() for table in tables], context_lens.long()
    num_splits = splits_of(load, change, machine)
    rows = group_size if change.packed else 1
    tiles = change.applied(decode_tiles(machine.properties, load.head_size, rows, load.query_dtype, load.cache_dtype))
    workspace = Workspace(len(query), query.shape[1], num_splits, load.head_size, machine.device)
    owned = [torch.empty_like(query) for _ in tables]

    def call(table: Tensor, output: Tensor) -> Tensor:
        paged_decode(
            query,
            pool.key_cache,
            pool.value_cache,
            block_tables=table,
            context_lens=context_lens,
            scale=pool.scale,
            max_context_len=load.longest,
            k_scale=pool.k_scale,
            v_scale=pool.v_scale,
            output=output,
            workspace=workspace,
            tiles=tiles,
            num_splits=num_splits,
        )
        return output if change.packed else output.unflatten(0, (load.batch, group_size)).transpose(1, 2)

    parts_bytes = workspace.numbers.nbytes if num_splits > 1 else 0
    return Prepared(
        [partial(call, table, output) for table, output in zip(tables, owned)],
        owned,
        decode_kernel,
        details={
            "splits": num_splits,
            **dict(zip(("bm", "bn", "warps", "stages"), tiles)),
            "extra_bytes": 2 * query.nbytes + 2 * parts_bytes + _table_bytes(tables[0], pool),
        },
    )


def splits_of(load: Load, change: Change, machine: Machine) -> int:
    """Into how many splits `ours` cuts each context."""
    num_seqs = load.batch if change.packed else load.batch * load.num_heads // load.num_kv_heads
    return change.num_splits or choose_splits(machine.properties, num_seqs, load.num_kv_heads, load.longest)


def first_kernel(pool: Pool, change: Change, machine: Machine) -> Prepared:
    """`naive`: one program for each head, one block at a time."""
    owned = [torch.empty_like(pool.query) for _ in pool.tables]

    def call(table: Tensor, output: Tensor) -> Tensor:
        return naive(
            pool.query,
            pool.key_cache,
            pool.value_cache,
            block_tables=table,
            context_lens=pool.context_lens,
            scale=pool.scale,
            output=output,
        )

    return Prepared(
        [partial(call, table, output) for table, output in zip(pool.tables, owned)],
        owned,
        naive_kernel,
        details={"splits": 1, "extra_bytes": 2 * pool.query.nbytes + _table_bytes(pool.tables[0], pool)},
    )


def _table_bytes(table: Tensor, pool: Pool) -> int:
    return sum(-(-context_len // pool.load.block_size) for context_len in pool.load.context_lens) * table.itemsize
