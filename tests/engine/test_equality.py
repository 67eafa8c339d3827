"""32 mixed requests on the real model: transformers' tokens, however memory is shared, kept, taken away and cut."""

from collections.abc import Callable
from functools import cache

import pytest
import torch
from transformers import LlamaForCausalLM

from kvlib.chance import Chance
from kvlib.engine import LLM, Model, SamplingParams, load

NUM_REQUESTS = 32
ROUNDING = 5e-4  # of logits that reach 40
STEM = "You answer briefly. The library keeps its books on shelves of equal length, and a card says where each stands. "
BEGINNINGS = ["The capital of France is", "Q: 3 + 4 = ? A:", "def add(a, b):", STEM + "A cache is", STEM + "Once"]


@cache
def requests(model: Model) -> tuple[list[list[int]], list[SamplingParams]]:
    """Prompts of 1 to about 120 tokens, a third of which begin alike, and answers of 1 to 16 tokens."""
    chance = Chance(4)
    prompts, params = [], []
    for number in range(NUM_REQUESTS):
        token_ids = model.tokenizer.encode(BEGINNINGS[number % len(BEGINNINGS)] + " and so on" * chance.below(12))
        prompts.append(token_ids[: 1 + chance.below(len(token_ids))] if number % 3 == 0 else token_ids)
        params.append(SamplingParams(temperature=0, max_tokens=1 + chance.below(16), ignore_eos=True))
    return prompts, params


def written(llm: LLM, model: Model) -> list[list[int]]:
    return [output.outputs[0].token_ids for output in llm.generate(*requests(model))]


@cache
def plain(model: Model) -> list[list[int]]:
    return written(LLM(model, num_blocks=600, enable_prefix_caching=False), model)


def exceptions(answers: list[list[int]], model: Model, hf_model: LlamaForCausalLM) -> list[tuple[int, int, float]]:
    """(request, position in the answer, how far its logit lies below the likeliest) where transformers, given the same
    tokens before, finds another token likelier. Without any, its greedy answer is the same token by token."""
    found = []
    for number, (prompt, answer) in enumerate(zip(requests(model)[0], answers)):
        with torch.inference_mode():
            logits = hf_model(torch.tensor([prompt + answer[:-1]])).logits[0, len(prompt) - 1 :]  # [answer, vocab]
        for place, (token, row) in enumerate(zip(answer, logits, strict=True)):
            if int(row.argmax()) != token:
                found.append((number, place, float(row.max() - row[token])))
    return found


def test_every_token_is_the_one_that_transformers_finds_likeliest(model: Model, hf_model: LlamaForCausalLM) -> None:
    found = exceptions(plain(model), model, hf_model)
    assert [entry for entry in found if entry[2] > ROUNDING] == [], found
    assert len(found) <= 2, found  # two likeliest tokens this close are rare


def test_transformers_generates_the_same_by_itself(model: Model, hf_model: LlamaForCausalLM) -> None:
    prompts, params = requests(model)
    for number in range(0, NUM_REQUESTS, 8):
        theirs = hf_model.generate(
            torch.tensor([prompts[number]]),
            attention_mask=torch.ones(1, len(prompts[number]), dtype=torch.int64),
            do_sample=False,
            max_new_tokens=params[number].max_tokens,
            min_new_tokens=params[number].max_tokens,
            eos_token_id=None,
            pad_token_id=0,
        )
        assert theirs[0, len(prompts[number]) :].tolist() == plain(model)[number]


def yielding(llm: LLM) -> LLM:
    """Now and then there seems to be no block left, so that the latest request yields."""
    schedule, can_append, chance = llm.scheduler.schedule, llm.manager.can_append, Chance(11)
    llm.manager.can_append = lambda seq_ids: chance.below(12) > 0 and can_append(seq_ids)  # type: ignore[method-assign]
    llm.yielded = []  # type: ignore[attr-defined]

    def noting() -> object:
        step = schedule()
        llm.yielded.extend(step.preempted)  # type: ignore[attr-defined]
        return step

    llm.scheduler.schedule = noting  # type: ignore[method-assign, assignment]
    return llm


