"""A model folder that cannot be used is refused by the file, the field or the tensor that is wrong."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from torch import Tensor

from kvlib.engine import load
from kvlib.errors import BadModelFile

from .checkpoints import change, make, write


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One folder for each architecture, only to be copied."""
    names = ["llama", "mistral", "qwen2", "qwen3", "opt", "gpt2"]
    return {name: write(tmp_path_factory.mktemp("model"), make(name)) for name in names}


@pytest.fixture
def copy(tmp_path: Path, written: dict[str, Path]) -> Callable[[str], Path]:
    """copy("llama") is a folder of one's own with that model."""
    return lambda name: Path(shutil.copytree(written[name], tmp_path / name))


ROPE = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("llama", {"architectures": ["MixtralForCausalLM"]}, "has architectures = ['MixtralForCausalLM']; this reads"),
        ("llama", {"architectures": ["LlamaModel"]}, "has architectures = ['LlamaModel']; this reads LlamaForCausalLM"),
        ("llama", {"architectures": None}, "has architectures = None; this reads"),
        ("llama", {"architectures": [["x"]]}, "has architectures = [['x']]; this reads"),
        ("llama", {"model_type": "mistral"}, "has model_type = 'mistral', expected 'llama' for LlamaForCausalLM"),
        ("llama", {"quantization_config": {"quant_method": "gptq"}}, "has a quantization_config; this reads float32"),
        ("llama", {"hidden_act": "gelu"}, "has hidden_act = 'gelu'; this reads only 'silu': take another model"),
        ("llama", {"num_attention_heads": 0}, "num_attention_heads is 0"),
        ("llama", {"num_attention_heads": None}, "num_attention_heads is missing"),
        ("llama", {"num_key_value_heads": 3}, "has 4 query heads for 3 KV heads, expected a multiple"),
        ("llama", {"head_dim": 15}, "has heads of size 15, expected an even size"),
        ("llama", {"hidden_size": 48.0}, "has hidden_size = 48.0; a whole number of at least 1 is expected"),
        ("llama", {"vocab_size": None}, "has no vocab_size; a whole number"),
        ("llama", {"max_position_embeddings": "512"}, "max_position_embeddings is '512' (str)"),
        ("llama", {"rms_norm_eps": 0}, "has rms_norm_eps = 0; a number above 0"),
        ("llama", {"attention_bias": "yes"}, "has attention_bias = 'yes'; true or false is expected"),
        ("llama", {"rope_parameters": {"rope_type": "yarn", "factor": 4.0}}, "has rope_parameters.rope_type = 'yarn'"),
        ("llama", {"rope_scaling": {"type": "linear", "factor": 2.0}}, "has rope_scaling.type = 'linear'; this reads"),
        ("llama", {"rope_scaling": ROPE | {"factor": None}}, "has no rope_scaling.factor; a number above 0"),
        ("llama", {"rope_scaling": ROPE | {"low_freq_factor": 4.0}}, "more than low_freq_factor, 4.0, is expected"),
        ("llama", {"rope_scaling": "llama3"}, "has rope_scaling = 'llama3'; an object"),
        ("llama", {"rope_parameters": {"full_attention": {}}}, "one rotary embedding for all layers is expected"),
        ("llama", {"partial_rotary_factor": 0.5}, "has partial_rotary_factor = 0.5; this reads only 1.0"),
        ("qwen2", {"use_sliding_window": True}, "has use_sliding_window = True; this reads only False"),
        ("qwen3", {"use_sliding_window": True}, "has use_sliding_window = True; this reads only False"),
        ("qwen2", {"layer_types": ["full_attention", "sliding_attention"]}, "has layer_types other than"),
        ("qwen2", {"layer_types": ["linear_attention"] * 2}, "layer_types has linear_attention"),
        ("mistral", {"sliding_window": 0}, "has sliding_window = 0; a whole number of at least 1"),
        ("opt", {"do_layer_norm_before": False}, "has do_layer_norm_before = False; this reads only True"),
        ("opt", {"word_embed_proj_dim": 24}, "has word_embed_proj_dim = 24; this reads only 48"),
        ("opt", {"_remove_final_layer_norm": True}, "has _remove_final_layer_norm = True; this reads only False"),
        ("opt", {"layer_norm_elementwise_affine": False}, "has layer_norm_elementwise_affine = False"),
        ("opt", {"activation_function": "tanh"}, "has activation_function = 'tanh'; this reads only 'relu' or 'gelu'"),
        ("gpt2", {"scale_attn_by_inverse_layer_idx": True}, "has scale_attn_by_inverse_layer_idx = True"),
        ("gpt2", {"scale_attn_weights": False}, "has scale_attn_weights = False; this reads only True"),
        ("gpt2", {"add_cross_attention": True}, "add_cross_attention is True"),
    ],
)
def test_a_switch_or_size_that_cannot_be_used_is_named(
    copy: Callable[[str], Path], name: str, fields: dict, message: str
) -> None:
    path = copy(name) / "config.json"
    change(path, **fields)
    with pytest.raises(BadModelFile, match=re.escape(str(path)) + ".*" + re.escape(message)):
        load(path.parent)


