"""The architectures that a model folder may have, by the names that its config.json gives them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from kvlib.errors import BadModelFile
from kvlib.models.config_file import ConfigFile
from kvlib.models.decoder import Decoder
from kvlib.models.folder import read_object
from kvlib.models.folder_config import read_gpt2, read_llama, read_mistral, read_opt, read_qwen2, read_qwen3
from kvlib.models.folder_tensors import folder_tensors
from kvlib.models.learned import Learned
from kvlib.models.learned_weights import load_gpt2, load_opt
from kvlib.models.linear import Form
from kvlib.models.llama import Llama
from kvlib.models.placement import Placement
from kvlib.models.tensors import Tensors
from kvlib.models.weights import load_weights
from kvlib.shown import shown


class Architecture(NamedTuple):
    """How to read a model of one kind; `base` begins the names of its tensors."""

    model_type: str
    base: str
    read_config: Callable[[ConfigFile], Any]
    load_weights: Callable[[Tensors, Any, Form], Any]
    decoder: Callable[[Any, Any], Decoder]


ARCHITECTURES = {
    "LlamaForCausalLM": Architecture("llama", "model.", read_llama, load_weights, Llama),
    "MistralForCausalLM": Architecture("mistral", "model.", read_mistral, load_weights, Llama),
    "Qwen2ForCausalLM": Architecture("qwen2", "model.", read_qwen2, load_weights, Llama),
    "Qwen3ForCausalLM": Architecture("qwen3", "model.", read_qwen3, load_weights, Llama),
    "OPTForCausalLM": Architecture("opt", "model.", read_opt, load_opt, Learned),
    "GPT2LMHeadModel": Architecture("gpt2", "transformer.", read_gpt2, load_gpt2, Learned),
}


def load_decoder(folder: Path, linear: Form, placement: Placement) -> Decoder:
    """The model in `folder`, its matrices in the form that `linear` makes. Raises BadModelFile, naming file and field,
    for an architecture, a switch or a file that cannot be used."""
    path = folder / "config.json"
    values = read_object(path)
    architecture = _known(values, path)
    config = architecture.read_config(ConfigFile(values, path))
    weights = architecture.load_weights(folder_tensors(folder, architecture.base, placement), config, linear)
    return architecture.decoder(config, weights)


def _known(values: dict[str, Any], path: Path) -> Architecture:
    match values.get("architectures"):
        case [str() as name] if name in ARCHITECTURES:
            architecture = ARCHITECTURES[name]
        case given:
            raise BadModelFile(
                f"{path} has architectures = {shown(given)}; this reads {', '.join(ARCHITECTURES)}: take one of those"
            )
    if values.get("model_type") != architecture.model_type:
        raise BadModelFile(
            f"{path} has model_type = {shown(values.get('model_type'))}, expected {architecture.model_type!r} for "
            f"{name}; download it again"
        )
    return architecture
