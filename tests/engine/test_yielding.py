"""A memory too small: who yields comes back, by recomputation or from the host, and writes what it would have."""

from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvlib.chance import Chance
from kvlib.engine import LLM, BeamSearchParams, Model, SamplingParams
from kvlib.errors import BadConfig
from kvlib.events import EventLog
from kvlib.show.board import Board

PROMPTS = [[5 + (7 * index + place) % 200 for place in range(8 + 5 * index)] for index in range(5)]
GREEDY = SamplingParams(temperature=0, max_tokens=20, ignore_eos=True)
SWAP = {"preemption": "swap", "num_host_blocks": 60}


def yield_at_random(llm: LLM, seed: int, share: float = 0.2) -> None:
    """In a share of the steps there seems to be no block left, so that the latest request yields."""
    can_append, chance, calls = llm.manager.can_append, Chance(seed), count()

    def seeming(seq_ids: list) -> bool:
        assert next(calls) < 3000, "the requests never end"
        return chance.fraction() >= share and can_append(seq_ids)

    llm.manager.can_append = seeming  # type: ignore[method-assign]


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    n=st.integers(1, 3),
    block_size=st.integers(1, 9),
    chunked=st.booleans(),
    caching=st.booleans(),
    swap=st.booleans(),
    host=st.integers(1, 60),
    num_ends=st.integers(0, 40),
)
def test_whoever_yields_whenever_and_however_writes_the_same(
    tiny: Model, seed: int, n: int, block_size: int, chunked: bool, caching: bool, swap: bool, host: int, num_ends: int
) -> None:
    ends = range(5, 5 + num_ends)  # some answers of a request end long before others
    params = SamplingParams(n=n, seed=9, max_tokens=12, ignore_eos=True, stop_token_ids=list(ends))
    log = EventLog()
    expected = [output.outputs for output in LLM(tiny, num_blocks=400).generate(PROMPTS, params)]
    llm = LLM(
        tiny,
        block_size=block_size,
        num_blocks=n * (45 // block_size + 1) + 5,
        max_num_batched_tokens=16,
        enable_chunked_prefill=chunked,
        enable_prefix_caching=caching,
        log=log,
        **({"preemption": "swap", "num_host_blocks": host} if swap else {}),
    )
    yield_at_random(llm, seed)
    assert [output.outputs for output in llm.generate(PROMPTS, params)] == expected
    assert llm.manager.num_free_blocks == llm.manager.pool.num_blocks
    assert llm.manager.host_pool.num_free == llm.manager.host_pool.num_blocks
    *_, (_, board) = Board.each_step(log)  # which raises where an event does not fit the ones before it
    assert not board.tables


@pytest.mark.parametrize("how", ["recompute", "swap"])
def test_the_log_says_who_yields_and_how(tiny: Model, how: str) -> None:
    log = EventLog()
    llm = LLM(tiny, block_size=4, num_blocks=20, log=log, **(SWAP if how == "swap" else {}))
    llm.generate(PROMPTS, GREEDY)
    preempted = [event for event in log.events if event["kind"] == "preempt"]
    assert preempted
    assert {event["how"] for event in preempted} == {how}
    assert (how == "swap") == any(event["kind"] == "swap" and event["how"] == "in" for event in log.events)


def test_what_comes_back_from_the_host_is_not_computed_again(tiny: Model) -> None:
    log = EventLog()
    llm = LLM(tiny, block_size=4, num_blocks=20, enable_prefix_caching=False, log=log, **SWAP)
    llm.generate(PROMPTS, GREEDY)
    written = sum(event["stop"] - event["start"] for event in log.events if event["kind"] == "write")
    assert written == sum(len(prompt) + 19 for prompt in PROMPTS)


def test_a_group_yields_and_comes_back_together(tiny: Model) -> None:
    log = EventLog()
    params = SamplingParams(n=2, seed=1, max_tokens=20, ignore_eos=True)
    llm = LLM(tiny, block_size=4, num_blocks=26, log=log, **SWAP)
    expected = [output.outputs for output in LLM(tiny, num_blocks=400).generate(PROMPTS[:3], params)]
    assert [output.outputs for output in llm.generate(PROMPTS[:3], params)] == expected
    swaps = [event for event in log.events if event["kind"] == "swap"]
    moved = {(event["step"], event["how"]): set() for event in swaps}
    for event in swaps:
        moved[event["step"], event["how"]].add(event["seq"])
    assert moved
    for names in moved.values():
        roots = {name.partition("/")[0] for name in names}
        assert len(names) == 2 * len(roots)


def test_a_step_that_fails_while_blocks_are_moved_drops_whoever_may_hold_half_of_them(
    tiny: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    llm = LLM(tiny, block_size=4, num_blocks=20, **SWAP)
    move, failed = llm._worker.move, []

    def failing(step: object) -> None:
        if step.swap_outs and not failed:  # type: ignore[attr-defined]
            failed.append(1)
            raise MemoryError
        move(step)  # type: ignore[arg-type]

    monkeypatch.setattr(llm._worker, "move", failing)
    with pytest.raises(MemoryError):
        llm.generate(PROMPTS, GREEDY)
    assert failed
    assert llm.manager.num_free_blocks == 20
    assert llm.manager.host_pool.num_free == 60
    assert [o.outputs for o in llm.generate(PROMPTS, GREEDY)] == [
        o.outputs for o in LLM(tiny).generate(PROMPTS, GREEDY)
    ]


def test_what_waits_on_the_host_when_a_step_fails_is_dropped_and_told(
    tiny: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    llm = LLM(tiny, block_size=4, num_blocks=20, **SWAP)
    for index, prompt in enumerate(PROMPTS):
        llm.add_request(f"r{index}", prompt, GREEDY)
    while not llm.scheduler.swapped:
        llm.step()
    waiting = {request.request_id for request in llm.scheduler.waiting}
    with monkeypatch.context() as patched:
        patched.setattr(llm._worker, "move", fail)
        with pytest.raises(MemoryError):
            llm.step()
    assert llm.manager.num_free_blocks == 20
    assert llm.manager.host_pool.num_free == 60
    reasons: dict[str, str | None] = {}
    while llm.has_unfinished_requests():
        reasons |= {output.request_id: output.outputs[0].finish_reason for output in llm.step() if output.finished}
    assert reasons == {f"r{index}": "length" if f"r{index}" in waiting else "abort" for index in range(5)}


def fail(*_: object) -> None:
    raise MemoryError


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    width=st.integers(2, 4),
    budget=st.integers(1, 3),
    block_size=st.integers(1, 5),
    caching=st.booleans(),
)
def test_beams_that_yield_and_are_computed_again_in_pieces_are_the_same(
    tiny: Model, seed: int, width: int, budget: int, block_size: int, caching: bool
) -> None:
    params = BeamSearchParams(beam_width=width, max_tokens=6, ignore_eos=True)
    expected = LLM(tiny, num_blocks=400).beam_search(PROMPTS[:2], params)
    llm = LLM(
        tiny,
        block_size=block_size,
        num_blocks=200,
        max_num_batched_tokens=budget,
        enable_chunked_prefill=True,
        enable_prefix_caching=caching,
    )
    yield_at_random(llm, seed)
    found = llm.beam_search(PROMPTS[:2], params)
    assert [[each.tokens for each in one.sequences] for one in found] == [
        [each.tokens for each in one.sequences] for one in expected
    ]
    assert llm.manager.num_free_blocks == 200
    assert not llm._loop._prefixes._of


@pytest.mark.parametrize("seed", range(5))
def test_log_probabilities_of_a_prompt_that_yields_are_those_of_the_whole(tiny: Model, seed: int) -> None:
    params = SamplingParams(temperature=0, max_tokens=8, ignore_eos=True, prompt_logprobs=0)
    whole = LLM(tiny).generate(PROMPTS, params)
    llm = LLM(tiny, block_size=4, num_blocks=60, enable_chunked_prefill=True, max_num_batched_tokens=5)
    yield_at_random(llm, seed, share=0.5)
    for ours, theirs in zip(llm.generate(PROMPTS, params), whole, strict=True):
        assert ours.outputs == theirs.outputs
        assert [list(entry or ()) for entry in ours.prompt_logprobs or ()] == [
            list(entry or ()) for entry in theirs.prompt_logprobs or ()
        ]
        for entry, whole_entry in zip(ours.prompt_logprobs or (), theirs.prompt_logprobs or ()):
            assert [each.logprob for each in (entry or {}).values()] == pytest.approx(
                [each.logprob for each in (whole_entry or {}).values()]
            )


@pytest.mark.parametrize(
    ("given_settings", "message"),
    [
        ({"preemption": "swap"}, "preemption is 'swap' and num_host_blocks 0; give blocks to swap"),
        ({"preemption": "swap", "num_host_blocks": 0}, "preemption is 'swap' and num_host_blocks 0"),
        ({"num_host_blocks": 4}, "preemption is 'recompute' and num_host_blocks 4"),
        ({"preemption": "swap", "num_host_blocks": -1}, "num_host_blocks is -1"),
        ({"preemption": "drop"}, "preemption is 'drop'; the known ones are recompute, swap"),
    ],
)
def test_a_way_of_yielding_that_cannot_be_is_refused(tiny: Model, given_settings: dict, message: str) -> None:
    with pytest.raises(BadConfig, match=message):
        LLM(tiny, **given_settings)
