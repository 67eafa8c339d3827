import re
from fractions import Fraction

import numpy as np
import pytest
import torch
from transformers import MinPLogitsWarper, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from kvlib.engine import LLM, Model, SamplingParams
from kvlib.engine.sampling import restrict, sample
from kvlib.errors import BadInput


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("temperature", -0.1, "a number, 0 or more"),
        ("temperature", float("nan"), "a number, 0 or more"),
        ("temperature", float("inf"), "a number, 0 or more"),
        ("temperature", "hot", "a number, 0 or more"),
        ("temperature", True, "a number, 0 or more"),
        ("top_p", 0, "above 0 and at most 1"),
        ("top_p", 1.1, "above 0 and at most 1"),
        ("top_k", -2, "a whole number, 1 or more"),
        ("top_k", 1.5, "a whole number, 1 or more"),
        ("min_p", 1.5, "from 0 to 1"),
        ("max_tokens", 0, "a whole number, 1 or more, or None"),
        ("max_tokens", 2.0, "a whole number, 1 or more, or None"),
        ("seed", -1, "0 to 2**64 - 1"),
        ("seed", 2**64, "0 to 2**64 - 1"),
        ("stop", ("",), "none of them empty"),
        ("stop", 3, "none of them empty"),
        ("stop", (3,), "none of them empty"),
        ("stop_token_ids", (-1,), "a list of token ids"),
        ("stop_token_ids", 2, "a list of token ids"),
        ("ignore_eos", 1, "True or False"),
        ("temperature", Fraction(-1, 2), "a number, 0 or more"),
        ("temperature", 10**400, "a number, 0 or more"),
        ("top_p", Fraction(1, 10**400), "above 0 and at most 1"),
    ],
)
def test_a_value_out_of_range_is_refused_with_the_range(name: str, value: object, allowed: str) -> None:
    with pytest.raises(BadInput, match=re.escape(f"{name} is {value!r:.80}; it must be ") + ".*" + re.escape(allowed)):
        SamplingParams(**{name: value})


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        BadInput, match="unknown sampling value temprature, best_of; the known ones are temperature, top_p"
    ):
        SamplingParams(temprature=0.5, best_of=2)


def test_a_number_too_long_to_write_is_refused_too() -> None:
    with pytest.raises(BadInput, match="seed is one int too long to write out; it must be"):
        SamplingParams(seed=10**5000)


def test_numbers_of_other_libraries_become_pythons_own() -> None:
    params = SamplingParams(
        temperature=Fraction(1, 2), top_p=np.float64(0.5), top_k=np.int64(3), max_tokens=np.int32(7), seed=np.uint64(9)
    )
    values = [params.temperature, params.top_p, params.top_k, params.max_tokens, params.seed]
    assert values == [0.5, 0.5, 3, 7, 9]
    assert [type(value) for value in values] == [float, float, int, int, int]
    assert type(SamplingParams(stop_token_ids=[np.int64(4)]).stop_token_ids[0]) is int
    assert type(SamplingParams(temperature=1).temperature) is float


@pytest.mark.parametrize(
    "params",
    [{"top_p": 1e-300}, {"min_p": 1}, {"top_k": 1}, {"top_p": 1e-300, "min_p": 1, "top_k": 1}, {"temperature": 1e300}],
)
def test_the_likeliest_token_always_stays(params: dict) -> None:
    kept = restrict(LOGITS, SamplingParams(**params))
    assert kept[LOGITS.argmax()] == LOGITS.max()
    assert 0 <= sample(LOGITS, SamplingParams(**params)) < len(LOGITS)


def test_one_stop_text_and_none_mean_lists() -> None:
    assert SamplingParams(stop="end").stop == ("end",)
    assert SamplingParams(stop=None, stop_token_ids=None) == SamplingParams()


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


def test_draws_follow_the_distribution_at_the_temperature() -> None:
    logits, params = LOGITS[:5], SamplingParams(temperature=2.0)
    generator = torch.Generator().manual_seed(0)
    draws = torch.tensor([sample(logits, params, generator) for _ in range(20_000)])
    shares = torch.bincount(draws, minlength=5) / len(draws)
    expected = TemperatureLogitsWarper(2.0)(None, logits[None])[0].softmax(dim=-1)
    torch.testing.assert_close(shares, expected, atol=0.015, rtol=0)  # four standard deviations


@pytest.mark.parametrize("temperature", [0, 1e-6])
def test_temperature_zero_takes_the_likeliest_token(temperature: float) -> None:
    assert sample(LOGITS, SamplingParams(temperature=temperature)) == int(LOGITS.argmax())


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
