"""The model types whose KV cache follows from their config.json, and what each type leaves unsaid.

Defaults are those of the configuration classes of Hugging Face transformers 5.24; tests/test_families.py holds the
table against the caches that its models fill. ChatGLM, DBRX and MPT with shared heads: from their authors' own code.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from kvlib.fields import choice, number, required

KV_HEADS = (
    "num_key_value_heads",
    "num_kv_heads",
    "n_head_kv",
    "n_kv_heads",
    "num_query_groups",
    "num_attention_groups",
)


def grouped(config: Mapping[str, Any], num_heads: int, default: int) -> int:
    """As many KV heads as the config says; else the type's default; else as many as query heads."""
    return number(config, KV_HEADS, default) or num_heads


def named(config: Mapping[str, Any], num_heads: int, default: int) -> int:
    """As many KV heads as the config says, which it must."""
    return required(config, KV_HEADS)


def every_head(config: Mapping[str, Any], num_heads: int, default: int) -> int:
    """Every query head has a KV head of its own, whatever else the config names."""
    return num_heads


def falcon(config: Mapping[str, Any], num_heads: int, default: int) -> int:
    """One KV head, except in the new decoder or where the flag is off. Falcon-7B names 71 and ignores them."""
    new_decoder = choice(config, "new_decoder_architecture", (False, True))
    if choice(config, "multi_query", (True, False)) and not new_decoder:
        return 1
    return grouped(config, num_heads, default)


def bigcode(config: Mapping[str, Any], num_heads: int, default: int) -> int:
    """One KV head, or where the flag is off one for every query head."""
    return 1 if choice(config, "multi_query", (True, False)) else num_heads


def chatglm(config: Mapping[str, Any], num_heads: int, default: int) -> int:
    """Groups where the flag is on, else one KV head for every query head."""
    if choice(config, "multi_query_attention", (False, True)):
        return required(config, ("multi_query_group_num",))
    return num_heads


def dbrx(config: Mapping[str, Any], num_heads: int, default: int) -> int:
    """The number stands in `attn_config`."""
    return required(config, ("attn_config.kv_n_heads",))


def mpt(config: Mapping[str, Any], num_heads: int, default: int) -> int:
    """`attn_config` names the kind of attention, and for groups their number."""
    kinds = ("multihead_attention", "multiquery_attention", "grouped_query_attention")
    kind = choice(config, "attn_config.attn_type", kinds)
    return {kinds[0]: num_heads, kinds[1]: 1}.get(kind) or dbrx(config, num_heads, default)


class Family(NamedTuple):
    """What a config.json of one model type means where it is silent. A 0 means: no default in numbers.

    `kv_heads` counts KV heads and `head_size` is the length of a key (0: hidden_size divided among the heads);
    `head_size_fields` may name it, `divides` is whether it may go unnamed. `latent`: the config must name a
    latent vector.
    """

    kv_heads: int = 0
    head_size: int = 0
    num_heads: int = 0
    count_kv_heads: Callable[[Mapping[str, Any], int, int], int] = grouped
    head_size_fields: tuple[str, ...] = ("head_dim",)
    divides: bool = True
    latent: bool = False


WITHOUT_TYPE = Family(count_kv_heads=named, divides=False)

GROUPED = """
    apertus arcee aria_text cohere cohere2 diffllama flex_olmo granite granitemoe granitemoeshared jais2 llama nanochat
    olmo olmo2 olmo3 olmoe phi phi3
"""
EVERY_HEAD = "biogpt bloom codegen gpt2 gpt_neo gpt_neox gpt_neox_japanese gptj opt persimmon"
LATENT = "deepseek_v2 deepseek_v3 glm4_moe_lite"

FAMILIES = {
    **dict.fromkeys(GROUPED.split(), Family()),
    **dict.fromkeys(EVERY_HEAD.split(), Family(count_kv_heads=every_head, head_size_fields=())),
    **dict.fromkeys(LATENT.split(), Family(latent=True)),
    "chatglm": Family(count_kv_heads=chatglm, head_size_fields=("kv_channels",)),
    "cwm": Family(kv_heads=8, head_size=128),
    "dbrx": Family(count_kv_heads=dbrx, head_size_fields=()),
    "ernie4_5": Family(kv_heads=2, head_size=128),
    "ernie4_5_moe": Family(kv_heads=4),
    "exaone4": Family(kv_heads=32),
    "falcon": Family(count_kv_heads=falcon, head_size_fields=()),
    "gemma": Family(kv_heads=16, head_size=256),
    "gemma2": Family(kv_heads=4, head_size=256),
    "gemma3": Family(kv_heads=4, head_size=256, num_heads=8),
    "gemma3_text": Family(kv_heads=4, head_size=256, num_heads=8),
    "glm": Family(kv_heads=2, head_size=128),
    "glm4": Family(kv_heads=2, head_size=128),
    "glm4_moe": Family(kv_heads=8),
    "gpt_bigcode": Family(count_kv_heads=bigcode, head_size_fields=()),
    "gpt_oss": Family(kv_heads=8, head_size=64),
    "llama4_text": Family(kv_heads=8, head_size=128),
    "minimax_m2": Family(kv_heads=8, head_size=128),
    "ministral3": Family(kv_heads=8, head_size=128),
    "mistral": Family(kv_heads=8),
    "mixtral": Family(kv_heads=8),
    "mpt": Family(count_kv_heads=mpt, head_size_fields=()),
    "phimoe": Family(kv_heads=8),
    "qwen2": Family(kv_heads=32),
    "qwen2_moe": Family(kv_heads=16),
    "qwen2_vl": Family(kv_heads=8, head_size_fields=()),
    "qwen2_vl_text": Family(kv_heads=8, head_size_fields=()),
    "qwen2_5_vl": Family(kv_heads=8, head_size_fields=()),
    "qwen2_5_vl_text": Family(kv_heads=8, head_size_fields=()),
    "qwen3": Family(kv_heads=32, head_size=128),
    "qwen3_moe": Family(kv_heads=4),
    "qwen3_vl_text": Family(kv_heads=32, head_size=128),
    "seed_oss": Family(kv_heads=8, head_size=128),
    "smollm3": Family(kv_heads=4),
    "stablelm": Family(kv_heads=32, head_size_fields=()),
    "starcoder2": Family(kv_heads=2),
}

# A GGUF header names its KV heads, or there are as many as query heads, in every architecture that llama.cpp reads.
GGUF_ARCHITECTURES = """
    apertus arcee bloom chatglm codeshell cohere2 command-r dbrx deepseek deepseek2 ernie4_5 ernie4_5-moe exaone exaone4
    falcon gemma gemma2 gemma3 glm4 gpt-oss gpt2 gptj gptneox granite granitemoe internlm2 llama llama4 mistral3 mpt
    nemotron olmo olmo2 olmoe orion phi2 phi3 phimoe qwen qwen2 qwen2moe qwen2vl qwen3 qwen3moe qwen3vl qwen3vlmoe
    seed_oss smollm3 stablelm starcoder starcoder2 xverse
"""
GGUF_FAMILIES = dict.fromkeys(GGUF_ARCHITECTURES.split(), Family())
