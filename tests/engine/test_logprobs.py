import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kvlib.engine import Model
from kvlib.engine.logprobs import token_logprobs

END = 2  # <|im_end|> in the tiny vocabulary of conftest.py


def logits_of(tiny: Model, seed: int = 0) -> torch.Tensor:
    return torch.randn(tiny.tokenizer.vocab_size, generator=torch.Generator().manual_seed(seed)) * 3


@given(seed=st.integers(0, 1000), chosen=st.integers(0, 262), count=st.integers(-1, 20))
@settings(max_examples=50, deadline=None)
def test_the_chosen_token_and_the_likeliest_in_order(tiny: Model, seed: int, chosen: int, count: int) -> None:
    logits = logits_of(tiny, seed)
    found = token_logprobs(logits, chosen, count, tiny.tokenizer)
    likelihood = [math.exp(logit) for logit in logits.tolist()]
    order = sorted(range(len(likelihood)), key=lambda token: -likelihood[token])
    likeliest = order if count == -1 else order[:count]
    assert next(iter(found)) == chosen
    assert [token for token in found if token in likeliest and token != chosen] == [
        token for token in likeliest if token != chosen
    ]
    assert found.keys() == {chosen, *likeliest}
    for token, entry in found.items():
        assert entry.rank == order.index(token) + 1
        assert entry.logprob == pytest.approx(math.log(likelihood[token] / sum(likelihood)), abs=1e-4)
        assert entry.decoded_token == tiny.tokenizer.decode([token], skip_special_tokens=False)


def test_none_of_the_likeliest_leaves_the_chosen_one(tiny: Model) -> None:
    logits = logits_of(tiny)
    best, worst = int(logits.argmax()), int(logits.argmin())
    assert {token: entry.rank for token, entry in token_logprobs(logits, best, 0, tiny.tokenizer).items()} == {best: 1}
    assert token_logprobs(logits, worst, 0, tiny.tokenizer)[worst].rank == len(logits)


def test_all_probabilities_add_up_to_one(tiny: Model) -> None:
    found = token_logprobs(logits_of(tiny), 5, -1, tiny.tokenizer)
    assert len(found) == tiny.tokenizer.vocab_size
    assert sum(math.exp(entry.logprob) for entry in found.values()) == pytest.approx(1)


def test_tokens_as_likely_as_the_chosen_one_rank_before_it(tiny: Model) -> None:
    logits = torch.zeros(tiny.tokenizer.vocab_size)
    logits[[4, 5, 6]] = torch.tensor([2.0, 1.0, 1.0])
    assert token_logprobs(logits, 6, 0, tiny.tokenizer)[6].rank == 3
    found = token_logprobs(logits, 6, 3, tiny.tokenizer)
    assert sorted(entry.rank for entry in found.values()) == [1, 2, 3]


def test_a_control_token_is_spelled_out_and_half_a_character_is_marked(tiny: Model) -> None:
    [half, _] = tiny.tokenizer.encode("é")
    logits = logits_of(tiny)
    assert token_logprobs(logits, END, 0, tiny.tokenizer)[END].decoded_token == "<|im_end|>"
    assert token_logprobs(logits, half, 0, tiny.tokenizer)[half].decoded_token == "�"


def test_half_precision_logits_are_taken_as_float32(tiny: Model) -> None:
    logits = logits_of(tiny).half()
    assert token_logprobs(logits, 5, 3, tiny.tokenizer) == token_logprobs(logits.float(), 5, 3, tiny.tokenizer)
