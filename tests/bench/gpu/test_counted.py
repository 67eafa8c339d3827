"""What is counted of a step agrees with what a launch does, and what is derived from data sheets with the ledger."""

import pytest

from kvlib import ledger
from kvlib.attention.triton import paged_decode
from kvlib.attention.triton.device import H100, INTERPRETER, T4
from kvlib.bench.gpu.cards import CARDS
from kvlib.bench.gpu.counted import Grid, grid, intensity, table_bytes
from kvlib.bench.gpu.loads import equal, even_lengths
from kvlib.bench.gpu.machine import Interpreter
from kvlib.bench.gpu.pool import new_pool
from kvlib.bench.gpu.race import TINY, Race
from kvlib.grading.kernels.watched import Watch

BIG = equal(64, 4096)


def test_the_programs_are_those_of_the_launch():
    pool = new_pool(TINY, Interpreter.device, 0)
    with Watch() as watch:
        paged_decode(
            pool.query, pool.key_cache, pool.value_cache, block_tables=pool.tables[0], context_lens=pool.context_lens,
            scale=pool.scale, max_context_len=TINY.longest,
        )  # fmt: skip
    assert watch.launches[0].num_programs == grid(TINY, INTERPRETER).programs


def test_the_bytes_of_the_tables_are_those_that_a_row_has_as_extra():
    row = Race(Interpreter()).run(TINY)
    outputs_and_queries = 2 * TINY.batch * TINY.num_heads * TINY.head_size * 2
    assert row["extra_bytes"] == table_bytes(TINY) + outputs_and_queries


def test_a_step_of_64_requests_on_an_h100_counted_by_hand():
    launch = grid(BIG, H100)
    assert (launch.splits, launch.programs, launch.places) == (1, 512, 132 * 5)  # five tiles of 39,936 bytes an SM
    assert launch.waves == 1
    assert table_bytes(BIG) == 64 * 256 * 4


@pytest.mark.parametrize(("programs", "waves"), [(1, 1), (10, 1), (11, 2), (24, 3), (30, 3)])
def test_waves_are_whole(programs, waves):
    assert Grid(1, programs, places=10).waves == waves


@pytest.mark.parametrize(("dtype", "operations"), [("fp16", 4), ("bf16", 4), ("e4m3", 8)])
def test_operations_for_each_byte_depend_on_group_and_dtype_alone(dtype, operations):
    for load in (BIG, equal(1, 100), even_lengths(9, 500)):
        assert intensity(load._replace(dtype=dtype)) == operations
        assert intensity(load._replace(dtype=dtype, num_heads=64)) == 2 * operations


def test_a_card_without_bfloat16_has_no_launch_of_it():
    assert grid(BIG._replace(dtype="bf16"), T4) is None


def test_the_a100_is_the_one_of_the_ledger():
    [a100] = [card for card in CARDS if card.name == "A100"]
    assert a100.gbps == ledger.number("a100-bandwidth").value
    assert a100.tflops == ledger.number("a100-fp16").value
    assert a100.balance == pytest.approx(ledger.number("a100-flop-per-byte").value)


def test_the_least_time_is_bytes_over_bandwidth():
    assert {card.name: round(card.floor_us(BIG.kv_bytes)) for card in CARDS} == {
        "T4": 3355, "L4": 3579, "A100": 691, "H100": 321, "B200": 139
    }  # fmt: skip


def test_a_card_holds_what_its_memory_has_bytes_for():
    assert [card.holds(16 * 10**9) for card in CARDS] == [True] * 5
    assert [card.holds(16 * 10**9 + 1) for card in CARDS] == [False, True, True, True, True]


def test_every_card_names_its_data_sheet():
    assert all("data sheet" in card.sheet for card in CARDS)