def replace(folder: Path, **tensors: Tensor | None) -> Path:
    """Replace tensors of a folder, or with None leave them out; returns the file."""
    path = folder / "model.safetensors"
    changed = load_file(path) | tensors
    save_file({name: tensor for name, tensor in changed.items() if tensor is not None}, path)
    return path


def test_a_missing_tensor_is_named_with_its_shape(copy: Callable[[str], Path]) -> None:
    folder = copy("qwen2")
    replace(folder, **{"model.layers.1.self_attn.k_proj.bias": None})
    message = f"{folder} has no tensor model.layers.1.self_attn.k_proj.bias, expected one of shape [24]"
    with pytest.raises(BadModelFile, match=re.escape(message)):
        load(folder)


@pytest.mark.parametrize(
    ("name", "tensor", "found", "expected"),
    [
        ("llama", "model.embed_tokens.weight", [64, 48], [320, 48]),
        ("qwen3", "model.layers.0.self_attn.q_norm.weight", [12], [16]),
        ("gpt2", "transformer.h.0.attn.c_attn.weight", [144, 48], [48, 144]),
        ("opt", "model.decoder.embed_positions.weight", [512, 48], [514, 48]),
    ],
)
def test_a_wrong_shape_is_named_with_the_one_expected(
    copy: Callable[[str], Path], name: str, tensor: str, found: list[int], expected: list[int]
) -> None:
    path = replace(copy(name), **{tensor: torch.zeros(found)})
    with pytest.raises(
        BadModelFile, match=re.escape(f"{path}: tensor {tensor} has shape {found}, expected {expected}")
    ):
        load(path.parent)


@pytest.mark.parametrize("name", ["llama", "mistral", "qwen2", "qwen3", "opt", "gpt2"])
def test_a_tensor_that_the_forward_pass_would_ignore_is_refused(copy: Callable[[str], Path], name: str) -> None:
    path = replace(copy(name), **{"model.layers.0.mlp.experts.0.weight": torch.zeros(2)})
    with pytest.raises(BadModelFile, match=re.escape(f"{path} has tensors that this") + r".*experts\.0\.weight"):
        load(path.parent)


def test_an_untied_model_without_its_last_matrix_is_refused(copy: Callable[[str], Path]) -> None:
    folder = copy("llama")
    replace(folder, **{"lm_head.weight": None})
    with pytest.raises(BadModelFile, match=r"has no tensor lm_head\.weight, expected one of shape \[320, 48\]"):
        load(folder)


def test_whole_numbers_are_no_weights(copy: Callable[[str], Path]) -> None:
    path = replace(copy("llama"), **{"model.norm.weight": torch.ones(48, dtype=torch.int32)})
    with pytest.raises(BadModelFile, match=r"tensor model\.norm\.weight is stored as I32; this reads F32, F16, BF16"):
        load(path.parent)


