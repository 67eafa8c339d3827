"""However the cache is cut into blocks, read, batched or taken away and recomputed, the text is the same."""

from functools import cache

import pytest
import torch
from torch import Tensor

from kvlib.attention import BACKENDS
from kvlib.engine import LLM, Model, NoCache, SamplingParams, generate_without_cache
from kvlib.events import EventLog

PROMPTS = [
    "The three largest cities are",
    "Q: 17 + 25 = ? A:",
    "def add(a, b):\n    return",
    "Once there was a fox. " * 40,
]
GREEDY = SamplingParams(temperature=0, max_tokens=12, ignore_eos=True)


@cache
def expected(model: Model) -> list[list[int]]:
    return [output.outputs[0].token_ids for output in LLM(model).generate(PROMPTS, GREEDY)]


def written(llm: LLM, prompts: list, params: SamplingParams = GREEDY) -> list[list[int]]:
    return [output.outputs[0].token_ids for output in llm.generate(prompts, params)]


def random_prompts(*lengths: int) -> list[list[int]]:
    generator = torch.Generator().manual_seed(2)
    return [torch.randint(3, 263, (length,), generator=generator).tolist() for length in lengths]


@pytest.mark.parametrize("block_size", [1, 2, 3, 5, 8, 16, 32, 64, 128, 255, 256])
def test_the_real_model_writes_the_same_with_any_block_size(model: Model, block_size: int) -> None:
    llm = LLM(model, block_size=block_size, num_blocks=400 // block_size + 4)
    assert written(llm, PROMPTS) == expected(model)


def test_a_small_model_writes_the_same_with_every_block_size_up_to_256_and_without_a_cache(tiny: Model) -> None:
    prompts = random_prompts(1, 40, 250)  # the last crosses position 256
    without = [generate_without_cache(tiny, prompt, GREEDY).outputs[0].token_ids for prompt in prompts]
    for block_size in range(1, 257):
        llm = LLM(tiny, block_size=block_size, num_blocks=330 // block_size + 3)
        assert written(llm, prompts) == without, f"block size {block_size}"


def test_every_key_lies_in_the_slot_that_the_block_table_names(tiny: Model) -> None:
    [prompt] = random_prompts(20)
    llm = LLM(tiny, block_size=3)
    stream = llm.stream(prompt, GREEDY)
    output = [next(stream) for _ in range(10)][-1]
    known = prompt + output.outputs[0].token_ids[:-1]  # the newest token has not been fed back yet
    keys: list[Tensor] = []

    class Keeping(NoCache):
        def __call__(self, layer: int, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
            keys.append(key)
            return super().__call__(layer, query, key, value)

    tiny.decoder.forward(torch.tensor(known), torch.arange(len(known)), Keeping())
    slots = llm.manager.table(output.request_id).slots(0, len(known))
    for layer, key in zip(llm.caches, keys, strict=True):
        torch.testing.assert_close(layer.key.flatten(0, 1)[slots], key)


@pytest.mark.parametrize("backend", [name for name in BACKENDS if name != "triton"])
def test_every_attention_backend_writes_the_same(model: Model, backend: str) -> None:
    assert written(LLM(model, attention_backend=backend), PROMPTS) == expected(model)


def test_a_mixed_batch_writes_what_each_prompt_writes_alone(model: Model) -> None:
    llm = LLM(model)
    assert [written(llm, [prompt])[0] for prompt in PROMPTS] == expected(model)


def test_few_requests_at_a_time_and_few_tokens_a_step_change_nothing(model: Model) -> None:
    assert written(LLM(model, max_num_seqs=2, max_num_batched_tokens=16), PROMPTS) == expected(model)


def test_requests_that_arrive_later_join_the_batch_and_change_nothing(tiny: Model) -> None:
    prompts = random_prompts(20, 30, 40)
    llm, answers = LLM(tiny, block_size=4), {}
    for name, prompt in enumerate(prompts):
        llm.add_request(str(name), prompt, GREEDY)
        llm.step()
        llm.step()
    while llm.has_unfinished_requests():
        answers |= {output.request_id: output.outputs[0].token_ids for output in llm.step() if output.finished}
    assert [answers[str(name)] for name in range(3)] == written(LLM(tiny), prompts)


def test_a_pool_that_makes_requests_yield_writes_the_same_text(model: Model) -> None:
    log = EventLog()
    short = PROMPTS[:3]
    llm = LLM(model, block_size=2, num_blocks=16, log=log)
    assert written(llm, short) == expected(model)[:3]
    assert any(event["kind"] == "preempt" for event in log.events)
    assert llm.manager.num_free_blocks == 16


def test_the_log_holds_the_text_of_every_token_in_order(model: Model) -> None:
    log = EventLog()
    [output] = LLM(model, log=log).generate(PROMPTS[0], GREEDY)
    assert log.texts == {"0": model.tokenizer.pieces(output.prompt_token_ids + output.outputs[0].token_ids)}
    assert "".join(log.texts["0"]) == PROMPTS[0] + output.outputs[0].text
