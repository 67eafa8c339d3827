from importlib import resources

import pytest
import torch
from torch import Tensor

from kvlib.attention import new_cache, write
from kvlib.engine import Model, NoCache
from kvlib.engine.cache_errors import Comparing, cache_errors
from kvlib.engine.calibration import HEADROOM, NUM_TOKENS, kv_scales

TEXT = torch.randint(3, 263, (60,), generator=torch.Generator().manual_seed(1)).tolist()


def test_the_errors_are_those_of_what_a_cache_gives_back(tiny: Model) -> None:
    scales = kv_scales(tiny, torch.float8_e4m3fn)
    expected = []

    class Storing(NoCache):
        def __call__(self, layer: int, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
            [cache] = new_cache(1, 4, 16, 2, 16, torch.float8_e4m3fn, scales=[scales[layer]])
            k_scale, v_scale = cache.key_scale, cache.value_scale
            write(key, value, cache.key, cache.value, torch.arange(16, 76), k_scale=k_scale, v_scale=v_scale)
            for x, stored, scale in ((key, cache.key, k_scale), (value, cache.value, v_scale)):
                error = (stored.float().flatten(0, 1)[16:76] * scale[:, None] - x).double()
                expected.append(error.pow(2).mean().sqrt() / x.double().pow(2).mean().sqrt())
                expected.append(error.abs().max() / x.abs().max())
            return super().__call__(layer, query, key, value)

    with torch.inference_mode():
        tiny.decoder.forward(torch.tensor(TEXT), torch.arange(60), Storing())
    errors = cache_errors(tiny, TEXT, dtype=torch.float8_e4m3fn, scales=scales)
    assert [number for layer in errors for number in layer] == pytest.approx([float(number) for number in expected])


def calibration_ids(model: Model) -> list[int]:
    text = resources.files("kvlib.data").joinpath("calibration.txt").read_text(encoding="utf-8")
    return model.tokenizer.encode(text)[:NUM_TOKENS]


@pytest.mark.parametrize(
    ("dtype", "largest_rms", "largest"),
    [
        (torch.float32, 0, 0),
        (torch.float16, 2**-11, 2**-11),
        (torch.float8_e4m3fn, 2**-4, 2**-4),  # half a step of three bits
        (torch.int8, 1, HEADROOM / 127 / 2),  # half a step of the largest head
    ],
)
def test_on_the_text_of_the_calibration_no_number_is_off_by_more_than_half_a_step(
    tiny: Model, dtype: torch.dtype, largest_rms: float, largest: float
) -> None:
    scales = kv_scales(tiny, dtype) if dtype.itemsize == 1 else None
    errors = cache_errors(tiny, calibration_ids(tiny), dtype=dtype, scales=scales)
    assert len(errors) == 2
    for layer in errors:
        assert max(layer.key_rms, layer.value_rms) <= largest_rms
        assert max(layer.key_max, layer.value_max) <= largest * 1.00001


def test_the_codes_of_a_scale_too_small_lose_what_lies_beyond_them(tiny: Model) -> None:
    scales = [(key / 4, value) for key, value in kv_scales(tiny, torch.int8)]
    for layer in cache_errors(tiny, calibration_ids(tiny), dtype=torch.int8, scales=scales):
        assert layer.key_max == pytest.approx(1 - HEADROOM / 4, abs=0.005)
        assert layer.value_max < 0.005


def test_the_error_of_large_numbers_in_half_precision() -> None:
    comparing = Comparing(new_cache(1, 1, 1, 2, 16, torch.int8, scales=[(10.0, 10.0)]))
    x = torch.full((300, 2, 16), 1003.0, dtype=torch.float16)  # whose norm is more than float16 holds
    comparing(0, x, x, x)
    assert comparing.errors[0] == pytest.approx([3 / 1003] * 4)
