"""The replay's counts are what any manager with vLLM's policy gives on the same requests."""

from itertools import islice

import pytest

from kvlib.bench.replay import BLOCK_SIZE, NUM_BLOCKS, PHASES, Replay, calibrate
from kvlib.bench.requests import digest, make_requests
from kvlib.errors import BadConfig
from kvlib.memory import BlockManager, PrefixHasher
from kvlib.memory.prefix import HASHES


@pytest.fixture(scope="module")
def requests():
    return list(make_requests())


def test_the_requests_are_those_of_the_published_digest(requests):
    assert digest(requests) == "2937ac4161ec4a60481338f88e35b7f963956fa807fba447a05a289122aef549"
    assert sum(len(request.prompt) for request in requests) == 4_642_771
    assert sum(len(request.output) for request in requests) == 651_390


@pytest.mark.parametrize("hash", HASHES)
def test_steps_preemptions_and_hits_are_exactly_those_of_vllm(requests, hash):
    manager = BlockManager(NUM_BLOCKS, BLOCK_SIZE)
    replay = Replay(requests, manager, PrefixHasher(BLOCK_SIZE, hash)).run()
    assert (replay.num_steps, replay.num_preemptions) == (4858, 346)
    assert (replay.num_hit, replay.num_queried) == (1_404_016, 5_443_619)
    assert manager.num_free_blocks == NUM_BLOCKS
    assert not manager.sequences
    assert set(replay.seconds) == set(PHASES)
    assert all(seconds > 0 for seconds in replay.seconds.values())


def test_a_request_preempted_at_its_last_token_ends_too():
    requests = list(islice(make_requests(), 12))
    longest = max(len(request.prompt) + len(request.output) for request in requests)
    manager = BlockManager(longest // BLOCK_SIZE + 2, BLOCK_SIZE)
    replay = Replay(requests, manager, PrefixHasher(BLOCK_SIZE)).run()
    assert replay.num_preemptions > 0
    assert manager.num_free_blocks == manager.pool.num_blocks


def test_another_seed_gives_other_requests_and_a_bad_one_is_named():
    assert digest(make_requests(3, seed=1)) != digest(make_requests(3, seed=2))
    with pytest.raises(BadConfig, match="seed is 'one'"):
        next(make_requests(3, seed="one"))
    with pytest.raises(BadConfig, match="num_requests is 0"):
        next(make_requests(0))


def test_the_calibration_takes_time():
    assert calibrate() > 0
