"""LoRA (Hu et al., arXiv:2106.09685): a model of which some matrices have two thin ones beside them.

W x becomes W x + scale B (A x), with A [rank, inputs] and B [outputs, rank]. The model's own weights are shared, so
that an adapter takes no more memory than its file.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from kvlib.checks import whole
from kvlib.errors import BadInput, BadModelFile
from kvlib.models.adapter_file import FILES, AdapterFile, read_adapter
from kvlib.models.config import DecoderConfig
from kvlib.models.decoder import Decoder
from kvlib.models.learned import Learned
from kvlib.models.linear import FORMS, Form, Linear, choose
from kvlib.models.llama import Llama
from kvlib.models.placement import Placement
from kvlib.shown import shown

LLAMA = {  # the matrices of a layer in transformers, and what they are here
    "model.layers.{}.self_attn.q_proj": ["query"],
    "model.layers.{}.self_attn.k_proj": ["key"],
    "model.layers.{}.self_attn.v_proj": ["value"],
    "model.layers.{}.self_attn.o_proj": ["output"],
    "model.layers.{}.mlp.gate_proj": ["gate"],
    "model.layers.{}.mlp.up_proj": ["up"],
    "model.layers.{}.mlp.down_proj": ["down"],
}
LEARNED = {
    "model.decoder.layers.{}.self_attn.q_proj": ["query"],
    "model.decoder.layers.{}.self_attn.k_proj": ["key"],
    "model.decoder.layers.{}.self_attn.v_proj": ["value"],
    "model.decoder.layers.{}.self_attn.out_proj": ["output"],
    "model.decoder.layers.{}.fc1": ["up"],
    "model.decoder.layers.{}.fc2": ["down"],
    "transformer.h.{}.attn.c_attn": ["query", "key", "value"],
    "transformer.h.{}.attn.c_proj": ["output"],
    "transformer.h.{}.mlp.c_fc": ["up"],
    "transformer.h.{}.mlp.c_proj": ["down"],
}


@dataclass(frozen=True)
class LoRARequest:
    """An adapter, with vLLM's names: what messages call it, its own number, and the local folder of its files.

    Raises BadInput for a name that is no text or empty, a number that is no int of at least 1, a path that is none.
    """

    lora_name: str
    lora_int_id: int
    lora_path: str | Path

    def __post_init__(self) -> None:
        if not isinstance(self.lora_name, str) or not self.lora_name:
            raise BadInput(f"lora_name is {shown(self.lora_name)}; give a text, not empty")
        whole("lora_int_id", self.lora_int_id, least=1, error=BadInput)
        if not isinstance(self.lora_path, str | Path):
            raise BadInput(f"lora_path is {shown(self.lora_path)}; give the folder of a PEFT adapter")


class AdaptedLinear:
    """A Linear, and beside it the two thin ones of an adapter."""

    def __init__(self, base: Linear, down: Linear, up: Linear) -> None:
        self.base = base
        self.down = down
        self.up = up

    def __call__(self, x: Tensor) -> Tensor:
        """x [T, inputs], by way of [T, rank] -> [T, outputs]."""
        return self.base(x) + self.up(self.down(x))


def apply_adapter(decoder: Decoder, request: LoRARequest, form: str = "torch") -> Decoder:
    """The decoder with the adapter, whose matrices take the `form` that is named; `decoder` stays as it is.

    Raises BadConfig for a form that cannot be had, BadInput if there is no such folder, BadModelFile for an adapter
    of another kind than plain LoRA, for another model, or in a damaged file.
    """
    if not isinstance(decoder, Llama | Learned):
        raise BadInput(f"a {type(decoder).__name__} takes no adapters; give a Llama or a Learned")
    folder = Path(request.lora_path)
    missing = [path for path in (folder, *(folder / name for name in FILES)) if not path.exists()]
    if missing:
        kind = "folder" if missing[0] == folder else "file"
        raise BadInput(
            f"adapter {request.lora_name!r}: there is no {kind} {str(missing[0])!r}; give a folder with "
            f"{' and '.join(FILES)}"
        )
    linear = FORMS[choose(form, decoder.device)]
    try:
        adapter = read_adapter(folder, Placement(decoder.device, decoder.dtype))
        match decoder:
            case Llama(config=config, weights=weights):
                layers = _adapt(weights.layers, LLAMA, config, adapter, linear)
                return Llama(config, weights._replace(layers=layers))
            case Learned(config=config, weights=weights):
                layers = _adapt(weights.layers, LEARNED, config, adapter, linear)
                return Learned(config, weights._replace(layers=layers))
    except BadModelFile as error:
        raise BadModelFile(f"adapter {request.lora_name!r} cannot be used: {error}") from None


def _adapt(
    layers: list[Any], names: dict[str, list[str]], config: DecoderConfig, adapter: AdapterFile, linear: Form
) -> list[Any]:
    sizes = _sizes(config)
    adapted = []
    for index, layer in enumerate(layers):
        for pattern, fields in names.items():
            name = pattern.format(index)
            if name in adapter:
                outputs, inputs = [sizes[field][0] for field in fields], sizes[fields[0]][1]
                a, b = adapter.read(name, sum(outputs), inputs)  # [rank, inputs], [outputs, rank]
                down = linear(a, None)
                ups = [linear(part.contiguous(), None) for part in b.split(outputs)]
                changed = {field: AdaptedLinear(getattr(layer, field), down, up) for field, up in zip(fields, ups)}
                layer = layer._replace(**changed)
        adapted.append(layer)
    adapter.tensors.check_all_read()
    return adapted


def _sizes(config: DecoderConfig) -> dict[str, tuple[int, int]]:
    """(outputs, inputs) of each matrix of a layer."""
    hidden, inner = config.hidden_size, config.intermediate_size
    q_size, kv_size = config.num_heads * config.head_size, config.num_kv_heads * config.head_size
    attention = {"query": (q_size, hidden), "key": (kv_size, hidden), "value": (kv_size, hidden)}
    mlp = {"gate": (inner, hidden), "up": (inner, hidden), "down": (hidden, inner)}
    return attention | {"output": (hidden, q_size)} | mlp