@pytest.fixture(scope="module")
def torch_model() -> Model:
    """The same weights in torch's own products: what is left where there is no compiler."""
    return load(linear="torch")


def test_without_compiled_kernels_the_tokens_are_the_same(model: Model, torch_model: Model) -> None:
    llm = LLM(torch_model, num_blocks=600, attention_backend="gather")
    assert (llm.linear, llm.attention_backend) == ("torch", "gather")
    assert written(llm, model) == plain(model)


def test_log_probabilities_are_the_same_alone_and_in_a_crowd_bit_for_bit_where_the_kernels_are_compiled(
    model: Model, torch_model: Model
) -> None:
    asked = SamplingParams(temperature=0, max_tokens=6, logprobs=0, prompt_logprobs=0, ignore_eos=True)
    prompts = requests(model)[0][:12]

    def found(each: Model, backend: str) -> tuple[list[list], list[list]]:
        llm = LLM(
            each, num_blocks=600, attention_backend=backend, enable_chunked_prefill=True, max_num_batched_tokens=50
        )
        crowd = llm.generate(prompts, asked)
        alone = [LLM(each, attention_backend=backend).generate(prompt, asked)[0] for prompt in prompts]
        return tuple(
            [[*(output.prompt_logprobs or []), *(output.outputs[0].logprobs or [])] for output in outputs]
            for outputs in (crowd, alone)
        )

    crowd, alone = found(model, "auto")
    if model.linear == "native":
        assert crowd == alone
    crowd, alone = found(torch_model, "gather")
    for one, other in zip(crowd, alone, strict=True):
        assert [list(entry) for entry in one if entry] == [list(entry) for entry in other if entry]


VARIANTS: dict[str, Callable[[Model], LLM]] = {
    "prefix cache": lambda model: LLM(model, num_blocks=600),
    "radix tree": lambda model: LLM(model, num_blocks=9000, block_size=1, prefix_cache="radix"),
    "chunked prefill": lambda model: LLM(
        model, num_blocks=600, enable_chunked_prefill=True, max_num_batched_tokens=48, enable_prefix_caching=False
    ),
    "blocks of 5, cached and chunked": lambda model: LLM(
        model, num_blocks=2000, block_size=5, enable_chunked_prefill=True, max_num_batched_tokens=64
    ),
    "recomputed at random": lambda model: yielding(LLM(model, num_blocks=600, enable_prefix_caching=False)),
    "recomputed from the prefix cache": lambda model: yielding(LLM(model, num_blocks=600)),
    "swapped at random": lambda model: yielding(LLM(model, num_blocks=600, preemption="swap", num_host_blocks=600)),
    "a pool too small": lambda model: LLM(model, num_blocks=40, block_size=8),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_every_way_of_managing_the_memory_writes_the_same(model: Model, name: str) -> None:
    llm = VARIANTS[name](model)
    assert written(llm, model) == plain(model)
    assert llm.manager.num_free_blocks == llm.manager.pool.num_blocks
    assert "at random" not in name or len(llm.yielded) > 10  # type: ignore[attr-defined]


def test_answers_that_share_their_prompt_are_what_each_is_alone(model: Model) -> None:
    prompts = requests(model)[0][:8]
    shared = SamplingParams(n=4, seed=5, max_tokens=8, ignore_eos=True)
    outputs = LLM(model, num_blocks=600).generate(prompts, shared)
    for index in range(4):
        alone = LLM(model, num_blocks=600, enable_prefix_caching=False).generate(
            prompts, SamplingParams(seed=5 + index, max_tokens=8, ignore_eos=True)
        )
        assert [o.outputs[index].token_ids for o in outputs] == [o.outputs[0].token_ids for o in alone]
