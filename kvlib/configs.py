"""What a model's own configuration says about its KV cache: a config.json or a GGUF header.

Field names are those of Hugging Face's config.json and of the GGUF specification.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kvlib.errors import BadConfig
from kvlib.families import FAMILIES, GGUF_FAMILIES, WITHOUT_TYPE, Family
from kvlib.fields import number, required, section
from kvlib.gguf import read_metadata

NAMES = {  # what families call the same field, the commonest name first
    "num_layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    "num_heads": ("num_attention_heads", "n_head", "n_heads", "num_heads"),
    "hidden_size": ("hidden_size", "n_embd", "n_embed", "d_model"),
    "v_head_size": ("v_head_dim",),
    "latent_size": ("kv_lora_rank",),
    "rope_size": ("qk_rope_head_dim",),
    "max_context": ("max_position_embeddings", "n_positions", "max_seq_len"),
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
NO_KEYS = "most of its layers keep a state of fixed size and no keys and values"
UNLIKE = "its layers are not all of one size"
NOT_COVERED = {
    "is_encoder_decoder": "it keeps a second cache, of the encoder's output",
    "add_cross_attention": "it keeps a second cache, of the encoder's output",
    "cross_attention_layers": "it keeps a second cache, of the image",
    "full_attention_interval": NO_KEYS,
    "attn_layer_period": NO_KEYS,
    "num_kv_shared_layers": "some of its layers share one cache",
    "use_cla": "some of its layers share one cache",
    "index_head_dim": "it keeps one more key a token, to choose what to attend to",
    "block_configs": UNLIKE,
    "num_key_value_heads_per_layer": UNLIKE,
    "swa_num_key_value_heads": UNLIKE,
    "num_global_key_value_heads": UNLIKE,
    "swa_head_dim": UNLIKE,
    "global_head_dim": UNLIKE,
}
ATTENTION_LAYERS = ("full_attention", "sliding_attention", "chunked_attention")
BY_HAND = "Work the numbers out by hand and give ModelSpec(...) num_layers, num_heads, num_kv_heads and head_size."


def config_fields(config: Mapping[str, Any], name: str = "") -> dict[str, Any]:
    """The fields of a `kvlib.sizing.ModelSpec`, by name. BadConfig as its `from_config` says."""
    if not isinstance(config, Mapping):
        raise BadConfig(f"the config is {config!r}; expected the fields of a config.json by name. Load the file first.")
    inner = section(config, "text_config") or config
    model_type = inner.get("model_type") or config.get("model_type")
    name = name or str(inner.get("_name_or_path") or model_type or "model")
    for part in (config, inner):
        _refuse_other_caches(part)
    family = _known(model_type, "model_type", FAMILIES) if model_type is not None else WITHOUT_TYPE
    dtypes = [part.get(field) for part in (inner, config) for field in ("torch_dtype", "dtype")]
    dtype = next((str(dtype).removeprefix("torch.") for dtype in dtypes if dtype), None)
    return {"name": name, "dtype": dtype} | _sizes(inner, family)


def file_fields(path: str | Path) -> dict[str, Any]:
    """As `config_fields`, of a config.json or a .gguf file. BadConfig as `ModelSpec.from_file` says."""
    if not isinstance(path, str | Path) or not Path(path).is_file():
        raise BadConfig(f"{path!r} is not a file; give the path of a model's config.json or .gguf file")
    path = Path(path)
    if path.suffix.lower() == ".gguf":
        return _gguf_fields(path)
    try:
        config = json.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise BadConfig(f"{path} is not JSON ({error}); give the model's config.json or .gguf file") from error
    if not isinstance(config, dict):
        raise BadConfig(f"{path} holds a {type(config).__name__}; expected a JSON object with the model's fields")
    return config_fields(config)


def _gguf_fields(path: Path) -> dict[str, Any]:
    metadata = read_metadata(path)
    architecture = metadata.get("general.architecture")
    stored = {ours: metadata.get(f"{architecture}.{theirs}") for ours, theirs in GGUF_NAMES.items()}
    _refuse_other_caches(stored)
    family = _known(architecture, "general.architecture", GGUF_FAMILIES)
    return {"name": str(metadata.get("general.name") or architecture)} | _sizes(stored, family)


def _sizes(config: Mapping[str, Any], family: Family) -> dict[str, Any]:
    num_heads = required(config, NAMES["num_heads"], family.num_heads)
    fields: dict[str, Any] = {
        "num_layers": required(config, NAMES["num_layers"]),
        "num_heads": num_heads,
        "max_context": number(config, NAMES["max_context"]) or None,
    }
    if family.latent or number(config, NAMES["latent_size"]):
        latent_size, rope_size = (required(config, NAMES[field]) for field in ("latent_size", "rope_size"))
        latent = {"latent_size": latent_size, "rope_size": rope_size}
        return fields | latent | {"num_kv_heads": 1, "head_size": latent_size + rope_size}
    return fields | {
        "num_kv_heads": family.count_kv_heads(config, num_heads, family.kv_heads),
        "head_size": _head_size(config, num_heads, family),
        "v_head_size": number(config, NAMES["v_head_size"]) or None,
    }


def _head_size(config: Mapping[str, Any], num_heads: int, family: Family) -> int:
    if not family.divides:
        return required(config, family.head_size_fields)
    if head_size := number(config, family.head_size_fields, family.head_size):
        return head_size
    hidden_size = required(config, NAMES["hidden_size"])
    if hidden_size % num_heads:
        raise BadConfig(
            f"hidden_size {hidden_size} is not a multiple of num_attention_heads {num_heads} and there is no head_dim; "
            "add head_dim, the length of one key"
        )
    return hidden_size // num_heads


def _known(given: Any, field: str, families: Mapping[str, Family]) -> Family:
    if not isinstance(given, str) or given not in families:
        raise BadConfig(
            f"{field} is {given!r}: its KV cache is not known to follow from these fields, as that of the "
            f"{len(families)} types listed in kvlib.families is. {BY_HAND}"
        )
    return families[given]


def _refuse_other_caches(config: Mapping[str, Any]) -> None:
    for field, reason in NOT_COVERED.items():
        if config.get(field):
            raise BadConfig(f"{field} is {config[field]!r}: {reason}. These sums do not cover that. {BY_HAND}")
    layers = config.get("layer_types") or []
    if not isinstance(layers, list | tuple) or not all(isinstance(kind, str) for kind in layers):
        raise BadConfig(f"layer_types is {layers!r}; expected a list of names, one a layer. Correct it and try again.")
    if other := sorted(set(layers) - set(ATTENTION_LAYERS)):
        raise BadConfig(f"layer_types has {', '.join(other)}, and these sums cover attention only. {BY_HAND}")