@settings(deadline=None, max_examples=30)
@given(share=st.floats(min_value=0, max_value=1, exclude_max=True))
def test_a_file_cut_anywhere_is_refused(share: float, written: dict[str, Path]) -> None:
    whole = (written["llama"] / "model.safetensors").read_bytes()
    folder = written["llama"].parent / "cut"
    shutil.copytree(written["llama"], folder, dirs_exist_ok=True)
    (folder / "model.safetensors").write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(BadModelFile, match=r"cut/model\.safetensors"):
        load(folder)


def test_a_file_cut_in_its_last_tensor_is_named_with_the_bytes_it_has(copy: Callable[[str], Path]) -> None:
    path = copy("llama") / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(BadModelFile, match=rf"{path}, of {path.stat().st_size:,} bytes, is no whole safetensors file"):
        load(path.parent)


HEADERS = {
    "nothing": b"",
    "a pointer to the file": b"version https://git-lfs.github.com/spec/v1\n",
    "no JSON": (9).to_bytes(8, "little") + b"{" * 9,
    "a list": (2).to_bytes(8, "little") + b"[]",
    "no offsets": (26).to_bytes(8, "little") + b'{"a":{"dtype":"F32"}}     ',
}


@pytest.mark.parametrize("header", HEADERS)
def test_what_is_no_safetensors_file_is_refused(copy: Callable[[str], Path], header: str) -> None:
    folder = copy("llama")
    (folder / "model.safetensors").write_bytes(HEADERS[header])
    with pytest.raises(
        BadModelFile, match=r"model\.safetensors, of \d+ bytes, is no whole safetensors file \(.+\): it is"
    ):
        load(folder)


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 20]},
        {"dtype": "F32", "shape": [2, 3], "data_offsets": [24, 0]},
        {"dtype": "F32", "shape": [-2, 3], "data_offsets": [0, 24]},
        {"dtype": "F32", "shape": 6, "data_offsets": [0, 24]},
        {"dtype": 32, "shape": [6], "data_offsets": [0, 24]},
        {"dtype": "F32", "shape": [6], "data_offsets": [-24, 0]},
        3,
    ],
)
def test_a_tensor_whose_place_does_not_fit_it_is_refused(copy: Callable[[str], Path], entry: object) -> None:
    folder = copy("llama")
    header = json.dumps({"weight": entry}).encode()
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"\0" * 24)
    with pytest.raises(BadModelFile, match=r"model\.safetensors, of \d+ bytes, is no whole safetensors file"):
        load(folder)


def sharded(tmp_path: Path) -> Path:
    return write(tmp_path / "sharded", make("llama"), max_shard_size="40KB") / "model.safetensors.index.json"


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    index = sharded(tmp_path)
    shard = sorted(index.parent.glob("model-*.safetensors"))[1]
    shard.unlink()
    with pytest.raises(BadModelFile, match=f"there is no file {re.escape(str(shard))}; download the model again"):
        load(index.parent)


def test_an_index_that_places_a_tensor_where_it_is_not_is_refused(tmp_path: Path) -> None:
    index = sharded(tmp_path)
    places = json.loads(index.read_text())["weight_map"]
    first, last = places["model.embed_tokens.weight"], places["model.norm.weight"]
    assert first != last
    change(index, weight_map=places | {"model.norm.weight": first})
    with pytest.raises(BadModelFile, match=rf"{first} has no tensor model\.norm\.weight, which .* places there"):
        load(index.parent)


@pytest.mark.parametrize("places", [None, [], {"model.norm.weight": 3}])
def test_an_index_without_places_is_refused(tmp_path: Path, places: object) -> None:
    index = sharded(tmp_path)
    change(index, weight_map=places)
    with pytest.raises(BadModelFile, match="has no weight_map from tensors to files"):
        load(index.parent)


def test_a_folder_with_weights_in_another_form_names_what_is_there(copy: Callable[[str], Path]) -> None:
    folder = copy("llama")
    (folder / "model.safetensors").rename(folder / "weights.ckpt")
    with pytest.raises(BadModelFile, match=r"has no model\.safetensors or .*, but config\.json, .*weights\.ckpt"):
        load(folder)


