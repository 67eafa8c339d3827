"""LoRA adapters against transformers with the same adapter merged into its matrices by hand."""

import json
import re
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import PreTrainedModel

from kvlib.engine import NoCache, load
from kvlib.errors import BadInput, BadModelFile
from kvlib.models.adapters import LoRARequest, apply_adapter
from kvlib.models.decoder import Decoder
from kvlib.models.linear import FORMS

from .checkpoints import change, make, write

RANK, ALPHA = 4, 6
TARGETS = {
    "llama, biases": ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
    "qwen2": ["q_proj", "v_proj"],
    "opt": ["q_proj", "k_proj", "v_proj", "out_proj", "fc1", "fc2"],
    "gpt2": ["c_attn", "c_proj", "c_fc"],
}
TOKEN_IDS = torch.randint(3, 320, (60,), generator=torch.Generator().manual_seed(2))


def write_adapter(folder: Path, hf: PreTrainedModel, targets: list[str], **fields: object) -> dict[str, Tensor]:
    """A random adapter for some matrices of `hf`, as PEFT writes it."""
    generator = torch.Generator().manual_seed(3)
    tensors = {}
    for name, parameter in hf.named_parameters():
        module, _, kind = name.rpartition(".")
        if module.rpartition(".")[2] in targets and kind == "weight":
            outputs, inputs = parameter.T.shape if "transformer" in name else parameter.shape
            tensors[f"base_model.model.{module}.lora_A.weight"] = torch.randn(RANK, inputs, generator=generator) * 0.3
            tensors[f"base_model.model.{module}.lora_B.weight"] = torch.randn(outputs, RANK, generator=generator) * 0.3
    folder.mkdir()
    save_file(tensors, folder / "adapter_model.safetensors")
    config = {"peft_type": "LORA", "r": RANK, "lora_alpha": ALPHA, "target_modules": targets, "bias": "none"}
    (folder / "adapter_config.json").write_text(json.dumps(config | fields))
    return tensors


def merge(hf: PreTrainedModel, tensors: dict[str, Tensor], scale: float) -> None:
    with torch.no_grad():
        for name, parameter in hf.named_parameters():
            module = "base_model.model." + name.rpartition(".")[0]
            if name.endswith(".weight") and f"{module}.lora_A.weight" in tensors:
                change = scale * tensors[f"{module}.lora_B.weight"] @ tensors[f"{module}.lora_A.weight"]
                parameter += change.T if "transformer" in name else change


def logits(decoder: Decoder) -> Tensor:
    with torch.inference_mode():
        return decoder.logits(decoder.forward(TOKEN_IDS, torch.arange(len(TOKEN_IDS)), NoCache()))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", TARGETS)
def test_the_logits_are_those_of_the_merged_model(tmp_path: Path, name: str, form: str) -> None:
    hf = make(name)
    decoder = load(write(tmp_path / "model", hf), form).decoder
    plain = logits(decoder)
    tensors = write_adapter(tmp_path / "adapter", hf, TARGETS[name])
    adapted = logits(apply_adapter(decoder, LoRARequest("tuned", 1, tmp_path / "adapter"), form))
    merge(hf, tensors, ALPHA / RANK)
    with torch.inference_mode():
        theirs = hf(TOKEN_IDS[None]).logits[0]
    tolerance = (1e-2 if form == "fp16" else 1e-5) * theirs.abs().max().item()
    torch.testing.assert_close(adapted, theirs, atol=tolerance, rtol=0)
    assert (adapted - plain).abs().max() > 1
    assert torch.equal(logits(decoder), plain)


def test_rank_stabilised_adapters_divide_by_the_root_of_the_rank(tmp_path: Path) -> None:
    hf = make("qwen2")
    decoder = load(write(tmp_path / "model", hf), "torch").decoder
    tensors = write_adapter(tmp_path / "adapter", hf, TARGETS["qwen2"], use_rslora=True)
    adapted = logits(apply_adapter(decoder, LoRARequest("tuned", 1, str(tmp_path / "adapter"))))
    merge(hf, tensors, ALPHA / RANK**0.5)
    with torch.inference_mode():
        theirs = hf(TOKEN_IDS[None]).logits[0]
    torch.testing.assert_close(adapted, theirs, atol=1e-4, rtol=0)


