"""The pool: more blocks than a cache holds, each in one table at most, poison elsewhere, and its float64 answers."""

import pytest
import torch

from kvlib.attention import attend
from kvlib.bench.gpu.change import Change
from kvlib.bench.gpu.loads import Load, equal, even_lengths, long_tail
from kvlib.bench.gpu.machine import Interpreter
from kvlib.bench.gpu.pool import answers, checked_sequences, new_pool, num_tables, pool_bytes
from kvlib.bench.gpu.pools import Pools
from kvlib.bench.kernels.problems import BOUNDS, NOWHERE, error

CPU = torch.device("cpu")
SIZES = {"num_heads": 4, "num_kv_heads": 2, "head_size": 32}
LOADS = [
    Load("ragged", (5, 33, 1), block_size=16, **SIZES),
    Load("ragged", (5, 33, 1), block_size=16, dtype="bf16", **SIZES),
    Load("ragged", (5, 33, 1), block_size=3, dtype="e4m3", **SIZES),
    Load("alone", (40,), block_size=1, **SIZES),
    Load("equal", (32, 32), block_size=64, **SIZES),
]


def uses(pool):
    """The blocks that each table names, for each sequence."""
    widths = [-(-context_len // pool.load.block_size) for context_len in pool.load.context_lens]
    return [[row[:width].tolist() for row, width in zip(table, widths)] for table in pool.tables]


@pytest.mark.parametrize("load", LOADS, ids=str)
@pytest.mark.parametrize("shuffled", [True, False])
@pytest.mark.parametrize("odd_stride", [True, False])
def test_slots_of_tokens_hold_numbers_and_all_others_nan(load, shuffled, odd_stride):
    pool = new_pool(load, CPU, 40_000, shuffled=shuffled, odd_stride=odd_stride)
    filled = torch.zeros(pool.key_cache.shape[:2], dtype=torch.bool)
    for table in uses(pool):
        for context_len, blocks in zip(load.context_lens, table):
            for position in range(context_len):
                filled[blocks[position // load.block_size], position % load.block_size] = True
    for cache in (pool.key_cache, pool.value_cache):
        assert torch.equal(cache.float().isfinite().all(-1).all(-1), filled)
        assert torch.equal(cache.float().isnan().all(-1).all(-1), ~filled)
        assert cache.stride(-1) == 1
        assert cache.stride(-2) == load.head_size + odd_stride
        assert cache.dtype == load.cache_dtype


@pytest.mark.parametrize("load", LOADS, ids=str)
def test_tables_share_no_block_and_point_nowhere_behind_their_contexts(load):
    pool = new_pool(load, CPU, 40_000)
    blocks = [block for table in uses(pool) for row in table for block in row]
    assert len(blocks) == len(set(blocks))
    assert 0 not in blocks
    assert max(blocks) < len(pool.key_cache)
    ends = sum(int((table == NOWHERE).sum()) for table in pool.tables)
    assert ends + len(blocks) == sum(table.numel() for table in pool.tables)
    assert all(table.shape[1] % 16 == 0 for table in pool.tables)


def test_blocks_lie_in_random_order_unless_they_are_wanted_in_that_of_the_tokens():
    load = equal(2, 200, **SIZES)
    [table, *_] = uses(new_pool(load, CPU, 0, shuffled=False))
    assert [block for row in table for block in row] == list(range(1, 27))
    [table, *_] = uses(new_pool(load, CPU, 0))
    steps = torch.tensor(table[0]).diff()
    assert (steps == 1).sum() < 4


def test_the_pool_has_four_times_the_second_cache_and_tables_that_name_as_much():
    small = equal(1, 16, **SIZES)  # 4096 bytes
    assert small.kv_bytes == 4096
    for l2_bytes, tables in ((0, 1), (1024, 1), (1025, 2), (5000, 5), (10**6, 20)):
        assert num_tables(small, l2_bytes) == tables
        pool = new_pool(small, CPU, l2_bytes)
        assert len(pool.tables) == tables
        num_bytes = pool.key_cache.nbytes + pool.value_cache.nbytes
        assert num_bytes >= max(4 * l2_bytes, tables * small.kv_bytes)
        assert num_bytes == pytest.approx(pool_bytes(small, l2_bytes), abs=5 * 4096)


@pytest.mark.parametrize("load", LOADS, ids=str)
def test_answers_are_those_of_dense_attention(load):
    pool = new_pool(load, CPU, 0)
    output = attend(
        pool.query,
        pool.key_cache,
        pool.value_cache,
        block_tables=pool.tables[0].clamp(max=len(pool.key_cache) - 1),
        context_lens=pool.context_lens,
        query_start_loc=torch.arange(load.batch + 1),
        scale=pool.scale,
        k_scale=pool.k_scale,
        v_scale=pool.v_scale,
        backend="dense",
    )
    assert error(output[checked_sequences(load)], answers(pool, pool.tables[0])) <= BOUNDS[load.query_dtype]


def test_the_first_the_last_the_longest_and_the_shortest_sequence_are_checked():
    assert checked_sequences(Load("any", (5, 9, 1, 4, 3))) == [0, 1, 2, 4]
    assert checked_sequences(Load("any", (5,))) == [0]


def test_the_same_load_is_the_same_pool():
    one, two = (new_pool(LOADS[0], CPU, 100) for _ in range(2))
    assert torch.equal(one.query, two.query)
    assert torch.equal(one.key_cache.nan_to_num(), two.key_cache.nan_to_num())
    assert not torch.equal(one.key_cache.nan_to_num(), one.value_cache.nan_to_num())


def test_rows_of_one_load_share_its_pool_and_others_do_not():
    pools = Pools(Interpreter())
    plain = pools.take(LOADS[0], Change())
    assert pools.take(LOADS[0], Change("splits", num_splits=3)) is plain
    assert pools.take(LOADS[0], Change("odd", odd_stride=True)) is not plain
    assert pools.take(LOADS[0], Change()) is not plain
    assert pools.take(LOADS[1], Change()).load == LOADS[1]


@pytest.mark.parametrize("make", [even_lengths, long_tail])
def test_ragged_lengths_reach_from_short_to_the_longest(make):
    load = make(64, 8192)
    assert load.batch == 64
    assert load.is_ragged
    assert load.longest == 8192
    assert min(load.context_lens) >= 1
    short = sum(context_len <= 91 for context_len in load.context_lens)  # the square root of 8192
    assert short < 5 if make is even_lengths else 20 < short < 44
    assert make(64, 8192) == load


def test_bytes_are_those_of_keys_and_values():
    assert equal(64, 4096).kv_bytes == 64 * 4096 * 4096  # 4096 bytes a token: 8 heads of 128, 2 bytes, keys and values
    assert equal(64, 4096, dtype="e4m3").kv_bytes == 64 * 4096 * 2048