def pickled(folder: Path, content: object) -> Path:
    """Replace the weights of a folder by a file that torch.save writes."""
    (folder / "model.safetensors").unlink()
    torch.save(content, folder / "pytorch_model.bin")
    return folder


def test_weights_that_torch_saved_are_read(copy: Callable[[str], Path]) -> None:
    hf = make("opt")
    weights = load(pickled(copy("opt"), hf.state_dict()), "torch").decoder.weights
    assert torch.equal(weights.embedding, hf.model.decoder.embed_tokens.weight)
    assert torch.equal(weights.layers[1].up.bias, hf.model.decoder.layers[1].fc1.bias)


def test_weights_that_torch_saved_in_several_files_are_read(copy: Callable[[str], Path]) -> None:
    hf = make("opt")
    tensors = hf.state_dict()
    folder = pickled(copy("opt"), {})
    (folder / "pytorch_model.bin").unlink()
    halves = {"a.bin": list(tensors)[:9], "b.bin": list(tensors)[9:]}
    for name, half in halves.items():
        torch.save({tensor: tensors[tensor] for tensor in half}, folder / name)
    places = {tensor: name for name, half in halves.items() for tensor in half}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": places}))
    assert torch.equal(load(folder).decoder.weights.positions, hf.model.decoder.embed_positions.weight)


class Code:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return pytest.fail, ("code in a file of weights was run",)


@pytest.mark.parametrize("content", [{"a": Code()}, {"a": 3}, [torch.zeros(2)]])
def test_a_file_of_torchs_with_more_than_tensors_is_refused(copy: Callable[[str], Path], content: object) -> None:
    folder = pickled(copy("opt"), content)
    with pytest.raises(
        BadModelFile, match=r"pytorch_model\.bin (is damaged or holds more than|holds .*, expected) tensors"
    ):
        load(folder)


def test_a_file_of_torchs_that_was_cut_is_refused(copy: Callable[[str], Path]) -> None:
    path = pickled(copy("opt"), make("opt").state_dict()) / "pytorch_model.bin"
    for share in (0.0, 0.3, 0.99):
        path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
        with pytest.raises(BadModelFile, match=r"pytorch_model\.bin is damaged or holds more than tensors"):
            load(path.parent)


def test_whole_numbers_of_torchs_are_no_weights(copy: Callable[[str], Path]) -> None:
    tensors = make("opt").state_dict()
    name = "model.decoder.final_layer_norm.weight"
    folder = pickled(copy("opt"), tensors | {name: torch.ones(48, dtype=torch.int32)})
    with pytest.raises(BadModelFile, match=rf"tensor {name} is stored as torch\.int32; this reads floats"):
        load(folder)


def test_a_folder_without_a_config_is_refused(tmp_path: Path) -> None:
    missing = re.escape(str(tmp_path / "config.json"))
    with pytest.raises(BadModelFile, match=f"there is no file {missing}; give the folder"):
        load(tmp_path)


@pytest.mark.parametrize(("text", "message"), [("{", "is not JSON"), ("[1]", r"holds \[1\], expected a JSON object")])
def test_a_config_that_is_no_object_is_refused(copy: Callable[[str], Path], text: str, message: str) -> None:
    folder = copy("llama")
    (folder / "config.json").write_text(text)
    with pytest.raises(BadModelFile, match=rf"config\.json {message}"):
        load(folder)


@pytest.mark.parametrize("name", ["config.json", "chat_template.jinja"])
def test_bytes_that_are_no_text_are_refused(copy: Callable[[str], Path], name: str) -> None:
    folder = copy("llama")
    (folder / name).write_bytes(b"\xff\xfe")
    with pytest.raises(BadModelFile, match=f"{name} is not text in UTF-8"):
        load(folder)


def test_weights_alone_are_no_model(copy: Callable[[str], Path]) -> None:
    path = copy("llama") / "model.safetensors"
    with pytest.raises(BadModelFile, match="holds weights alone; give its folder"):
        load(path)
