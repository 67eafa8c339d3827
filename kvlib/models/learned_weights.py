"""The weights of OPT and GPT-2, brought to one form."""

from typing import NamedTuple

from torch import Tensor

from kvlib.models.config import LearnedConfig
from kvlib.models.linear import Form, Linear
from kvlib.models.tensors import Tensors


class Norm(NamedTuple):
    """What a LayerNorm multiplies by and adds."""

    weight: Tensor  # [hidden]
    bias: Tensor  # [hidden]


class LearnedLayer(NamedTuple):
    """One transformer layer; every matrix is a Linear, here [outputs, inputs]."""

    attention_norm: Norm
    query: Linear  # [hidden, hidden]
    key: Linear  # [hidden, hidden]
    value: Linear  # [hidden, hidden]
    output: Linear  # [hidden, hidden]
    mlp_norm: Norm
    up: Linear  # [intermediate, hidden]
    down: Linear  # [hidden, intermediate]


class LearnedWeights(NamedTuple):
    """All weights of a model."""

    embedding: Tensor  # [vocab, hidden]
    positions: Tensor  # [position_offset + context, hidden]
    layers: list[LearnedLayer]
    norm: Norm
    unembedding: Linear  # [vocab, hidden]; the embedding itself where the file has no other


def load_opt(tensors: Tensors, config: LearnedConfig, linear: Form) -> LearnedWeights:
    """Read every tensor of an OPT model. Raises BadModelFile as `Tensors` does."""
    hidden, inner = config.hidden_size, config.intermediate_size

    def matrix(name: str, outputs: int, inputs: int) -> Linear:
        return linear(*tensors.matrix(name, outputs, inputs, bias=config.bias))

    def layer(prefix: str) -> LearnedLayer:
        return LearnedLayer(
            attention_norm=_norm(tensors, f"{prefix}.self_attn_layer_norm", hidden),
            query=matrix(f"{prefix}.self_attn.q_proj", hidden, hidden),
            key=matrix(f"{prefix}.self_attn.k_proj", hidden, hidden),
            value=matrix(f"{prefix}.self_attn.v_proj", hidden, hidden),
            output=matrix(f"{prefix}.self_attn.out_proj", hidden, hidden),
            mlp_norm=_norm(tensors, f"{prefix}.final_layer_norm", hidden),
            up=matrix(f"{prefix}.fc1", inner, hidden),
            down=matrix(f"{prefix}.fc2", hidden, inner),
        )

    layers = [layer(f"model.decoder.layers.{index}") for index in range(config.num_layers)]
    names = ("model.decoder.embed_tokens", "model.decoder.embed_positions", "model.decoder.final_layer_norm")
    return _finish(tensors, config, linear, layers, *names)


def load_gpt2(tensors: Tensors, config: LearnedConfig, linear: Form) -> LearnedWeights:
    """Read every tensor of a GPT-2 model. Raises BadModelFile as `Tensors` does.

    Its files hold every matrix [inputs, outputs], and those of query, key and value side by side as one.
    """
    hidden, inner = config.hidden_size, config.intermediate_size

    def matrices(name: str, outputs: int, inputs: int, parts: int = 1) -> list[Linear]:
        weight = tensors.read(f"{name}.weight", inputs, outputs).T.chunk(parts)  # [outputs / parts, inputs] each
        bias = tensors.read(f"{name}.bias", outputs).chunk(parts)  # [outputs / parts] each
        return [linear(part.contiguous(), its_bias) for part, its_bias in zip(weight, bias)]

    def layer(prefix: str) -> LearnedLayer:
        query, key, value = matrices(f"{prefix}.attn.c_attn", 3 * hidden, hidden, parts=3)
        [output] = matrices(f"{prefix}.attn.c_proj", hidden, hidden)
        [up], [down] = matrices(f"{prefix}.mlp.c_fc", inner, hidden), matrices(f"{prefix}.mlp.c_proj", hidden, inner)
        attention_norm, mlp_norm = (_norm(tensors, f"{prefix}.{name}", hidden) for name in ("ln_1", "ln_2"))
        return LearnedLayer(attention_norm, query, key, value, output, mlp_norm, up, down)

    layers = [layer(f"transformer.h.{index}") for index in range(config.num_layers)]
    return _finish(tensors, config, linear, layers, "transformer.wte", "transformer.wpe", "transformer.ln_f")


def _finish(
    tensors: Tensors,
    config: LearnedConfig,
    linear: Form,
    layers: list[LearnedLayer],
    embedding_name: str,
    positions_name: str,
    norm_name: str,
) -> LearnedWeights:
    hidden, num_positions = config.hidden_size, config.position_offset + config.context_length
    embedding, unembedding = tensors.embeddings(embedding_name, config.vocab_size, hidden, tied=config.tied)
    positions = tensors.read(f"{positions_name}.weight", num_positions, hidden)
    norm = _norm(tensors, norm_name, hidden)
    tensors.check_all_read()
    return LearnedWeights(embedding, positions, layers, norm, linear(unembedding, None))


def _norm(tensors: Tensors, name: str, size: int) -> Norm:
    return Norm(tensors.read(f"{name}.weight", size), tensors.read(f"{name}.bias", size))
