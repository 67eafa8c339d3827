"""Requests with adapters and without in one batch, each as if it were alone; an adapter that is none is refused."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from kvlib.engine import LLM, BeamSearchParams, LoRARequest, Model, RequestOutput, SamplingParams
from kvlib.errors import BadInput, BadModelFile

GREEDY = SamplingParams(temperature=0, max_tokens=8, ignore_eos=True)
PROMPT = [5 + index for index in range(20)]


def adapter(folder: Path, number: int) -> LoRARequest:
    """Thin matrices beside the tiny model's query and down projections, of 48, 64 and 80 numbers."""
    folder.mkdir()
    generator = torch.Generator().manual_seed(number)
    tensors = {}
    for layer in range(2):
        for name, outputs, inputs in (("self_attn.q_proj", 64, 48), ("mlp.down_proj", 48, 80)):
            prefix = f"base_model.model.model.layers.{layer}.{name}"
            tensors[f"{prefix}.lora_A.weight"] = torch.randn(4, inputs, generator=generator)
            tensors[f"{prefix}.lora_B.weight"] = torch.randn(outputs, 4, generator=generator)
    save_file(tensors, folder / "adapter_model.safetensors")
    config = {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "target_modules": ["q_proj", "down_proj"]}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    return LoRARequest(f"adapter {number}", number, folder)


@pytest.fixture
def adapters(tmp_path: Path) -> list[LoRARequest]:
    return [adapter(tmp_path / str(number), number) for number in (1, 2)]


def texts(outputs: list[RequestOutput]) -> list[list[int]]:
    return [output.outputs[0].token_ids for output in outputs]


def test_each_request_of_a_batch_has_its_own_adapter(tiny: Model, adapters: list[LoRARequest]) -> None:
    wishes = [None, adapters[0], adapters[1], adapters[0]]
    together = texts(LLM(tiny).generate([PROMPT] * 4, GREEDY, lora_request=wishes))
    alone = [texts(LLM(tiny).generate([PROMPT], GREEDY, lora_request=wish))[0] for wish in wishes]
    assert together == alone
    assert len({tuple(text) for text in together}) == 3


def test_blocks_are_shared_by_requests_of_one_adapter_only(tiny: Model, adapters: list[LoRARequest]) -> None:
    llm = LLM(tiny, block_size=4)
    hits = [
        llm.generate([PROMPT], GREEDY, lora_request=wish)[0].num_cached_tokens
        for wish in (None, adapters[0], adapters[1], adapters[0], None)
    ]
    assert hits == [0, 0, 0, 16, 16]


def test_beams_chats_streams_and_added_requests_take_an_adapter(tiny: Model, adapters: list[LoRARequest]) -> None:
    llm = LLM(tiny)
    [wanted] = texts(llm.generate([PROMPT], GREEDY, lora_request=adapters[0]))
    assert list(llm.stream([PROMPT], GREEDY, lora_request=adapters[0]))[-1].outputs[0].token_ids == wanted
    llm.add_request("r", PROMPT, GREEDY, lora_request=adapters[0])
    while llm.has_unfinished_requests():
        [last] = llm.step()
    assert last.outputs[0].token_ids == wanted
    params = BeamSearchParams(beam_width=1, max_tokens=8, ignore_eos=True)
    [found] = llm.beam_search([PROMPT], params, lora_request=adapters[0])
    assert found.sequences[0].tokens == PROMPT + wanted


def test_an_adapter_that_does_not_exist_is_refused_and_the_request_beside_it_finishes(tiny: Model) -> None:
    llm = LLM(tiny)
    llm.add_request("beside", "a", GREEDY)
    llm.step()
    with pytest.raises(BadInput, match="adapter 'none': there is no folder '/nowhere/none'"):
        llm.generate(["a", "b"], GREEDY, lora_request=LoRARequest("none", 1, "/nowhere/none"))
    finished = []
    while llm.has_unfinished_requests():
        finished += [output for output in llm.step() if output.finished]
    assert texts(finished) == texts(llm.generate("a", GREEDY))


def test_an_adapter_of_another_model_is_refused(tiny: Model, tmp_path: Path) -> None:
    request = adapter(tmp_path / "other", 1)
    tensors = {"base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight": torch.zeros(4, 50)}
    tensors["base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight"] = torch.zeros(64, 4)
    save_file(tensors, tmp_path / "other" / "adapter_model.safetensors")
    with pytest.raises(BadModelFile, match="adapter 'adapter 1' cannot be used"):
        LLM(tiny).generate("a", GREEDY, lora_request=request)


def test_one_number_stands_for_one_adapter(tiny: Model, adapters: list[LoRARequest]) -> None:
    llm = LLM(tiny)
    llm.generate("a", GREEDY, lora_request=adapters[0])
    with pytest.raises(BadInput, match="lora_int_id 1 is that of"):
        llm.generate("a", GREEDY, lora_request=LoRARequest("other", 1, adapters[1].lora_path))


@pytest.mark.parametrize("wish", ["sql", 3, ["sql"], {"lora_name": "sql"}])
def test_what_is_no_adapter_is_refused(tiny: Model, wish: object) -> None:
    with pytest.raises(BadInput, match=r"lora_request is .*; give a LoRARequest, or a list of them"):
        LLM(tiny).generate("a", GREEDY, lora_request=wish)  # type: ignore[arg-type]


def test_a_list_of_another_length_is_refused(tiny: Model) -> None:
    with pytest.raises(BadInput, match="1 lora_requests for 2 prompts"):
        LLM(tiny).generate(["a", "b"], GREEDY, lora_request=[None])
