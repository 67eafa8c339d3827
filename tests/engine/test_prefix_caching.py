"""What was computed once is found again by what it holds, and nothing else is; the text stays the same."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvlib.engine import LLM, Model, RequestOutput, SamplingParams
from kvlib.errors import BadConfig, BadInput, BlocksInUse
from kvlib.events import EventLog

GREEDY = SamplingParams(temperature=0, max_tokens=6, ignore_eos=True)
PREFIX = [5 + index % 90 for index in range(40)]
KINDS = pytest.mark.parametrize(
    "make", [lambda model, **s: LLM(model, **s), lambda model, **s: LLM(model, prefix_cache="radix", **s)]
)


def ask(llm: LLM, prompt: object, params: SamplingParams = GREEDY) -> tuple[list[int], int | None]:
    [output] = llm.generate([prompt], params)
    return output.outputs[0].token_ids, output.num_cached_tokens


@KINDS
@pytest.mark.parametrize(("block_size", "num_hits"), [(1, 40), (4, 40), (16, 32), (41, 0)])
def test_full_blocks_of_a_common_beginning_are_computed_once(
    tiny: Model, make: Callable[..., LLM], block_size: int, num_hits: int
) -> None:
    llm = make(tiny, block_size=block_size, num_blocks=200)
    without = LLM(tiny, enable_prefix_caching=False)
    for tail, hits in ([7, 8, 9], 0), ([9, 8, 7], num_hits):
        assert ask(llm, PREFIX + tail) == (ask(without, PREFIX + tail)[0], hits)


@KINDS
def test_an_answer_is_found_again_when_the_conversation_goes_on(tiny: Model, make: Callable[..., LLM]) -> None:
    llm = make(tiny, block_size=4, num_blocks=200)
    answer, _ = ask(llm, PREFIX)
    assert ask(llm, PREFIX + answer + [5, 6])[1] == 44  # of 46 stored tokens the newest was never computed


@KINDS
def test_the_last_token_of_a_prompt_is_always_computed(tiny: Model, make: Callable[..., LLM]) -> None:
    llm = make(tiny, block_size=4, num_blocks=200)
    first, _ = ask(llm, PREFIX)
    assert ask(llm, PREFIX) == (first, 36)


def test_without_prefix_caching_nothing_is_found(tiny: Model) -> None:
    llm = LLM(tiny, block_size=4, enable_prefix_caching=False)
    assert [ask(llm, PREFIX)[1] for _ in range(2)] == [0, 0]


@KINDS
def test_a_salt_keeps_tenants_apart(tiny: Model, make: Callable[..., LLM]) -> None:
    llm = make(tiny, block_size=4, num_blocks=200)
    hits = []
    for salt in ("a", "b", "a", None):
        prompt = {"prompt_token_ids": PREFIX} | ({"cache_salt": salt} if salt else {})
        hits.append(ask(llm, prompt)[1])
    assert hits == [0, 0, 36, 0]


@pytest.mark.parametrize("salt", ["", 3, ["a"]])
def test_a_salt_that_is_no_text_is_refused(tiny: Model, salt: object) -> None:
    with pytest.raises(BadInput, match=r"the prompt has the cache_salt .*; give a text that is not empty"):
        LLM(tiny).generate({"prompt": "a", "cache_salt": salt}, GREEDY)


@KINDS
def test_resetting_forgets_everything_and_is_refused_while_anybody_runs(tiny: Model, make: Callable[..., LLM]) -> None:
    llm = make(tiny, block_size=4, num_blocks=200)
    ask(llm, PREFIX)
    stream = llm.stream(PREFIX, GREEDY)
    next(stream)
    with pytest.raises(BlocksInUse):
        llm.reset_prefix_cache()
    list(stream)
    llm.reset_prefix_cache()
    assert ask(llm, PREFIX)[1] == 0


def test_two_requests_in_one_step_compute_their_common_beginning_twice_and_a_later_one_not(tiny: Model) -> None:
    llm = LLM(tiny, block_size=4)
    outputs = llm.generate([PREFIX, PREFIX], GREEDY)
    assert [output.num_cached_tokens for output in outputs] == [0, 0]
    assert ask(llm, PREFIX)[1] == 36


@KINDS
def test_each_of_several_answers_is_found_again_when_the_conversation_goes_on(
    tiny: Model, make: Callable[..., LLM]
) -> None:
    llm = make(tiny, block_size=4, num_blocks=200)
    [output] = llm.generate([PREFIX], SamplingParams(n=3, seed=1, temperature=2.0, max_tokens=9, ignore_eos=True))
    for answer in output.outputs:
        assert ask(llm, PREFIX + answer.token_ids + [5])[1] == 48  # of 49 tokens the newest was never computed


def test_every_answer_finds_the_prompt_that_an_earlier_request_computed(tiny: Model) -> None:
    llm = LLM(tiny, block_size=4)
    params = SamplingParams(n=3, seed=1, max_tokens=6, ignore_eos=True)
    [first], [again] = llm.generate([PREFIX], params), llm.generate([PREFIX], params)
    assert again.outputs == first.outputs
    assert (first.num_cached_tokens, again.num_cached_tokens) == (0, 36)


@settings(max_examples=30, deadline=None)
@given(
    picks=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40), st.integers(1, 20)), min_size=1, max_size=12),
    block_size=st.integers(1, 9),
    num_blocks=st.integers(0, 30),
    kind=st.sampled_from(["hash", "radix"]),
)
def test_whatever_came_before_and_was_evicted_the_text_is_the_same(
    tiny: Model, picks: list[tuple[int, int, int]], block_size: int, num_blocks: int, kind: str
) -> None:
    prompts = [[5 + stem, *PREFIX[:length], *range(100, 100 + tail)] for stem, length, tail in picks]
    without = LLM(tiny, enable_prefix_caching=False).generate(prompts, GREEDY)
    llm = LLM(tiny, block_size=block_size, num_blocks=70 // block_size + 2 + num_blocks, prefix_cache=kind)
    outputs = [llm.generate([prompt], GREEDY)[0] for prompt in prompts[:4]] + llm.generate(
        prompts[4:] or prompts, GREEDY
    )
    expected = without[:4] + (without[4:] or without)
    assert [output.outputs for output in outputs] == [output.outputs for output in expected]
    assert llm.manager.num_free_blocks == llm.manager.pool.num_blocks


def test_a_log_tells_of_hits_and_evictions(tiny: Model) -> None:
    log = EventLog()
    llm = LLM(tiny, block_size=4, num_blocks=13, log=log)
    ask(llm, PREFIX)
    ask(llm, PREFIX)
    assert sum(e["kind"] == "share" for e in log.events) == 9
    ask(llm, PREFIX[::-1])
    assert any(e["kind"] == "evict" for e in log.events)


def test_a_tree_keeps_no_log_and_swaps_nothing(tiny: Model) -> None:
    with pytest.raises(BadConfig, match="prefix_cache is 'radix', which keeps no log"):
        LLM(tiny, prefix_cache="radix", log=EventLog())
    with pytest.raises(BadConfig, match="prefix_cache is 'radix', whose tree has no place for swapped blocks"):
        LLM(tiny, prefix_cache="radix", preemption="swap", num_host_blocks=4)


def test_log_probabilities_of_a_prompt_are_computed_whole_although_it_is_cached(tiny: Model) -> None:
    llm = LLM(tiny, block_size=4)
    params = SamplingParams(temperature=0, max_tokens=2, prompt_logprobs=0)

    def output() -> RequestOutput:
        return llm.generate([PREFIX], params)[0]

    first, again = output(), output()
    assert (first.num_cached_tokens, again.num_cached_tokens) == (0, 0)
    assert first.prompt_logprobs == again.prompt_logprobs
    assert first.prompt_logprobs is not None
    assert first.prompt_logprobs[0] is None
    assert [list(entry) for entry in first.prompt_logprobs[1:] if entry] == [[token] for token in PREFIX[1:]]


@pytest.mark.parametrize("budget", [1, 7, 39])
def test_log_probabilities_of_a_prompt_computed_in_pieces_are_those_of_the_whole(tiny: Model, budget: int) -> None:
    params = SamplingParams(temperature=0, max_tokens=2, prompt_logprobs=2)
    [whole] = LLM(tiny).generate(PREFIX, params)
    [pieces] = LLM(tiny, enable_chunked_prefill=True, max_num_batched_tokens=budget).generate(PREFIX, params)
    assert whole.prompt_logprobs is not None
    assert pieces.prompt_logprobs is not None
    assert len(pieces.prompt_logprobs) == len(PREFIX)
    for ours, theirs in zip(pieces.prompt_logprobs[1:], whole.prompt_logprobs[1:], strict=True):
        assert ours is not None
        assert theirs is not None
        assert list(ours) == list(theirs)
        assert [each.logprob for each in ours.values()] == pytest.approx([each.logprob for each in theirs.values()])
