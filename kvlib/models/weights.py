"""The weights of a Llama-family model."""

from typing import NamedTuple

from torch import Tensor

from kvlib.models.config import LlamaConfig
from kvlib.models.linear import Form, Linear
from kvlib.models.tensors import Tensors


class LayerWeights(NamedTuple):
    """One transformer layer; every matrix is a Linear, here [outputs, inputs]."""

    attention_norm: Tensor  # [hidden]
    query: Linear  # [num_heads * head_size, hidden]
    key: Linear  # [num_kv_heads * head_size, hidden]
    value: Linear  # [num_kv_heads * head_size, hidden]
    output: Linear  # [hidden, num_heads * head_size]
    mlp_norm: Tensor  # [hidden]
    gate: Linear  # [intermediate, hidden]
    up: Linear  # [intermediate, hidden]
    down: Linear  # [hidden, intermediate]
    head_norms: tuple[Tensor, Tensor] | None  # of each head of queries, of keys: [head_size]; Qwen3 only


class Weights(NamedTuple):
    """All weights of a model."""

    embedding: Tensor  # [vocab, hidden]
    layers: list[LayerWeights]
    norm: Tensor  # [hidden]
    unembedding: Linear  # [vocab, hidden]; the embedding itself where the file has no other


def load_weights(tensors: Tensors, config: LlamaConfig, linear: Form) -> Weights:
    """Read every tensor, the matrices in the form that `linear` makes. Raises BadModelFile as `Tensors` does."""
    hidden, inner, vocab = config.hidden_size, config.intermediate_size, config.vocab_size
    q_size, kv_size = config.num_heads * config.head_size, config.num_kv_heads * config.head_size

    def matrix(name: str, outputs: int, inputs: int, bias: bool) -> Linear:
        return linear(*tensors.matrix(name, outputs, inputs, bias=bias))

    def head_norms(prefix: str) -> tuple[Tensor, Tensor]:
        query, key = (tensors.read(f"{prefix}.{name}_norm.weight", config.head_size) for name in "qk")
        return query, key

    def layer(prefix: str) -> LayerWeights:
        return LayerWeights(
            attention_norm=tensors.read(f"{prefix}.input_layernorm.weight", hidden),
            query=matrix(f"{prefix}.self_attn.q_proj", q_size, hidden, config.qkv_bias),
            key=matrix(f"{prefix}.self_attn.k_proj", kv_size, hidden, config.qkv_bias),
            value=matrix(f"{prefix}.self_attn.v_proj", kv_size, hidden, config.qkv_bias),
            output=matrix(f"{prefix}.self_attn.o_proj", hidden, q_size, config.output_bias),
            mlp_norm=tensors.read(f"{prefix}.post_attention_layernorm.weight", hidden),
            gate=matrix(f"{prefix}.mlp.gate_proj", inner, hidden, config.mlp_bias),
            up=matrix(f"{prefix}.mlp.up_proj", inner, hidden, config.mlp_bias),
            down=matrix(f"{prefix}.mlp.down_proj", hidden, inner, config.mlp_bias),
            head_norms=head_norms(f"{prefix}.self_attn") if config.qk_norm else None,
        )

    embedding, unembedding = tensors.embeddings("model.embed_tokens", vocab, hidden, tied=config.tied)
    layers = [layer(f"model.layers.{index}") for index in range(config.num_layers)]
    norm = tensors.read("model.norm.weight", hidden)
    tensors.check_all_read()
    return Weights(embedding, layers, norm, linear(unembedding, None))
