"""The sizes and switches of a model, architecture by architecture, as its config.json has them.

A switch that would change the arithmetic, and that the forward passes here do not have, is refused by its name.
"""

from kvlib.errors import BadModelFile
from kvlib.models.config import LearnedConfig, LlamaConfig
from kvlib.models.config_file import ConfigFile, read_rope, read_sizes


def read_llama(read: ConfigFile) -> LlamaConfig:
    """LlamaForCausalLM."""
    bias = read.flag("attention_bias", False)
    return _llama_family(read, qkv_bias=bias, output_bias=bias, mlp_bias=read.flag("mlp_bias", False))


def read_qwen2(read: ConfigFile) -> LlamaConfig:
    """Qwen2ForCausalLM: a bias on queries, keys and values."""
    read.only("use_sliding_window", False)
    return _llama_family(read, qkv_bias=True)


def read_qwen3(read: ConfigFile) -> LlamaConfig:
    """Qwen3ForCausalLM: a norm on each head of queries and keys."""
    read.only("use_sliding_window", False)
    bias = read.flag("attention_bias", False)
    return _llama_family(read, qk_norm=True, qkv_bias=bias, output_bias=bias)


def read_mistral(read: ConfigFile) -> LlamaConfig:
    """MistralForCausalLM. Its context length is that of its sliding window, within which all attention is full."""
    return _llama_family(read, window=read.whole("sliding_window") if "sliding_window" in read else None)


def read_opt(read: ConfigFile) -> LearnedConfig:
    """OPTForCausalLM with its norms before attention and MLP, as in all of OPT but the 350M model."""
    sizes = read_sizes(read)
    read.only("do_layer_norm_before", True)
    read.only("_remove_final_layer_norm", False)
    read.only("layer_norm_elementwise_affine", True)
    read.only("word_embed_proj_dim", sizes["hidden_size"])
    return LearnedConfig(
        **sizes,
        intermediate_size=read.whole("ffn_dim"),
        context_length=read.whole("max_position_embeddings"),
        layer_norm_eps=1e-5,
        activation=read.only("activation_function", "relu", "gelu", "gelu_new"),
        position_offset=2,
        bias=read.flag("enable_bias", True),
        tied=read.flag("tie_word_embeddings", True),
    )


def read_gpt2(read: ConfigFile) -> LearnedConfig:
    """GPT2LMHeadModel."""
    sizes = read_sizes(read)
    read.only("scale_attn_weights", True)
    read.only("scale_attn_by_inverse_layer_idx", False)
    return LearnedConfig(
        **sizes,
        intermediate_size=read.whole("n_inner", 4 * sizes["hidden_size"]),
        context_length=read.whole("n_positions"),
        layer_norm_eps=read.number("layer_norm_epsilon", 1e-5),
        activation=read.only("activation_function", "gelu_new", "gelu", "relu"),
        tied=read.flag("tie_word_embeddings", True),
    )


def _llama_family(read: ConfigFile, window: int | None = None, **switches: bool) -> LlamaConfig:
    sizes = read_sizes(read)
    if sizes["head_size"] % 2:
        raise BadModelFile(
            f"{read.path} has heads of size {sizes['head_size']}, expected an even size: take another model"
        )
    read.only("hidden_act", "silu")
    if "layer_types" in read and {*read.list_of(str, "layer_types")} != {"full_attention"}:
        raise BadModelFile(f"{read.path} has layer_types other than 'full_attention': take another model")
    context_length = read.whole("max_position_embeddings")
    theta, scaling = read_rope(read, context_length)
    return LlamaConfig(
        **sizes,
        intermediate_size=read.whole("intermediate_size"),
        context_length=min(context_length, window or context_length),
        rms_norm_eps=read.number("rms_norm_eps", 1e-6),
        rope_theta=theta,
        rope_scaling=scaling,
        tied=read.flag("tie_word_embeddings", False),
        **switches,
    )
