"""How many bytes the KV cache takes: for one token, for one block, and how many of each a memory holds.

Sources: Kwon et al. 2023, section 3 (the sum for OPT-13B); Shazeer 2019 (multi-query attention), Ainslie et al.
2023 (grouped-query), DeepSeek-AI 2024 (multi-head latent).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any, Self

from kvlib.checks import whole
from kvlib.configs import config_fields, file_fields
from kvlib.errors import BadConfig

KiB, MiB, GiB = 2**10, 2**20, 2**30

DTYPE_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "fp8": 1, "fp8_e4m3": 1, "fp8_e5m2": 1, "int8": 1}


@dataclass(frozen=True)
class ModelSpec:
    """What decides the size of a model's KV cache.

    `head_size` is the length of a key, `v_head_size` that of a value where it differs (None: the same).
    Latent attention stores, in one layer, one vector of `latent_size` numbers and one rotary key of
    `rope_size`, from which the keys and values of all heads follow: `num_kv_heads` is then 1 and `head_size`
    their sum. `dtype` is the config's, or None where it names none; `max_context` counts tokens.

    The sums are for every layer and every position. Not counted: a sliding window, which caps what a layer
    keeps of a long sequence; the scale factors of a quantised cache; a split over several devices.
    Raises BadConfig for a value that no model can have.
    """

    name: str
    num_layers: int
    num_heads: int
    num_kv_heads: int
    head_size: int
    dtype: str | None = None
    v_head_size: int | None = None
    latent_size: int = 0
    rope_size: int = 0
    max_context: int | None = None

    def __post_init__(self) -> None:
        for field in ("num_layers", "num_heads", "num_kv_heads", "head_size"):
            whole(field, getattr(self, field))
        for field in ("latent_size", "rope_size"):
            whole(field, getattr(self, field), least=0)
        for field in ("v_head_size", "max_context"):
            if getattr(self, field) is not None:
                whole(field, getattr(self, field))
        if self.num_heads % self.num_kv_heads:
            raise BadConfig(
                f"{self.num_heads} query heads are not a multiple of {self.num_kv_heads} KV heads; every KV head "
                "serves equally many query heads. Check num_attention_heads and num_key_value_heads."
            )
        if self.dtype is not None:
            _bytes_of(self.dtype)

    @classmethod
    def from_config(cls, config: Mapping[str, Any], name: str = "") -> Self:
        """From a config.json already loaded. A `text_config` inside it (multimodal models) is what counts.

        BadConfig names the field that is missing, out of range, or of a model whose cache this does not cover,
        or the `model_type` where it is none of kvlib.families.FAMILIES. A config without one must name
        `num_key_value_heads` and `head_dim`.
        """
        return cls(**config_fields(config, name))

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """From a model's config.json, or the header of a .gguf file (which names no dtype for the cache).

        BadConfig as `from_config` says, and if there is no such file; BadModelFile for a damaged .gguf file.
        """
        return cls(**file_fields(path))

    @property
    def attention(self) -> str:
        """'MHA', 'GQA', 'MQA' or 'MLA': how many query heads share what is stored."""
        if self.latent_size:
            return "MLA"
        if self.num_kv_heads == self.num_heads:
            return "MHA"
        return "MQA" if self.num_kv_heads == 1 else "GQA"

    def kv_bytes_per_token(self, dtype: str | None = None) -> int:
        """Bytes that one token's keys and values take in all layers. `dtype` None or "auto" means the model's own;
        others are the keys of DTYPE_BYTES. BadConfig for an unknown one, or if the model names none."""
        if dtype is None or str(dtype) == "auto":
            dtype = self.dtype
        if dtype is None:
            raise BadConfig(f"the config of {self.name} names no dtype; pass the cache's, such as dtype='float16'")
        if self.latent_size:
            numbers = self.latent_size + self.rope_size  # keys and values both follow from these: not doubled
        else:
            numbers = self.num_kv_heads * (self.head_size + (self.v_head_size or self.head_size))
        return self.num_layers * numbers * _bytes_of(dtype)

    def block_bytes(self, block_size: int, dtype: str | None = None) -> int:
        """Bytes of one block of `block_size` tokens, all layers together."""
        return whole("block_size", block_size) * self.kv_bytes_per_token(dtype)

    def tokens_in(self, memory_bytes: int, dtype: str | None = None) -> int:
        """How many tokens fit in `memory_bytes`."""
        return whole("memory_bytes", memory_bytes, least=0) // self.kv_bytes_per_token(dtype)

    def blocks_in(self, memory_bytes: int, block_size: int, dtype: str | None = None) -> int:
        """How many blocks of `block_size` tokens fit in `memory_bytes`."""
        return whole("memory_bytes", memory_bytes, least=0) // self.block_bytes(block_size, dtype)


def model_records() -> dict[str, dict[str, Any]]:
    """data/models.json by id: `name`, `config` (the fields that matter), `max_context` and `source`."""
    text = resources.files("kvlib.data").joinpath("models.json").read_text(encoding="utf-8")
    return {record["id"]: record for record in json.loads(text)}


def known_models() -> dict[str, ModelSpec]:
    """The models this book speaks of, by id such as "opt-13b"."""
    return {
        id: replace(ModelSpec.from_config(record["config"], record["name"]), max_context=record["max_context"])
        for id, record in model_records().items()
    }


def _bytes_of(dtype: str) -> int:
    try:
        return DTYPE_BYTES[str(dtype).removeprefix("torch.")]
    except KeyError:
        raise BadConfig(f"dtype is {dtype!r}; expected one of {', '.join(DTYPE_BYTES)}. Name one of these.") from None
