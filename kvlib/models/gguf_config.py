"""The sizes of a Llama model, read from a GGUF file's metadata."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kvlib.errors import BadModelFile
from kvlib.models.config import LlamaConfig
from kvlib.models.metadata import AGAIN, Metadata


def read_gguf_config(metadata: Mapping[str, Any], path: Path) -> LlamaConfig:
    """Read the keys `llama.*` of the file `path`.

    Raises BadModelFile for another architecture, a missing or impossible value, or a rotary embedding that
    is scaled or covers part of a head only.
    """
    architecture = metadata.get("general.architecture")
    if architecture != "llama":
        raise BadModelFile(
            f"{path} holds a model of architecture {architecture!r}; give the GGUF of a 'llama', or for Qwen, Mistral, "
            "OPT and GPT-2 the folder with config.json and safetensors, or its name on the hub"
        )
    read = Metadata(metadata, path)
    hidden_size, num_heads = read.whole("llama.embedding_length"), read.whole("llama.attention.head_count")
    num_kv_heads = read.whole("llama.attention.head_count_kv", num_heads)
    head_size = read.whole("llama.attention.key_length", hidden_size // num_heads)
    if num_heads % num_kv_heads:
        raise BadModelFile(
            f"{path} has {num_heads} query heads for {num_kv_heads} KV heads, expected a multiple: {AGAIN}"
        )
    if head_size % 2:
        raise BadModelFile(f"{path} has heads of size {head_size}, expected an even size: {AGAIN}")
    rotated = read.whole("llama.rope.dimension_count", head_size)
    scaling = metadata.get("llama.rope.scaling.type", "none")
    if (rotated, scaling) != (head_size, "none"):
        raise BadModelFile(
            f"{path} rotates {rotated} of the {head_size} numbers of a head, with scaling {scaling!r}; "
            "this reads files that rotate whole heads without scaling: take another model"
        )
    return LlamaConfig(
        num_layers=read.whole("llama.block_count"),
        hidden_size=hidden_size,
        intermediate_size=read.whole("llama.feed_forward_length"),
        num_heads=num_heads,
        num_kv_heads=num_kv_heads,
        head_size=head_size,
        vocab_size=len(read.list_of(str, "tokenizer.ggml.tokens")),
        context_length=read.whole("llama.context_length"),
        rope_theta=read.number("llama.rope.freq_base", 10000.0),
        rms_norm_eps=read.number("llama.attention.layer_norm_rms_epsilon"),
    )
