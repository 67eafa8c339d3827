import math
from dataclasses import replace
from importlib import resources

import pytest
import torch
from torch import Tensor

from kvlib.attention import new_cache
from kvlib.attention.quantised import LARGEST
from kvlib.engine import Llama, Model, NoCache
from kvlib.engine.calibration import HEADROOM, NUM_TOKENS, kv_scales
from kvlib.engine.perplexity import sample_text
from kvlib.errors import BadConfig
from kvlib.models.attending import Attention

CALIBRATION = resources.files("kvlib.data").joinpath("calibration.txt").read_text(encoding="utf-8")
CHAT = "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n"


class Keeping(NoCache):
    """Keeps the keys and values of every layer."""

    def __init__(self) -> None:
        self.layers: list[tuple[Tensor, Tensor]] = []

    def __call__(self, layer: int, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        self.layers.append((key, value))
        return super().__call__(layer, query, key, value)


def keys_and_values(model: Model, text: str, num_tokens: int = NUM_TOKENS) -> list[tuple[Tensor, Tensor]]:
    token_ids = torch.tensor(model.tokenizer.encode(text)[:num_tokens])
    keeping = Keeping()
    with torch.inference_mode():
        model.decoder.forward(token_ids, torch.arange(len(token_ids)), keeping)
    return keeping.layers


@pytest.mark.parametrize("dtype", LARGEST)
def test_a_scale_is_the_largest_number_of_its_layer_and_head_times_the_headroom_over_that_of_the_dtype(
    tiny: Model, dtype: torch.dtype
) -> None:
    scales = kv_scales(tiny, dtype)
    for pair, both in zip(scales, keys_and_values(tiny, CALIBRATION), strict=True):
        for scale, numbers in zip(pair, both, strict=True):
            assert (scale.dtype, list(scale.shape)) == (torch.float32, [2])
            for head in range(2):
                largest = max(abs(number) for number in numbers[:, head].flatten().tolist())
                assert float(scale[head]) * LARGEST[dtype] == pytest.approx(largest * HEADROOM, rel=1e-6)


def test_a_model_of_a_short_context_is_shown_no_more_tokens_than_it_holds(tiny: Model) -> None:
    short = Llama(replace(tiny.decoder.config, context_length=8), tiny.decoder.weights)
    scales = kv_scales(tiny._replace(decoder=short), torch.int8)
    for (k_scale, _), (key, _) in zip(scales, keys_and_values(tiny, CALIBRATION, 8), strict=True):
        torch.testing.assert_close(k_scale, key.abs().amax((0, 2)) * HEADROOM / 127)


def test_a_head_that_is_0_throughout_has_a_scale_that_a_cache_takes(tiny: Model) -> None:
    class Silent(Llama):
        def forward(self, token_ids: Tensor, positions: Tensor, attention: Attention) -> Tensor:
            value = torch.ones(len(token_ids), 2, 16)
            value[:, 1] = 0
            return attention(0, value, value, value)

    silent = tiny._replace(decoder=Silent(tiny.decoder.config, tiny.decoder.weights))
    [layer] = new_cache(1, 1, 1, 2, 16, torch.int8, scales=kv_scales(silent, torch.int8))
    assert layer.value_scale.tolist() == pytest.approx([HEADROOM / 127] * 2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, "int8", None])
def test_a_dtype_without_scales_is_refused(tiny: Model, dtype: object) -> None:
    with pytest.raises(
        BadConfig, match=f"dtype is {dtype!r}, whose cache has no scales; give one of torch.float8_e4m3fn"
    ):
        kv_scales(tiny, dtype)


@pytest.mark.parametrize("text", [sample_text(), CHAT], ids=["an essay", "a chat"])
def test_of_other_texts_at_most_1_number_in_10_000_goes_beyond_the_scales(model: Model, text: str) -> None:
    beyond = total = 0
    for pair, both in zip(kv_scales(model, torch.int8), keys_and_values(model, text), strict=True):
        for scale, numbers in zip(pair, both, strict=True):
            beyond += int((numbers.abs() > 127 * scale[:, None]).sum())
            total += math.prod(numbers.shape)
    assert beyond <= total / 10_000
