"""What a model's own configuration says about its KV cache: config.json of any family, or a GGUF header.

Field names are those of Hugging Face's config.json and of the GGUF specification.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kvlib.errors import BadConfig
from kvlib.gguf import read_header

NAMES = {  # what families call the same field, the commonest name first
    "num_layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    "num_heads": ("num_attention_heads", "n_head", "n_heads", "num_heads"),
    "num_kv_heads": ("num_key_value_heads", "num_kv_heads", "n_head_kv"),
    "hidden_size": ("hidden_size", "n_embd", "n_embed", "d_model"),
    "head_size": ("head_dim",),
    "v_head_size": ("v_head_dim",),
    "latent_size": ("kv_lora_rank",),
    "rope_size": ("qk_rope_head_dim",),
    "max_context": ("max_position_embeddings", "n_positions"),
}
GGUF_NAMES = {
    "num_hidden_layers": "block_count",
    "num_attention_heads": "attention.head_count",
    "num_key_value_heads": "attention.head_count_kv",
    "hidden_size": "embedding_length",
    "head_dim": "attention.key_length",
    "v_head_dim": "attention.value_length",
    "kv_lora_rank": "attention.kv_lora_rank",
    "qk_rope_head_dim": "rope.dimension_count",
    "max_position_embeddings": "context_length",
    "full_attention_interval": "full_attention_interval",
    "num_kv_shared_layers": "attention.shared_kv_layers",
}
MULTI_QUERY_BY_DEFAULT = ("falcon", "RefinedWebModel", "gpt_bigcode")
NOT_COVERED = {
    "is_encoder_decoder": "it keeps a second cache, of the encoder's output",
    "full_attention_interval": "most of its layers keep a state of fixed size and no keys and values",
    "attn_layer_period": "most of its layers keep a state of fixed size and no keys and values",
    "num_kv_shared_layers": "some of its layers share one cache",
    "index_head_dim": "it keeps one more key a token, to choose what to attend to",
}


def read_config(path: Path) -> dict[str, Any]:
    """The fields of a config.json, or of a .gguf file's header under the names of a config.json."""
    if path.suffix == ".gguf":
        return _gguf_config(path)
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadConfig(f"{path} is not JSON ({error}); give the model's config.json or .gguf file") from error
    if not isinstance(config, dict):
        raise BadConfig(f"{path} holds a {type(config).__name__}; expected a JSON object with the model's fields")
    return config


def cache_fields(config: Mapping[str, Any], name: str = "") -> dict[str, Any]:
    """The fields of a `kvlib.sizing.ModelSpec`, by name. BadConfig as its `from_config` says."""
    name = name or config.get("_name_or_path") or config.get("model_type") or "model"
    outer, config = config, config.get("text_config") or config
    dtype = config.get("torch_dtype") or config.get("dtype") or outer.get("torch_dtype") or outer.get("dtype")
    _refuse_other_caches(config)
    num_heads = _required(config, "num_heads")
    fields = {
        "name": name,
        "num_layers": _required(config, "num_layers"),
        "num_heads": num_heads,
        "dtype": str(dtype).removeprefix("torch.") if dtype else None,
        "max_context": _field(config, "max_context"),
    }
    if latent_size := _field(config, "latent_size"):
        rope_size = _required(config, "rope_size")
        latent = {"latent_size": latent_size, "rope_size": rope_size}
        return fields | latent | {"num_kv_heads": 1, "head_size": latent_size + rope_size}
    return fields | {
        "num_kv_heads": _num_kv_heads(config, num_heads),
        "head_size": _head_size(config, num_heads),
        "v_head_size": _field(config, "v_head_size"),
    }


def whole(field: str, value: object, least: int = 1) -> int:
    """`value` if it is a whole number of at least `least`; else BadConfig naming `field`."""
    if type(value) is not int or value < least:
        raise BadConfig(f"{field} is {value!r}; expected a whole number of at least {least}. Correct it and try again.")
    return value


def _field(config: Mapping[str, Any], field: str) -> int | None:
    for name in NAMES[field]:
        if config.get(name) is not None:
            return whole(name, config[name])
    return None


def _required(config: Mapping[str, Any], field: str) -> int:
    value = _field(config, field)
    if value is None:
        first, *others = NAMES[field]
        also = f" (nor is there {' or '.join(others)})" if others else ""
        raise BadConfig(f"{first} is missing{also}; expected a whole number. Take the model's whole config.json.")
    return value


def _num_kv_heads(config: Mapping[str, Any], num_heads: int) -> int:
    multi_query = config.get("multi_query")
    if multi_query is None:
        multi_query = config.get("model_type") in MULTI_QUERY_BY_DEFAULT
    if multi_query and not config.get("new_decoder_architecture"):
        return 1  # Falcon-7B's config says num_kv_heads 71 beside it, and the model ignores that
    return _field(config, "num_kv_heads") or num_heads


def _head_size(config: Mapping[str, Any], num_heads: int) -> int:
    if head_size := _field(config, "head_size"):
        return head_size
    hidden_size = _required(config, "hidden_size")
    if hidden_size % num_heads:
        raise BadConfig(
            f"hidden_size {hidden_size} is not a multiple of num_attention_heads {num_heads} and there is no head_dim; "
            "add head_dim, the length of one key"
        )
    return hidden_size // num_heads


def _refuse_other_caches(config: Mapping[str, Any]) -> None:
    for field, reason in NOT_COVERED.items():
        if config.get(field):
            raise BadConfig(
                f"{field} is {config[field]!r}: {reason}. These sums do not cover that; work them out by hand."
            )
    if other := set(config.get("layer_types") or ()) - {"full_attention", "sliding_attention", "chunked_attention"}:
        raise BadConfig(
            f"layer_types has {', '.join(sorted(other))}, and these sums cover attention only; work them out by hand."
        )


def _gguf_config(path: Path) -> dict[str, Any]:
    metadata = read_header(path).metadata
    architecture = metadata.get("general.architecture")
    fields = {ours: metadata.get(f"{architecture}.{theirs}") for ours, theirs in GGUF_NAMES.items()}
    return {"model_type": architecture, "_name_or_path": metadata.get("general.name")} | fields
