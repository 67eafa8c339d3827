"""Every architecture against Hugging Face transformers, on tiny models with random weights."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import GenerationConfig, PreTrainedModel

from kvlib.engine import LLM, Model, NoCache, SamplingParams, load
from kvlib.errors import RequestTooLarge

from .checkpoints import CASES, VOCAB_SIZE, change, make, write

TOLERANCE = 1e-5  # of the largest logit; the largest difference measured was 6e-7 of it
LENGTHS = (1, 17, 200)


def prompts() -> list[list[int]]:
    generator = torch.Generator().manual_seed(1)
    return [torch.randint(3, VOCAB_SIZE, (length,), generator=generator).tolist() for length in LENGTHS]


def logits(model: Model, token_ids: list[int]) -> Tensor:
    """Logits [T, vocab] of a whole prompt, without a cache."""
    with torch.inference_mode():
        positions = torch.arange(len(token_ids))
        return model.decoder.logits(model.decoder.forward(torch.tensor(token_ids), positions, NoCache()))


def hf_logits(model: PreTrainedModel, token_ids: list[int]) -> Tensor:
    with torch.inference_mode():
        return model(torch.tensor([token_ids])).logits[0]


def assert_equal(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, atol=TOLERANCE * theirs.abs().max().item(), rtol=0)


@pytest.fixture(scope="module", params=CASES)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Model, PreTrainedModel]:
    hf = make(request.param)
    return load(write(tmp_path_factory.mktemp("model"), hf)), hf


def test_the_logits_of_a_prompt_are_those_of_transformers(pair: tuple[Model, PreTrainedModel]) -> None:
    model, hf = pair
    assert_equal(logits(model, prompts()[-1]), hf_logits(hf, prompts()[-1]))


def test_greedy_tokens_of_a_batch_are_those_of_transformers_one_by_one(pair: tuple[Model, PreTrainedModel]) -> None:
    model, hf = pair
    settings = GenerationConfig(max_new_tokens=24, do_sample=False, pad_token_id=1, eos_token_id=2)
    theirs = [hf.generate(torch.tensor([prompt]), generation_config=settings)[0].tolist() for prompt in prompts()]
    ours = LLM(model).generate(prompts(), SamplingParams(temperature=0, max_tokens=24))
    assert [output.prompt_token_ids + output.outputs[0].token_ids for output in ours] == theirs


def test_a_sliding_window_bounds_the_context_within_which_the_logits_are_equal(tmp_path: Path) -> None:
    hf = make("mistral", sliding_window=64)
    model = load(write(tmp_path, hf))
    prompt = prompts()[-1]
    assert_equal(logits(model, prompt[:64]), hf_logits(hf, prompt[:64]))
    assert (logits(model, prompt) - hf_logits(hf, prompt))[64:].abs().max() > 0.1
    with pytest.raises(RequestTooLarge, match="the model's context holds 64"):
        LLM(model).generate([prompt])


def test_a_window_that_is_longer_than_the_context_changes_nothing(tmp_path: Path) -> None:
    assert load(write(tmp_path, make("mistral", sliding_window=4096))).decoder.config.context_length == 512


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_on_disk_becomes_the_same_numbers_in_float32(tmp_path: Path, dtype: torch.dtype) -> None:
    hf = make("qwen2").to(dtype)
    weights = load(write(tmp_path, hf), "torch").decoder.weights
    assert torch.equal(weights.embedding, hf.model.embed_tokens.weight.float())
    assert torch.equal(weights.layers[1].query.bias, hf.model.layers[1].self_attn.q_proj.bias.float())


@pytest.mark.parametrize("old", [True, False])
def test_rotary_scaling_is_read_from_old_and_new_configs(tmp_path: Path, old: bool) -> None:
    hf = make("llama, stretched")
    folder = write(tmp_path, hf)
    if old:
        rope = dict(hf.config.rope_parameters)
        theta = rope.pop("rope_theta")
        change(folder / "config.json", rope_parameters=None, rope_scaling=rope, rope_theta=theta)
    assert_equal(logits(load(folder), prompts()[-1]), hf_logits(hf, prompts()[-1]))


def test_several_files_hold_the_same_model_as_one(tmp_path: Path) -> None:
    hf = make("qwen3")
    folder = write(tmp_path, hf, max_shard_size="40KB")
    assert len(list(folder.glob("model-*.safetensors"))) > 2
    assert_equal(logits(load(folder), prompts()[-1]), hf_logits(hf, prompts()[-1]))


def rewrite(folder: Path, change_names: Callable[[dict[str, Tensor]], dict[str, Tensor]]) -> None:
    """Replace the tensors of a folder by those that `change_names` makes of them."""
    path = folder / "model.safetensors"
    save_file(change_names(load_file(path)), path)


@pytest.mark.parametrize(("name", "base"), [("gpt2", "transformer."), ("opt", "model."), ("opt, untied", "model.")])
def test_names_may_leave_out_what_all_begin_with(tmp_path: Path, name: str, base: str) -> None:
    hf = make(name)
    rewrite(write(tmp_path, hf), lambda tensors: {name.removeprefix(base): each for name, each in tensors.items()})
    assert_equal(logits(load(tmp_path), prompts()[1]), hf_logits(hf, prompts()[1]))


def test_masks_and_frequencies_that_old_files_hold_are_no_weights(tmp_path: Path) -> None:
    hf = make("gpt2")
    mask = {"h.0.attn.bias": torch.ones(1, 1, 8, 8, dtype=torch.bool), "h.0.attn.masked_bias": torch.tensor(-1e4)}
    rewrite(write(tmp_path / "gpt2", hf), lambda tensors: tensors | mask)
    assert_equal(logits(load(tmp_path / "gpt2"), prompts()[1]), hf_logits(hf, prompts()[1]))
    frequencies = {"model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(6)}
    rewrite(write(tmp_path / "llama", make("llama")), lambda tensors: tensors | frequencies)
    load(tmp_path / "llama")


def test_of_tied_matrices_the_file_may_have_either(tmp_path: Path) -> None:
    hf = make("opt")
    names = {"model.decoder.embed_tokens.weight": "lm_head.weight"}
    rewrite(write(tmp_path, hf), lambda tensors: {names.get(name, name): each for name, each in tensors.items()})
    assert_equal(logits(load(tmp_path), prompts()[1]), hf_logits(hf, prompts()[1]))


def test_a_last_matrix_in_the_file_counts_even_where_the_config_says_tied(tmp_path: Path) -> None:
    """As in transformers: the config is wrong then, not the file."""
    hf = make("llama")
    change(write(tmp_path, hf) / "config.json", tie_word_embeddings=True)
    assert_equal(logits(load(tmp_path), prompts()[1]), hf_logits(hf, prompts()[1]))
