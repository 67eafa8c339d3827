"""Swapping and recomputing on the paper's server: the law, and the ledger's numbers that come from it."""

from statistics import fmean

import pytest

from kvlib.bench.link import COPY_S, LINK_REACHED, recompute_s, swap_s, yielded_tokens
from kvlib.bench.server import server_cost, server_memory
from kvlib.errors import BadConfig
from kvlib.ledger import load
from kvlib.serving.lengths import sharegpt
from kvlib.serving.simulator import simulate
from kvlib.serving.workload import poisson

NUMBERS = {id: each.value for id, each in load().items()}
HELD = round(NUMBERS["vllm-tokens-each"])
RUNNING = int(NUMBERS["vllm-batched"])


@pytest.fixture(scope="module")
def held() -> list[int]:
    return yielded_tokens(2)


def test_the_ledgers_mean_is_that_of_the_tokens_held_by_those_who_yield(held: list[int]) -> None:
    assert NUMBERS["sim-yield-tokens"] == pytest.approx(fmean(held), abs=0.5)


@pytest.mark.parametrize("block_size", [1, 16, 64, 256])
def test_the_ledgers_ratios_are_those_of_the_law_over_all_who_yield(held: list[int], block_size: int) -> None:
    again_s = fmean(recompute_s(tokens, RUNNING, RUNNING * HELD) for tokens in held)
    moved_s = fmean(swap_s(tokens, block_size) for tokens in held)
    assert NUMBERS[f"sim-recompute-over-swap-{block_size}"] == pytest.approx(again_s / moved_s, abs=0.01)


def test_watching_who_yields_changes_nothing_and_finds_each_once() -> None:
    arrivals = poisson(sharegpt(seed=1), 2, seed=1, duration_s=600)
    hour = simulate(arrivals, server_memory("paged"), server_cost("paged"), until_s=600)
    found = yielded_tokens(2, seed=1, duration_s=600)
    assert len(found) == hour.num_preemptions > 0
    assert min(found) > 0


@pytest.mark.parametrize("block_size", [1, 16, 64, 256])
def test_the_ledgers_milliseconds_are_those_of_the_law(block_size: int) -> None:
    again_s = recompute_s(HELD, RUNNING, RUNNING * HELD)
    assert NUMBERS["recompute-ms"] == pytest.approx(1e3 * again_s)
    assert NUMBERS[f"swap-ms-{block_size}"] == pytest.approx(1e3 * swap_s(HELD, block_size))
    assert NUMBERS[f"recompute-over-swap-{block_size}"] == pytest.approx(again_s / swap_s(HELD, block_size))


def test_the_ledger_names_both_assumptions_as_the_code_has_them() -> None:
    assert NUMBERS["prior-link-reached"] == pytest.approx(100 * LINK_REACHED)
    assert NUMBERS["prior-copy-us"] == pytest.approx(1e6 * COPY_S)


def test_without_overhead_only_whole_blocks_count() -> None:
    assert swap_s(256, 1, copy_s=0) == pytest.approx(swap_s(256, 256, copy_s=0))
    assert swap_s(257, 256, copy_s=0) == pytest.approx(2 * swap_s(256, 256, copy_s=0))


def test_what_copies_cost_beside_their_bytes_is_spared_by_larger_blocks() -> None:
    overhead = [swap_s(256, size) - swap_s(256, size, copy_s=0) for size in (1, 16, 256)]
    assert overhead == pytest.approx([2 * blocks * 80 * COPY_S for blocks in (256, 16, 1)])


def test_recomputing_beside_others_costs_less_than_alone_as_the_weights_are_read_anyway() -> None:
    assert 0 < recompute_s(HELD, RUNNING, RUNNING * HELD) < recompute_s(HELD)


@pytest.mark.parametrize(("num_tokens", "block_size", "named"), [(0, 16, "num_tokens"), (16, 0, "block_size")])
def test_a_size_that_is_none_is_named(num_tokens: int, block_size: int, named: str) -> None:
    with pytest.raises(BadConfig, match=named):
        swap_s(num_tokens, block_size)