def test_the_models_own_weights_are_shared(tmp_path: Path) -> None:
    hf = make("llama")
    decoder = load(write(tmp_path / "model", hf)).decoder
    write_adapter(tmp_path / "adapter", hf, ["q_proj"])
    adapted = apply_adapter(decoder, LoRARequest("tuned", 1, tmp_path / "adapter"))
    assert adapted.weights.embedding is decoder.weights.embedding
    assert adapted.weights.layers[1].key is decoder.weights.layers[1].key
    assert adapted.weights.layers[1].query.base is decoder.weights.layers[1].query


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"lora_int_id": 0}, "lora_int_id is 0"),
        ({"lora_int_id": -3}, "lora_int_id is -3"),
        ({"lora_int_id": True}, "lora_int_id is True"),
        ({"lora_int_id": "1"}, "lora_int_id is '1'"),
        ({"lora_name": ""}, "lora_name is ''; give a text"),
        ({"lora_name": 3}, "lora_name is 3; give a text"),
        ({"lora_path": None}, "lora_path is None; give the folder"),
    ],
)
def test_a_request_that_names_no_adapter_is_refused(fields: dict, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        LoRARequest(**{"lora_name": "tuned", "lora_int_id": 1, "lora_path": "adapter"} | fields)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> tuple[Decoder, PreTrainedModel]:
    hf = make("llama")
    return load(write(tmp_path_factory.mktemp("base"), hf)).decoder, hf


@pytest.fixture
def folder(tmp_path: Path, base: tuple[Decoder, PreTrainedModel]) -> Path:
    write_adapter(tmp_path / "adapter", base[1], ["q_proj", "down_proj"])
    return tmp_path / "adapter"


def refused(decoder: Decoder, folder: Path, message: str) -> None:
    with pytest.raises(BadModelFile, match="adapter 'tuned' cannot be used: .*" + re.escape(message)):
        apply_adapter(decoder, LoRARequest("tuned", 1, folder))


def test_an_adapter_that_does_not_exist_is_refused(base: tuple[Decoder, PreTrainedModel], tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"adapter 'tuned': there is no folder '.*nowhere'; give a folder with"):
        apply_adapter(base[0], LoRARequest("tuned", 1, tmp_path / "nowhere"))


@pytest.mark.parametrize("name", ["adapter_config.json", "adapter_model.safetensors"])
def test_a_missing_file_is_named(base: tuple[Decoder, PreTrainedModel], folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(BadInput, match=f"there is no file '{folder / name}'; give a folder with"):
        apply_adapter(base[0], LoRARequest("tuned", 1, folder))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"peft_type": "IA3"}, "has peft_type = 'IA3'; this reads only 'LORA'"),
        ({"use_dora": True}, "has use_dora = True; this reads only False"),
        ({"lora_bias": True}, "has lora_bias = True; this reads only False"),
        ({"bias": "all"}, "has bias = 'all'; this reads only 'none'"),
        ({"modules_to_save": ["lm_head"]}, "has modules_to_save = ['lm_head']; this reads only []"),
        ({"rank_pattern": {"q_proj": 8}}, "has rank_pattern = {'q_proj': 8}; this reads only {}"),
        ({"alpha_pattern": {"q_proj": 8}}, "has alpha_pattern = {'q_proj': 8}; this reads only {}"),
        ({"init_lora_weights": "pissa"}, "has init_lora_weights = 'pissa'; this reads only True or False or"),
        ({"r": 0}, "has r = 0; a whole number of at least 1"),
        ({"r": None}, "has no r; a whole number of at least 1"),
        ({"r": 8}, "lora_A.weight has shape [4, 48], expected [8, 48]"),
        ({"lora_alpha": "16"}, "has lora_alpha = '16'; a number above 0"),
        ({"use_rslora": 1}, "has use_rslora = 1; true or false"),
    ],
)
def test_an_adapter_of_another_kind_is_refused_by_its_field(
    base: tuple[Decoder, PreTrainedModel], folder: Path, fields: dict, message: str
) -> None:
    change(folder / "adapter_config.json", **fields)
    refused(base[0], folder, message)


def test_an_adapter_for_another_model_is_refused(base: tuple[Decoder, PreTrainedModel], tmp_path: Path) -> None:
    write_adapter(tmp_path / "larger", make("llama", hidden_size=64), ["q_proj"])
    refused(base[0], tmp_path / "larger", "q_proj.lora_A.weight has shape [4, 64], expected [4, 48]")
    write_adapter(tmp_path / "deeper", make("llama", num_hidden_layers=3), ["q_proj"])
    refused(base[0], tmp_path / "deeper", "no use for, such as base_model.model.model.layers.2.self_attn.q_proj")
    write_adapter(tmp_path / "other", make("gpt2"), ["c_attn"])
    refused(base[0], tmp_path / "other", "no use for, such as base_model.model.transformer.h.0.attn.c_attn")


@pytest.mark.parametrize("name", ["model.embed_tokens.lora_embedding_A", "lm_head.lora_A.weight"])
def test_a_tensor_that_would_be_ignored_is_refused(
    base: tuple[Decoder, PreTrainedModel], folder: Path, name: str
) -> None:
    path = folder / "adapter_model.safetensors"
    save_file(load_file(path) | {f"base_model.model.{name}": torch.zeros(RANK, 48)}, path)
    refused(base[0], folder, f"has tensors that this forward pass has no use for, such as base_model.model.{name}")


def test_one_matrix_of_a_pair_is_not_enough(base: tuple[Decoder, PreTrainedModel], folder: Path) -> None:
    path = folder / "adapter_model.safetensors"
    tensors = load_file(path)
    missing = "model.layers.1.mlp.down_proj.lora_B.weight"
    save_file({name: tensor for name, tensor in tensors.items() if not name.endswith(missing)}, path)
    refused(base[0], folder, f"{path} has no tensor {missing}, expected one of shape [48, 4]")


def test_an_adapter_without_tensors_is_refused(base: tuple[Decoder, PreTrainedModel], folder: Path) -> None:
    save_file({}, folder / "adapter_model.safetensors")
    refused(base[0], folder, "holds no tensors; download the adapter again")


def test_other_decoders_take_no_adapters(folder: Path) -> None:
    class Other(Decoder):
        def forward(self, *_: object) -> Tensor:
            raise NotImplementedError

        logits = forward

    with pytest.raises(BadInput, match="a Other takes no adapters; give a Llama or a Learned"):
        apply_adapter(Other(), LoRARequest("tuned", 1, folder))
