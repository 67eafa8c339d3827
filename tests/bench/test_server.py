"""The paper's server: what the ledger's figures make of the time law and of the memory."""

import pytest

from kvlib.bench.policies import POLICIES
from kvlib.bench.server import server_cost, server_memory
from kvlib.errors import BadConfig
from kvlib.memory.contiguous import Max, Oracle, Pow2


def test_the_memory_is_the_papers_15728_slots_in_983_blocks():
    paged = server_memory("paged")
    assert (paged.num_blocks, paged.block_size, paged.num_slots) == (983, 16, 15_728)
    assert {server_memory(policy).num_slots for policy in POLICIES} == {15_728}


@pytest.mark.parametrize(("policy", "expected"), [("max", Max), ("pow2", Pow2), ("oracle", Oracle)])
def test_a_reserving_policy_knows_the_longest_sequence(policy, expected):
    found = server_memory(policy).manager.policy
    assert (type(found), found.longest) == (expected, 2048)


def test_blocks_are_as_many_as_fit_beside_what_is_taken():
    assert server_memory("paged", num_slots=100, block_size=32).num_blocks == 3
    assert server_memory("paged", num_slots=100, num_slots_taken=80, block_size=16).num_blocks == 1
    assert server_memory("max", num_slots=100, num_slots_taken=80).num_slots == 20


def test_a_memory_smaller_than_a_block_is_refused():
    with pytest.raises(BadConfig, match="10 slots is smaller than one block of 16"):
        server_memory("paged", num_slots=10)


@pytest.mark.parametrize("setting", [{"num_slots": 0}, {"block_size": 0}, {"watermark": 1}])
def test_a_bad_setting_is_named(setting):
    with pytest.raises(BadConfig, match=next(iter(setting))):
        server_memory("paged", **setting)


@pytest.mark.parametrize("build", [server_memory, server_cost])
def test_an_unknown_policy_is_refused_with_the_known_ones(build):
    with pytest.raises(BadConfig, match="'vllm'; choose one of max, pow2, oracle, paged"):
        build("vllm")


@pytest.mark.parametrize(
    ("policy", "num_seqs", "num_kv_tokens", "milliseconds"),
    [("max", 7, 7 * 458, 33), ("oracle", 13, 13 * 441, 36), ("paged", 34, 34 * 440, 50), ("paged", 128, 9_500, 69)],
)
def test_an_iteration_of_decodes_takes_some_tens_of_milliseconds(policy, num_seqs, num_kv_tokens, milliseconds):
    seconds = server_cost(policy).seconds(num_seqs, num_seqs, num_kv_tokens)
    assert 1000 * seconds == pytest.approx(milliseconds, abs=0.6)


def test_a_shared_prefix_is_read_by_every_sequence():
    assert server_cost("paged", 100).seconds(3, 3, 50) == pytest.approx(server_cost("paged").seconds(3, 3, 350))
