"""Each known model type against the cache that transformers' own model of it fills; every other type is refused."""

import pytest
import torch
from transformers import CONFIG_MAPPING, AutoModelForCausalLM

from kvlib.errors import BadConfig
from kvlib.families import FAMILIES
from kvlib.sizing import ModelSpec

SIZES = {"num_hidden_layers": 2, "num_attention_heads": 64, "hidden_size": 512}
NAMED = {"num_key_value_heads": 4, "head_dim": 16}
LATENT = {"num_key_value_heads": 64, "kv_lora_rank": 32, "qk_rope_head_dim": 8}
SMALL = {"vocab_size": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
EXTRA = {
    "codegen": {"rotary_dim": 8},
    "gptj": {"rotary_dim": 8},
    "gpt_neo": {"attention_types": [[["global"], 2]]},
    "deepseek_v2": {"num_experts_per_tok": 2, "moe_intermediate_size": 1024},
}
NAMES_NO_HEAD_SIZE = ("falcon", "gpt_neox_japanese", "olmoe", "persimmon", "stablelm")
OTHER_CODE = (
    "chatglm",
    "dbrx",
    "gemma3",
    "qwen2_vl",
    "qwen2_vl_text",
    "qwen2_5_vl",
    "qwen2_5_vl_text",
    "qwen3_vl_text",
)
MEASURED = [model_type for model_type in FAMILIES if model_type not in OTHER_CODE]


def stored_numbers(model_type, fields):
    """How many numbers a token takes in the cache of transformers' model, all layers together."""
    config = CONFIG_MAPPING[model_type](**fields, **SMALL, **EXTRA.get(model_type, {}))
    needs_values = model_type in ("biogpt", "codegen", "gpt2", "gpt_neo", "gptj")
    with torch.device("cpu" if needs_values else "meta"), torch.no_grad():
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).eval()
        cache = model(input_ids=torch.zeros(1, 5, dtype=torch.long), use_cache=True).past_key_values
    return sum(layer.keys.numel() + layer.values.numel() for layer in cache.layers) // 5


@pytest.mark.parametrize("model_type", MEASURED)
def test_the_sum_is_what_the_types_own_model_stores(model_type):
    variants = [LATENT] if FAMILIES[model_type].latent else [{}, NAMED]
    for more in variants:
        if model_type in NAMES_NO_HEAD_SIZE:
            more = {field: value for field, value in more.items() if field != "head_dim"}
        fields = SIZES | more
        spec = ModelSpec.from_config({"model_type": model_type} | fields)
        assert spec.kv_bytes_per_token("int8") == stored_numbers(model_type, fields)


OURS = {"num_hidden_layers": 2, "num_attention_heads": 8, "hidden_size": 64}
CHATGLM = {"model_type": "chatglm", "num_layers": 28, "hidden_size": 4096, "num_attention_heads": 32}
MPT = {"model_type": "mpt", "n_layers": 2, "n_heads": 8, "d_model": 64}
GROUPS = {"attn_type": "grouped_query_attention"}
DBRX = {"model_type": "dbrx", "n_layers": 40, "n_heads": 48, "d_model": 6144}


@pytest.mark.parametrize(
    ("config", "num_kv_heads", "head_size"),
    [
        (CHATGLM | {"multi_query_attention": True, "multi_query_group_num": 2, "kv_channels": 128}, 2, 128),
        (CHATGLM | {"multi_query_group_num": 2, "kv_channels": 64}, 32, 64),
        (DBRX | {"attn_config": {"kv_n_heads": 8}}, 8, 128),
        (MPT | {"attn_config": {"attn_type": "multiquery_attention"}}, 1, 8),
        (MPT | {"attn_config": GROUPS | {"kv_n_heads": 2}}, 2, 8),
        (MPT, 8, 8),
        (OURS | {"model_type": "llama", "n_kv_heads": 2}, 2, 8),
        (OURS | {"model_type": "llama", "num_attention_groups": 2}, 2, 8),
        (OURS | {"model_type": "llama", "num_query_groups": 2}, 2, 8),
        (OURS | {"model_type": "gpt_bigcode", "multi_query": False}, 8, 8),
        (OURS | {"model_type": "qwen2_vl", "num_key_value_heads": 2}, 2, 8),
        ({"model_type": "gemma3", "text_config": {"num_hidden_layers": 34, "hidden_size": 2560}}, 4, 256),
        (OURS | {"num_key_value_heads": 2, "head_dim": 16}, 2, 16),
    ],
)
def test_heads_are_found_where_the_type_keeps_them(config, num_kv_heads, head_size):
    spec = ModelSpec.from_config(config)
    assert (spec.num_kv_heads, spec.head_size) == (num_kv_heads, head_size)


OTHERS = """
    baichuan_m1 bamba bert hunyuan_v1_moe idefics jetmoe kimi_linear lfm2 longcat_flash mamba2 mimo_v2_flash
    minimax_text_01 mllama nemotron_h openelm phi4flash plamo2 qwen3_next recurrent_gemma retnet rwkv6 rwkv7 t5 xlstm
    zamba2 gemma4_text
"""


@pytest.mark.parametrize("model_type", OTHERS.split())
def test_a_type_with_another_cache_is_refused_by_name(model_type):
    config = OURS | NAMED | {"model_type": model_type}
    for given in (config, {"model_type": "wrapper", "text_config": config}):
        with pytest.raises(BadConfig, match=f"model_type is '{model_type}'.*ModelSpec"):
            ModelSpec.from_config(given)


LLAMA = OURS | {"model_type": "llama"}


@pytest.mark.parametrize(
    ("config", "named"),
    [
        (None, "the config is None"),
        ([], "the config is []"),
        ("x", "the config is 'x'"),
        (LLAMA | {"text_config": "abc"}, "text_config is 'abc'"),
        (LLAMA | {"model_type": ["llama"]}, "model_type is ['llama']"),
        (LLAMA | {"layer_types": 3}, "layer_types is 3"),
        (LLAMA | {"layer_types": [None, "full_attention"]}, "layer_types is [None"),
        (LLAMA | {"use_cla": True}, "use_cla is True"),
        (LLAMA | {"global_head_dim": 512}, "global_head_dim is 512"),
        (LLAMA | {"block_configs": [{}]}, "block_configs is [{}]"),
        (LLAMA | {"num_key_value_heads_per_layer": [1, 2]}, "num_key_value_heads_per_layer is [1, 2]"),
        (LLAMA | {"model_type": "mistral", "num_key_value_heads": None}, "num_key_value_heads is None"),
        (OURS | {"model_type": "falcon", "multi_query": "false"}, "multi_query is 'false'"),
        (OURS | {"model_type": "deepseek_v3"}, "kv_lora_rank is missing"),
        (OURS, "num_key_value_heads is missing"),
        (OURS | {"num_key_value_heads": 2}, "head_dim is missing"),
        (CHATGLM | {"multi_query_attention": True}, "multi_query_group_num is missing"),
        (DBRX, "attn_config.kv_n_heads is missing"),
        (DBRX | {"attn_config": "abc"}, "attn_config is 'abc'"),
        (MPT | {"attn_config": GROUPS}, "attn_config.kv_n_heads is missing"),
        (MPT | {"attn_config": {"attn_type": "latent"}}, "attn_config.attn_type is 'latent'"),
    ],
)
def test_a_config_whose_heads_are_not_plain_is_refused_with_the_field_named(config, named):
    with pytest.raises(BadConfig) as refusal:
        ModelSpec.from_config(config)
    assert named in str(refusal.value)
