"""The model against Hugging Face transformers on the same weights."""

import pytest
import torch
from torch import Tensor
from transformers import GenerationConfig, LlamaForCausalLM

from kvlib.engine import LLM, Llama, Model, NoCache, SamplingParams, generate_without_cache

CHAT = "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n"
PROMPTS = {
    "one token": "The",
    "a story": "Once upon a time, in a small village by the sea,",
    "a chat": CHAT,
    "code": "def fibonacci(n):\n    if n < 2:\n        return n\n",
    "digits": "1, 2, 3, 5, 8, 13, 21, 34,",
    "other scripts": "你好,世界! Привет! 🙂🙂",
    "four hundred tokens": "The block table maps logical blocks to physical blocks. " * 40,
}
LOGIT_TOLERANCE = 5e-4  # logits reach 40; the largest difference measured was 1.0e-4


class Recording(Llama):
    """Keeps the logits of every step."""

    def __init__(self, llama: Llama) -> None:
        super().__init__(llama.config, llama.weights)
        self.steps: list[Tensor] = []

    def logits(self, hidden: Tensor) -> Tensor:
        rows = super().logits(hidden)
        self.steps.append(rows[0])
        return rows


def greedy(num_tokens: int) -> SamplingParams:
    return SamplingParams(temperature=0, max_tokens=num_tokens)


@pytest.fixture(scope="module")
def theirs(model: Model, hf_model: LlamaForCausalLM) -> dict[str, tuple[list[int], Tensor]]:
    """What transformers writes after each prompt alone: token ids [16], logits [16, vocab]."""
    settings = GenerationConfig(
        max_new_tokens=16, do_sample=False, pad_token_id=2, output_logits=True, return_dict_in_generate=True
    )
    written = {}
    for name, prompt in PROMPTS.items():
        token_ids = torch.tensor([model.tokenizer.encode(prompt)])
        output = hf_model.generate(token_ids, attention_mask=torch.ones_like(token_ids), generation_config=settings)
        written[name] = (output.sequences[0, token_ids.shape[1] :].tolist(), torch.cat(output.logits))
    return written


@pytest.mark.parametrize("name", PROMPTS)
def test_greedy_tokens_and_logits_equal_those_of_transformers(
    model: Model, theirs: dict[str, tuple[list[int], Tensor]], name: str
) -> None:
    recording = Recording(model.decoder)
    [output] = LLM(model._replace(decoder=recording)).generate(PROMPTS[name], greedy(16))
    token_ids, logits = theirs[name]
    assert output.outputs[0].token_ids == token_ids
    torch.testing.assert_close(torch.stack(recording.steps), logits, atol=LOGIT_TOLERANCE, rtol=0)


def test_all_prompts_in_one_batch_write_what_transformers_writes_alone(
    model: Model, theirs: dict[str, tuple[list[int], Tensor]]
) -> None:
    outputs = LLM(model).generate(list(PROMPTS.values()), greedy(16))
    assert [output.outputs[0].token_ids for output in outputs] == [token_ids for token_ids, _ in theirs.values()]


@pytest.mark.parametrize("name", ["a chat", "code", "other scripts"])
def test_without_a_cache_the_tokens_are_the_same(model: Model, name: str) -> None:
    [cached] = LLM(model).generate(PROMPTS[name], greedy(12))
    assert generate_without_cache(model, PROMPTS[name], greedy(12)).outputs == cached.outputs


def test_heads_larger_than_the_hidden_size_allows_and_untied_embeddings(tiny: Model, tiny_hf: LlamaForCausalLM) -> None:
    """Head size comes from its own key (16, where hidden / heads is 12), the last matrix from output.weight."""
    token_ids = torch.randint(3, 263, (100,), generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        ours = tiny.decoder.logits(tiny.decoder.forward(token_ids, torch.arange(100), NoCache()))
        theirs = tiny_hf(token_ids[None]).logits[0]
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=0)
