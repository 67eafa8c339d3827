import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import RepetitionPenaltyLogitsProcessor

from kvlib.engine.params import SamplingParams
from kvlib.engine.penalties import Penalties

VOCAB = 50
tokens = st.lists(st.integers(0, VOCAB - 1), max_size=12)
penalties = st.fixed_dictionaries(
    {},
    optional={
        "presence_penalty": st.floats(-2, 2),
        "frequency_penalty": st.floats(-2, 2),
        "repetition_penalty": st.floats(0.1, 10),
    },
)


def penalised(logits: torch.Tensor, params: SamplingParams, prompt: list[int], answer: list[int]) -> torch.Tensor:
    kept = Penalties(params, prompt, len(logits))
    for token in answer:
        kept.add(token)
    return kept.apply(logits)


def logits_of(seed: int) -> torch.Tensor:
    return torch.randn(VOCAB, generator=torch.Generator().manual_seed(seed)) * 4


@pytest.mark.parametrize("factor", [0.5, 1.0, 1.3, 5.0])
def test_the_repetition_penalty_is_that_of_transformers(factor: float) -> None:
    logits, prompt, answer = logits_of(0), [3, 9, 9, 30], [7, 3, 41, 41]
    theirs = RepetitionPenaltyLogitsProcessor(factor)(torch.tensor([prompt + answer]), logits[None].clone())[0]
    assert torch.equal(penalised(logits, SamplingParams(repetition_penalty=factor), prompt, answer), theirs)


@given(st.integers(0, 1000), penalties, tokens, tokens)
def test_each_token_pays_what_the_rules_say(seed: int, values: dict, prompt: list[int], answer: list[int]) -> None:
    logits, params = logits_of(seed), SamplingParams(**values)
    expected = []
    for token, logit in enumerate(logits.tolist()):
        if token in prompt or token in answer:
            logit = logit / params.repetition_penalty if logit > 0 else logit * params.repetition_penalty
        logit -= params.frequency_penalty * answer.count(token)
        logit -= params.presence_penalty * (token in answer)
        expected.append(logit)
    torch.testing.assert_close(penalised(logits, params, prompt, answer), torch.tensor(expected))


@given(penalties, tokens, tokens)
def test_the_models_own_logits_stay_as_they_are(values: dict, prompt: list[int], answer: list[int]) -> None:
    logits = logits_of(1)
    penalised(logits, SamplingParams(**values), prompt, answer)
    assert torch.equal(logits, logits_of(1))


@given(penalties)
def test_a_token_never_said_pays_nothing(values: dict) -> None:
    assert torch.equal(penalised(logits_of(2), SamplingParams(**values), [], []), logits_of(2))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, False),
        ({"presence_penalty": -0.1}, True),
        ({"frequency_penalty": 0.1}, True),
        ({"repetition_penalty": 0.9}, True),
    ],
)
def test_a_request_is_penalised_where_one_of_the_penalties_is_not_nought(values: dict, expected: bool) -> None:
    assert SamplingParams(**values).penalised is expected
