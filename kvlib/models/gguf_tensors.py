"""The tensors of a GGUF file. The packed formats are undone by the `gguf` package."""

from pathlib import Path

import gguf
import numpy as np
import torch
from torch import Tensor

from kvlib.gguf import Header
from kvlib.models.placement import ON_CPU, Placement
from kvlib.models.tensors import Tensors

HUB_NAMES = {  # of each part of a GGUF name
    "token_embd": "model.embed_tokens",
    "blk": "model.layers",
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "output_norm": "model.norm",
    "output": "lm_head",
}


class GGUFTensors(Tensors):
    """The tensors of the Llama in the file `path`, as transformers would have them; `head_size` is of its heads."""

    def __init__(self, path: Path, header: Header, head_size: int, placement: Placement = ON_CPU) -> None:
        self._tensors = {_hub_name(name): info for name, info in header.tensors.items()}
        super().__init__({name: info.shape for name, info in self._tensors.items()}, placement)
        self._path = path
        self._head_size = head_size
        self._data = np.memmap(path, mode="r")

    def _place(self, name: str) -> tuple[Path, str]:
        for ours, theirs in HUB_NAMES.items():
            name = name.replace(theirs, ours)
        return self._path, name

    def _load(self, name: str) -> Tensor:
        info = self._tensors[name]
        packing = gguf.GGMLQuantizationType[info.ggml_type]
        packed = self._data[info.offset : info.offset + info.num_bytes]
        rows = packed.reshape(gguf.quant_shape_to_byte_shape(info.shape, packing))
        tensor = torch.from_numpy(np.require(gguf.dequantize(rows, packing), requirements="W"))
        rotated = name.endswith(("q_proj.weight", "k_proj.weight"))
        return half_split(tensor, self._head_size) if rotated else tensor


def half_split(weight: Tensor, head_size: int) -> Tensor:
    """Reorder the rows of a query or key matrix [heads * head_size, hidden] for rotary embedding by halves.

    GGUF keeps the two numbers of a rotated pair side by side, `rotate` in rope.py wants them head_size / 2 apart.
    """
    pairs = weight.view(-1, head_size // 2, 2, weight.shape[1])  # [heads, head_size / 2, 2, hidden]
    return pairs.transpose(1, 2).reshape(weight.shape)  # [heads * head_size, hidden]


def _hub_name(name: str) -> str:
    return ".".join(HUB_NAMES.get(part, part) for part in name.split("."))
