import math
from itertools import pairwise

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from transformers import (
    MinNewTokensLengthLogitsProcessor,
    MinPLogitsWarper,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from kvlib.engine import LLM, Model, SamplingParams
from kvlib.engine.sampling import Sampler, draw, generator_of, nucleus, restrict, sample
from kvlib.errors import BadModelFile


@pytest.mark.parametrize(
    "params",
    [{"top_p": 1e-300}, {"min_p": 1}, {"top_k": 1}, {"top_p": 1e-300, "min_p": 1, "top_k": 1}, {"temperature": 1e300}],
)
def test_the_likeliest_token_always_stays(params: dict) -> None:
    kept = restrict(LOGITS, SamplingParams(**params))
    assert kept[LOGITS.argmax()] == LOGITS.max()
    assert 0 <= sample(LOGITS, SamplingParams(**params)) < len(LOGITS)


LOGITS = torch.randn(500, generator=torch.Generator().manual_seed(3)) * 3


@pytest.mark.parametrize(
    ("params", "warpers"),
    [
        (SamplingParams(top_k=7), [TopKLogitsWarper(7)]),
        (SamplingParams(top_k=1000), [TopKLogitsWarper(1000)]),
        (SamplingParams(top_p=0.8), [TopPLogitsWarper(0.8)]),
        (SamplingParams(top_p=1e-6), [TopPLogitsWarper(1e-6)]),
        (SamplingParams(min_p=0.05), [MinPLogitsWarper(0.05)]),
        (SamplingParams(min_p=1.0), [MinPLogitsWarper(1.0)]),
        (
            SamplingParams(min_p=0.01, top_k=20, top_p=0.7),
            [MinPLogitsWarper(0.01), TopKLogitsWarper(20), TopPLogitsWarper(0.7)],
        ),
    ],
)
def test_the_tokens_left_out_are_those_transformers_leaves_out(params: SamplingParams, warpers: list) -> None:
    theirs = LOGITS[None]
    for warper in warpers:
        theirs = warper(None, theirs)
    assert torch.equal(restrict(LOGITS, params), theirs[0])


@pytest.mark.parametrize("top_p", [1e-300, 0.1, 0.5, 0.999])
@pytest.mark.parametrize("spread", [0.0, 0.01, 1.0, 50.0])
def test_a_nucleus_is_the_smallest_that_reaches_top_p(top_p: float, spread: float) -> None:
    likelihood = (LOGITS * spread).softmax(dim=-1)
    kept = likelihood[nucleus(likelihood, top_p)].double()
    assert torch.equal(kept, likelihood.sort(descending=True).values[: len(kept)].double())
    assert kept.sum() >= top_p - 1e-5
    assert len(kept) == 1 or kept[:-1].sum() < top_p + 1e-5


@pytest.mark.parametrize(
    ("top_p", "kept"), [(0.4, [2]), (0.5, [2]), (0.51, [2, 0]), (0.75, [2, 0]), (1 - 1e-9, [2, 0, 1])]
)
def test_a_nucleus_stops_where_top_p_is_reached(top_p: float, kept: list[int]) -> None:
    assert nucleus(torch.tensor([0.3125, 0.1875, 0.5]), top_p).tolist() == kept


@given(st.lists(st.integers(0, 20), min_size=1, max_size=8).filter(any))
def test_each_token_is_drawn_as_often_as_it_is_likely(weights: list[int]) -> None:
    likelihood = torch.tensor(weights, dtype=torch.float64)
    chances = [(number + 0.5) / 500 for number in range(500)]
    drawn = torch.bincount(torch.tensor([draw(likelihood, chance) for chance in chances]), minlength=len(weights))
    torch.testing.assert_close(drawn.double() / 500, likelihood / likelihood.sum(), atol=1 / 500, rtol=0)


@pytest.mark.parametrize(("chance", "token"), [(5e-324, 1), (0.5, 1), (0.5 + 1e-15, 3), (1.0, 3)])
def test_a_token_without_a_chance_is_never_drawn(chance: float, token: int) -> None:
    assert draw(torch.tensor([0.0, 0.5, 0.0, 0.5, 0.0]), chance) == token


def test_a_draw_uses_the_distribution_at_the_temperature_and_one_random_number() -> None:
    expected = TemperatureLogitsWarper(2.0)(None, LOGITS[None])[0].softmax(dim=-1)
    generator, same = torch.Generator().manual_seed(0), torch.Generator().manual_seed(0)
    for _ in range(20):
        chance = 1 - float(torch.rand((), generator=same, dtype=torch.float64))
        assert sample(LOGITS, SamplingParams(temperature=2.0), generator) == draw(expected, chance)
    assert torch.equal(generator.get_state(), same.get_state())


@pytest.mark.parametrize("temperature", [0, 1e-6])
def test_temperature_zero_takes_the_likeliest_token(temperature: float) -> None:
    assert sample(LOGITS, SamplingParams(temperature=temperature)) == int(LOGITS.argmax())


def test_answer_i_draws_with_seed_plus_i() -> None:
    params = SamplingParams(seed=2**64 - 2, n=4)
    states = [generator_of(params, index).get_state() for index in range(3)]
    for state, seed in zip(states, (2**64 - 2, 2**64 - 1, 0)):
        assert torch.equal(state, torch.Generator().manual_seed(seed).get_state())
    assert torch.equal(generator_of(params).get_state(), states[0])
    assert generator_of(SamplingParams()) is None


def test_a_sampler_draws_with_its_own_index() -> None:
    def tokens(seed: int, index: int) -> list[int]:
        sampler = Sampler(SamplingParams(seed=seed), [1], [2], index)
        return [sampler.choose(LOGITS) for _ in range(10)]

    assert tokens(5, 2) == tokens(7, 0) != tokens(5, 0)


def test_end_tokens_have_no_chance_before_min_tokens_as_in_transformers() -> None:
    end_ids, stop_ids = [int(LOGITS.argmax()), 3], [4]
    params = SamplingParams(temperature=0, min_tokens=2, stop_token_ids=stop_ids)
    sampler = Sampler(params, [1, 2], end_ids)
    theirs = MinNewTokensLengthLogitsProcessor(2, 2, torch.tensor(end_ids + stop_ids))
    for length in range(4):
        allowed = theirs(torch.zeros(1, 2 + length), LOGITS[None].clone())[0]
        assert sampler.choose(LOGITS) == int(allowed.argmax())
    assert sampler.choose(LOGITS) == end_ids[0]


VOCAB = 8
wishes = st.fixed_dictionaries(
    {},
    optional={
        "presence_penalty": st.floats(-2, 2),
        "frequency_penalty": st.floats(-2, 2),
        "repetition_penalty": st.floats(0.5, 2),
        "temperature": st.sampled_from([0.0, 0.5, 1.0, 2.0]),
        "min_p": st.floats(0, 0.5),
        "top_k": st.integers(-1, VOCAB),
        "top_p": st.floats(0.05, 1),
        "min_tokens": st.integers(0, 6),
        "stop_token_ids": st.lists(st.integers(0, VOCAB - 2), max_size=3),
    },
)


@given(st.integers(0, 10_000), wishes, st.lists(st.integers(0, VOCAB - 1), max_size=5))
@settings(max_examples=200, deadline=None)
def test_a_sampler_does_what_its_rules_say_one_after_the_other(seed: int, values: dict, prompt: list[int]) -> None:
    params = SamplingParams(seed=seed, **values)
    sampler, generator = Sampler(params, prompt, [0]), torch.Generator().manual_seed(seed)
    answer: list[int] = []
    for step in range(6):
        logits = torch.randn(VOCAB, generator=torch.Generator().manual_seed(seed * 10 + step)) * 2
        before = logits.clone()
        chance = 0.5 if params.greedy else 1 - float(torch.rand((), generator=generator, dtype=torch.float64))
        answer.append(chosen(logits.tolist(), params, prompt, answer, chance))
        assert sampler.choose(logits) == answer[-1]
        assert torch.equal(logits, before)


def chosen(logits: list[float], params: SamplingParams, prompt: list[int], answer: list[int], chance: float) -> int:
    """The same rules in plain Python; the model ends at token 0. A case too near an edge to tell is dropped."""
    ending = {0, *params.stop_token_ids} if len(answer) < params.min_tokens else set()
    left = {token: logit for token, logit in enumerate(logits) if token not in ending}
    for token in left:
        if token in prompt or token in answer:
            left[token] *= params.repetition_penalty if left[token] < 0 else 1 / params.repetition_penalty
        left[token] -= params.frequency_penalty * answer.count(token) + params.presence_penalty * (token in answer)
    order = sorted(left, key=lambda token: -left[token])
    assume(all(left[first] - left[second] > 1e-5 for first, second in pairwise(order)))
    if params.temperature == 0:
        return order[0]
    weights = {token: math.exp((left[token] - left[order[0]]) / params.temperature) for token in order}
    assume(all(abs(weight - params.min_p) > 1e-5 or weight == 1 for weight in weights.values()))
    order = [token for token in order if weights[token] >= params.min_p]
    order = order[: params.top_k] if params.top_k > 0 else order
    total = sum(weights[token] for token in order)
    reached, nucleus = 0.0, []
    for token in order:
        assume(not nucleus or params.top_p == 1 or abs(reached - params.top_p) > 1e-5)
        if reached < params.top_p:
            nucleus.append(token)
        reached += weights[token] / total
    total, reached = sum(weights[token] for token in nucleus), 0.0
    for token in sorted(nucleus):
        reached += weights[token] / total
        assume(abs(reached - chance) > 1e-5 or len(nucleus) == 1)
        if reached >= chance - 1e-9:
            return token
    raise AssertionError("no token covers the chance")


def test_a_seed_gives_the_same_tokens_alone_and_in_any_batch(tiny: Model) -> None:
    llm = LLM(tiny)
    prompt, other = [5, 6, 7], [9] * 30
    params = SamplingParams(temperature=1.0, top_p=0.9, seed=11, max_tokens=30, ignore_eos=True)
    [alone] = llm.generate(prompt, params)
    batched = llm.generate([other, prompt, prompt], [SamplingParams(max_tokens=20), params, params])
    assert [output.outputs[0].token_ids for output in batched[1:]] == [alone.outputs[0].token_ids] * 2


def test_a_preempted_request_goes_on_with_its_own_draws(tiny: Model) -> None:
    prompts, params = [[5] * 6, [6] * 6], SamplingParams(seed=1, max_tokens=30, ignore_eos=True)
    roomy, tight = LLM(tiny, block_size=2, num_blocks=100), LLM(tiny, block_size=2, num_blocks=20)
    assert [o.outputs for o in tight.generate(prompts, params)] == [o.outputs for o in roomy.generate(prompts, params)]


def test_different_seeds_give_different_tokens(tiny: Model) -> None:
    params = [SamplingParams(seed=seed, max_tokens=30, ignore_eos=True) for seed in (1, 2)]
    first, second = LLM(tiny).generate([[5, 6, 7]] * 2, params)
    assert first.outputs[0].token_ids != second.outputs[0].token_ids


def test_without_a_seed_torch_decides(tiny: Model) -> None:
    def draw() -> list[int]:
        torch.manual_seed(4)
        return LLM(tiny).generate([5, 6, 7], SamplingParams(max_tokens=20, ignore_eos=True))[0].outputs[0].token_ids

    assert draw() == draw()


@pytest.mark.parametrize("where", [slice(None), slice(7, 8), slice(262, 263)])
@pytest.mark.parametrize("params", [{}, {"top_k": 5}, {"top_p": 0.5}, {"min_p": 0.1}, {"top_p": 0.5, "top_k": 5}])
def test_logits_that_are_no_numbers_are_an_error_of_the_model_and_give_nobody_a_token(
    tiny: Model, monkeypatch: pytest.MonkeyPatch, where: slice, params: dict
) -> None:
    llm, logits = LLM(tiny), tiny.decoder.logits
    expected = llm.generate("a", SamplingParams(seed=1, **params))[0].outputs

    def damaged(hidden: torch.Tensor) -> torch.Tensor:
        return logits(hidden).index_fill(1, torch.arange(263)[where], torch.nan)

    with monkeypatch.context() as patched:
        patched.setattr(tiny.decoder, "logits", damaged)
        llm.add_request("x", "a", SamplingParams(seed=1, **params))
        with pytest.raises(BadModelFile, match="no numbers"):
            llm.step()
    [output] = llm.step()
    assert (output.outputs[0].token_ids, output.outputs[0].finish_reason) == ([], "abort")
    assert llm.generate("a", SamplingParams(seed=1, **params))[0].outputs == expected
