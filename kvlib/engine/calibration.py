"""The scales of a quantised cache, taken from the keys and values that the model makes of a short text.

The text is data/calibration.txt, of this project's own words. A scale made from it is a guess about all other texts:
what turns out larger than anything seen here times HEADROOM is stored as the largest number that fits.
"""

from importlib import resources

import torch
from torch import Tensor

from kvlib.attention.quantised import LARGEST
from kvlib.errors import BadConfig
from kvlib.models.attending import NoCache
from kvlib.models.model import Model

NUM_TOKENS = 256
# Of SmolLM2-135M's numbers on other texts, 1 in 10,000 goes beyond the largest seen here, and almost none beyond this.
# e4m3 loses nothing by it, as its steps grow with the number; each step of int8 becomes larger by as much.
HEADROOM = 1.25


class Largest(NoCache):
    """Attention that notes the size of the largest key and of the largest value, for each layer and KV head.

    sizes: a pair (keys, values) for each layer, each float32 [num_kv_heads].
    """

    def __init__(self) -> None:
        self.sizes: list[tuple[Tensor, Tensor]] = []

    def __call__(self, layer: int, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        self.sizes.append((key.abs().amax((0, 2)).float(), value.abs().amax((0, 2)).float()))
        return super().__call__(layer, query, key, value)


@torch.inference_mode()
def kv_scales(model: Model, dtype: torch.dtype) -> list[tuple[Tensor, Tensor]]:
    """The `scales` that `kvlib.attention.new_cache` takes: (key_scale, value_scale) of each layer.

    Each is float32 [num_kv_heads]: the largest number seen * HEADROOM / the largest number of `dtype`, which is
    torch.float8_e4m3fn or torch.int8. One pass over at most NUM_TOKENS tokens. Raises BadConfig for another dtype.
    """
    if dtype not in LARGEST:
        raise BadConfig(f"dtype is {dtype!r}, whose cache has no scales; give one of {', '.join(map(str, LARGEST))}")
    text = resources.files("kvlib.data").joinpath("calibration.txt").read_text(encoding="utf-8")
    decoder, largest = model.decoder, Largest()
    length = min(NUM_TOKENS, decoder.config.context_length)
    token_ids = torch.tensor(model.tokenizer.encode(text)[:length], device=decoder.device)  # [T]
    decoder.forward(token_ids, torch.arange(len(token_ids), device=decoder.device), largest)
    return [(_scales(keys, dtype), _scales(values, dtype)) for keys, values in largest.sizes]


def _scales(largest: Tensor, dtype: torch.dtype) -> Tensor:
    """From the largest number of each head, [num_kv_heads]; a head of zeros can have any scale but 0."""
    return largest.where(largest > 0, 1) * (HEADROOM / LARGEST[dtype])
