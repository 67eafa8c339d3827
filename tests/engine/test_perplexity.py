import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from kvlib.engine import Llama, Model, NoCache
from kvlib.engine.calibration import kv_scales
from kvlib.engine.perplexity import CHUNK, perplexity, sample_text
from kvlib.errors import BadConfig, BadInput

QUANTISED = [torch.float8_e4m3fn, torch.int8]
TEXT = torch.randint(3, 263, (CHUNK + 44,), generator=torch.Generator().manual_seed(1)).tolist()  # two chunks


class Certain(Llama):
    """Gives the token that follows `text`'s own the logit `height`, and all others 0."""

    def __init__(self, llama: Llama, text: list[int], height: float) -> None:
        super().__init__(llama.config, llama.weights)
        self.following = torch.tensor([*text[1:], 0])
        self.height = height

    def forward(self, token_ids: Tensor, positions: Tensor, attention: object) -> Tensor:
        return positions

    def logits(self, hidden: Tensor) -> Tensor:
        return F.one_hot(self.following[hidden], self.config.vocab_size).float() * self.height


@pytest.mark.parametrize("backend", ["dense", "gather", "paged"])
@pytest.mark.parametrize("block_size", [1, 16, 400])
def test_through_a_float32_cache_it_is_that_of_the_model_without_a_cache(
    tiny: Model, backend: str, block_size: int
) -> None:
    ids = torch.tensor(TEXT)
    with torch.inference_mode():
        logits = tiny.decoder.logits(tiny.decoder.forward(ids, torch.arange(len(ids)), NoCache()))
    log_likelihood = logits.double().log_softmax(-1)[torch.arange(len(ids) - 1), ids[1:]]
    found = perplexity(tiny, TEXT, attention_backend=backend, block_size=block_size)
    assert found == pytest.approx(math.exp(-log_likelihood.mean()), rel=1e-5)


@pytest.mark.parametrize("length", [2, CHUNK, CHUNK + 1, CHUNK + 2, len(TEXT)])
def test_where_all_tokens_are_equally_likely_it_is_their_number_and_where_one_is_certain_it_is_1(
    tiny: Model, length: int
) -> None:
    text = TEXT[:length]
    undecided, certain = (tiny._replace(decoder=Certain(tiny.decoder, text, height)) for height in (0.0, 100.0))
    assert perplexity(undecided, text) == pytest.approx(tiny.decoder.config.vocab_size, rel=1e-5)
    assert perplexity(certain, text) == pytest.approx(1, rel=1e-5)


def test_a_text_and_its_token_ids_are_the_same(tiny: Model) -> None:
    text = "the block table of the hello"
    assert perplexity(tiny, text) == perplexity(tiny, tiny.tokenizer.encode(text))


@pytest.fixture(scope="module")
def beginning(model: Model) -> list[int]:
    return model.tokenizer.encode(sample_text())[:CHUNK]


@pytest.fixture(scope="module")
def as_it_is(model: Model, beginning: list[int]) -> float:
    """The perplexity of the sample text's beginning through a float32 cache."""
    return perplexity(model, beginning)


@pytest.mark.parametrize("dtype", QUANTISED)
def test_with_calibrated_scales_a_byte_a_number_costs_less_than_3_percent(
    model: Model, beginning: list[int], as_it_is: float, dtype: torch.dtype
) -> None:
    found = perplexity(model, beginning, dtype=dtype, scales=kv_scales(model, dtype))
    assert found == pytest.approx(as_it_is, rel=0.03)
    assert found != pytest.approx(as_it_is, rel=1e-6)


def test_with_int8_and_scales_of_1_the_model_foretells_far_worse(
    model: Model, beginning: list[int], as_it_is: float
) -> None:
    ones = [(1.0, 1.0)] * model.decoder.config.num_layers
    assert perplexity(model, beginning, dtype=torch.int8, scales=ones) > 2 * as_it_is


def test_with_keys_and_values_scaled_by_each_others_scales_the_model_foretells_worse(
    model: Model, beginning: list[int], as_it_is: float
) -> None:
    swapped = [(value, key) for key, value in kv_scales(model, torch.int8)]
    assert perplexity(model, beginning, dtype=torch.int8, scales=swapped) > 1.15 * as_it_is


def test_a_text_of_one_token_or_none_is_refused(tiny: Model) -> None:
    with pytest.raises(BadInput, match="the text is one token, with none before it"):
        perplexity(tiny, [5])
    with pytest.raises(BadInput, match="the text is empty"):
        perplexity(tiny, "")


@pytest.mark.parametrize("block_size", [0, 1.5, True])
def test_a_block_size_that_is_no_whole_number_is_refused(tiny: Model, block_size: object) -> None:
    with pytest.raises(BadConfig, match="block_size is"):
        perplexity(tiny, TEXT, block_size=block_size)


def test_a_quantised_cache_without_scales_is_refused(tiny: Model) -> None:
    with pytest.raises(BadConfig, match=r"key_scale is missing for a cache of torch.int8"):
        perplexity(tiny, TEXT, dtype=torch.int8)


def test_the_sample_text_is_prose_that_the_vocabulary_spells_in_full(model: Model) -> None:
    text = sample_text()
    assert 1200 <= len(text.split()) <= 1500
    assert model.tokenizer.decode(model.tokenizer.encode(text)) == text
