"""The weights of a Llama-family model, read from a GGUF file into float32 tensors.

The file format is that of ggml (docs/gguf.md); the packed formats are undone by the `gguf` package.
"""

from pathlib import Path
from typing import NamedTuple

import gguf
import numpy as np
import torch
from torch import Tensor

from kvlib.engine.config import DecoderConfig
from kvlib.engine.linear import FORMS, Linear
from kvlib.engine.metadata import AGAIN
from kvlib.errors import BadModelFile
from kvlib.gguf import Header


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


class Weights(NamedTuple):
    """All weights of a model, float32."""

    embedding: Tensor  # [vocab, hidden]
    layers: list[LayerWeights]
    norm: Tensor  # [hidden]
    unembedding: Linear  # [vocab, hidden]; the embedding itself where the file has no other


def load_weights(path: Path, header: Header, config: DecoderConfig, form: str = "torch") -> Weights:
    """Read every tensor of the model in `path`. Raises BadModelFile, naming file, tensor, shapes found and expected.

    A file with a tensor that this forward pass would not use is refused too: the text would be wrong.
    """
    reader = _TensorReader(path, header)
    linear = FORMS[form]
    hidden, inner, vocab = config.hidden_size, config.intermediate_size, config.vocab_size
    q_size, kv_size = config.num_heads * config.head_size, config.num_kv_heads * config.head_size

    def layer(prefix: str) -> LayerWeights:
        return LayerWeights(
            attention_norm=reader.read(f"{prefix}.attn_norm.weight", hidden),
            query=linear(half_split(reader.read(f"{prefix}.attn_q.weight", q_size, hidden), config.head_size)),
            key=linear(half_split(reader.read(f"{prefix}.attn_k.weight", kv_size, hidden), config.head_size)),
            value=linear(reader.read(f"{prefix}.attn_v.weight", kv_size, hidden)),
            output=linear(reader.read(f"{prefix}.attn_output.weight", hidden, q_size)),
            mlp_norm=reader.read(f"{prefix}.ffn_norm.weight", hidden),
            gate=linear(reader.read(f"{prefix}.ffn_gate.weight", inner, hidden)),
            up=linear(reader.read(f"{prefix}.ffn_up.weight", inner, hidden)),
            down=linear(reader.read(f"{prefix}.ffn_down.weight", hidden, inner)),
        )

    embedding = reader.read("token_embd.weight", vocab, hidden)
    layers = [layer(f"blk.{index}") for index in range(config.num_layers)]
    norm = reader.read("output_norm.weight", hidden)
    tied = "output.weight" not in header.tensors
    unembedding = embedding if tied else reader.read("output.weight", vocab, hidden)
    weights = Weights(embedding, layers, norm, linear(unembedding))
    reader.check_all_read()
    return weights


def half_split(weight: Tensor, head_size: int) -> Tensor:
    """Reorder the rows of a query or key matrix [heads * head_size, hidden] for rotary embedding by halves.

    GGUF keeps the two numbers of a rotated pair side by side, `rotate` in llama.py wants them head_size / 2 apart.
    """
    pairs = weight.view(-1, head_size // 2, 2, weight.shape[1])  # [heads, head_size / 2, 2, hidden]
    return pairs.transpose(1, 2).reshape(weight.shape)  # [heads * head_size, hidden]


class _TensorReader:
    def __init__(self, path: Path, header: Header) -> None:
        self.path = path
        self.unread = dict(header.tensors)
        self.data = np.memmap(path, mode="r")

    def read(self, name: str, *expected: int) -> Tensor:
        if name not in self.unread:
            raise BadModelFile(f"{self.path} has no tensor {name}, expected one of shape {list(expected)}; {AGAIN}")
        info = self.unread.pop(name)
        if info.shape != expected:
            raise BadModelFile(
                f"{self.path}: tensor {name} has shape {list(info.shape)}, expected {list(expected)} from the file's "
                f"own metadata; {AGAIN}"
            )
        packing = gguf.GGMLQuantizationType[info.ggml_type]
        packed = self.data[info.offset : info.offset + info.num_bytes]
        rows = packed.reshape(gguf.quant_shape_to_byte_shape(info.shape, packing))
        return torch.from_numpy(np.require(gguf.dequantize(rows, packing), requirements="W"))

    def check_all_read(self) -> None:
        if self.unread:
            raise BadModelFile(
                f"{self.path} has tensors that this forward pass has no use for, such as {next(iter(self.unread))}; "
                "give a plain Llama, without biases, experts or scaled rotary embedding"
            )
