"""What the config.json of every architecture has: sizes, and for most a rotary embedding.

Fields and their defaults are those of Hugging Face's transformers 5.24, which also reads the older names.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

from kvlib.configs import config_fields
from kvlib.errors import BadConfig, BadModelFile
from kvlib.models.config import Llama3Scaling
from kvlib.models.metadata import Metadata


class ConfigFile(Metadata):
    """The fields `values` of the config.json `path`; null counts as absent."""

    def __init__(self, values: Mapping[str, Any], path: Path) -> None:
        super().__init__({key: value for key, value in values.items() if value is not None}, path)
        self.values = values

    def section(self, key: str) -> "ConfigFile":
        """The fields of the object `key`, each as "key.field"; none where it is absent."""
        section = self._values.get(key, {})
        if not isinstance(section, dict):
            raise self.bad(key, "an object with fields of its own")
        return ConfigFile({f"{key}.{field}": value for field, value in section.items()}, self.path)


class Sizes(TypedDict):
    """The fields of a DecoderConfig but `intermediate_size` and `context_length`, which have many names."""

    num_layers: int
    hidden_size: int
    num_heads: int
    num_kv_heads: int
    head_size: int
    vocab_size: int


def read_sizes(read: ConfigFile) -> Sizes:
    """What configs of every architecture say.

    Raises BadModelFile for a size that is missing or impossible, and for quantised weights.
    """
    if "quantization_config" in read:
        raise BadModelFile(
            f"{read.path} has a quantization_config; this reads float32, float16 and bfloat16 weights: take the model "
            "that is not quantised"
        )
    try:
        cache = config_fields(read.values)
    except BadConfig as error:
        raise BadModelFile(f"{read.path}: {error}") from None
    num_heads, num_kv_heads = cache["num_heads"], cache["num_kv_heads"]
    if num_heads % num_kv_heads:
        raise BadModelFile(
            f"{read.path} has {num_heads} query heads for {num_kv_heads} KV heads, expected a multiple: take another "
            "model"
        )
    return {
        "num_layers": cache["num_layers"],
        "hidden_size": read.whole("n_embd" if "n_embd" in read else "hidden_size"),
        "num_heads": num_heads,
        "num_kv_heads": num_kv_heads,
        "head_size": cache["head_size"],
        "vocab_size": read.whole("vocab_size"),
    }


def read_rope(read: ConfigFile, context_length: int) -> tuple[float, Llama3Scaling | None]:
    """The base of the angles and their scaling: "rope_theta" and "rope_scaling", or both in "rope_parameters".

    Raises BadModelFile for a scaling other than Llama 3's, and for heads of which only a part turns.
    """
    key = "rope_scaling" if "rope_scaling" in read else "rope_parameters"
    rope = read.section(key)
    read.only("partial_rotary_factor", 1.0)
    rope.only(f"{key}.partial_rotary_factor", 1.0)
    if any(isinstance(value, dict) for value in rope.values.values()):
        raise read.bad(key, "one rotary embedding for all layers")
    theta = rope.number(f"{key}.rope_theta", read.number("rope_theta", 10000.0))
    kind = f"{key}.rope_type" if f"{key}.rope_type" in rope else f"{key}.type"
    if rope.only(kind, "default", "llama3") == "default":
        return theta, None
    original = rope.whole(f"{key}.original_max_position_embeddings", context_length)
    scaling = Llama3Scaling(
        factor=rope.number(f"{key}.factor"),
        low_freq_factor=rope.number(f"{key}.low_freq_factor"),
        high_freq_factor=rope.number(f"{key}.high_freq_factor"),
        original_context_length=read.whole("original_max_position_embeddings", original),
    )
    if scaling.low_freq_factor >= scaling.high_freq_factor:
        raise rope.bad(f"{key}.high_freq_factor", f"more than low_freq_factor, {scaling.low_freq_factor},")
    return theta, scaling
