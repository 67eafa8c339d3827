"""Swapping and recomputing on the paper's server: the law, and the ledger's numbers that come from it."""

import pytest

from kvlib.bench.link import COPY_S, LINK_REACHED, recompute_s, swap_s
from kvlib.errors import BadConfig
from kvlib.ledger import load

NUMBERS = {id: each.value for id, each in load().items()}
HELD = round(NUMBERS["vllm-tokens-each"])
RUNNING = int(NUMBERS["vllm-batched"])


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
