"""Thousands of requests through a small pool: every one is answered or refused with its reason, and nothing stays."""

import gc

import psutil
import pytest

from kvlib.chance import Chance
from kvlib.engine import LLM, Model, SamplingParams
from kvlib.errors import RequestTooLarge

NUM_REQUESTS = 2000


@pytest.mark.parametrize("how", [{}, {"preemption": "swap", "num_host_blocks": 24}])
def test_two_thousand_requests_with_random_aborts_leave_every_block_free_and_memory_flat(
    tiny: Model, how: dict[str, object]
) -> None:
    chance = Chance(7)
    llm = LLM(tiny, block_size=4, num_blocks=24, max_num_seqs=16, enable_chunked_prefill=True, **how)
    waiting = {f"r{number}" for number in range(NUM_REQUESTS)}
    refused, aborted, answered = set(), set(), {}
    lengths = {}
    for name in sorted(waiting):
        prompt = [5 + chance.below(200) for _ in range(1 + chance.below(120 if chance.below(50) == 0 else 30))]
        params = SamplingParams(
            n=1 + chance.below(3), seed=chance.below(100), max_tokens=1 + chance.below(12), ignore_eos=True
        )
        lengths[name] = (params.n, params.max_tokens)
        try:
            llm.add_request(name, prompt, params)
        except RequestTooLarge:
            refused.add(name)
    alive = waiting - refused
    process, sizes = psutil.Process(), []
    while llm.has_unfinished_requests():
        for output in llm.step():
            if output.finished:
                answered[output.request_id] = [len(answer.token_ids) for answer in output.outputs]
        if chance.below(6) == 0:
            open_names = sorted(alive - aborted - answered.keys())
            if open_names:
                name = open_names[chance.below(len(open_names))]
                llm.abort_request(name)
                aborted.add(name)
        if len(answered) % 200 == 0:
            gc.collect()
            sizes.append(process.memory_info().rss)
    assert refused
    assert aborted
    assert answered.keys() | aborted | refused == waiting
    assert not answered.keys() & aborted
    for name, written in answered.items():
        n, max_tokens = lengths[name]
        assert len(written) == n
        assert all(0 < length <= max_tokens for length in written)
    assert llm.manager.num_free_blocks == 24
    assert not llm._loop._prefixes._of
    assert llm.manager.host_pool.num_free == llm.manager.host_pool.num_blocks
    assert max(sizes[len(sizes) // 4 :]) - sizes[len(sizes) // 4] < 16 * 2**20
