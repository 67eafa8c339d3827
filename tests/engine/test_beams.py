import math
from collections.abc import Callable, Iterable
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from transformers import GenerationConfig, LlamaForCausalLM

from kvlib.engine.beam_params import BeamSearchParams
from kvlib.engine.beams import BeamSearch, Hypothesis
from kvlib.errors import BadInput

Rows = Callable[[list[list[int]]], list[Tensor]]


def run(search: BeamSearch, rows: Rows) -> list[Hypothesis]:
    """The search to its end; `rows` gives the logits [vocab] after each of some texts."""
    while search.beams:
        search.advance(rows([beam.token_ids for beam in search.beams]))
    return search.hypotheses


def table(seed: int, vocab_size: int) -> Rows:
    """A model of chance: other logits after each text."""

    def row(text: list[int]) -> Tensor:
        number = sum((token + 1) * (vocab_size + 1) ** place for place, token in enumerate(text))
        return torch.randn(vocab_size, generator=torch.Generator().manual_seed(seed * 100_003 + number))

    return lambda texts: [row(text) for text in texts]


def spoken(likelihoods: dict[tuple[int, ...], list[float]]) -> Rows:
    """A model that has these probabilities after these texts."""
    return lambda texts: [torch.tensor(likelihoods[tuple(text)]).log() for text in texts]


PROMPTS = [[5, 6, 7], [9] * 8, [100, 3, 77, 12, 250], [40], [1, 2, 3, 4]]
SOME_ENDS = list(range(0, 263, 12))


@pytest.mark.parametrize("early_stopping", [False, True, "never"])
@pytest.mark.parametrize("length_penalty", [-1.0, 0.0, 1.0, 2.5])
@pytest.mark.parametrize("max_tokens", [1, 12])
def test_beams_and_scores_are_those_of_transformers(
    tiny_hf: LlamaForCausalLM, early_stopping: bool | str, length_penalty: float, max_tokens: int
) -> None:
    params = BeamSearchParams(
        beam_width=4, max_tokens=max_tokens, length_penalty=length_penalty, early_stopping=early_stopping
    )
    reasons = set()
    for prompt, end_ids in product(PROMPTS, ([], [96], SOME_ENDS)):
        ours = run(BeamSearch(params, end_ids, max_tokens), lambda texts, at=prompt: logits_of(tiny_hf, at, texts))
        reasons |= {each.finish_reason for each in ours}
        theirs = generate(tiny_hf, prompt, params, end_ids)
        texts = [sequence[len(prompt) :].tolist() for sequence in theirs.sequences]
        longest = max(len(each.token_ids) for each in ours)
        filled = [each.token_ids + [min(end_ids, default=0)] * (longest - len(each.token_ids)) for each in ours]
        assert texts == filled
        scores = torch.tensor([each.score for each in ours])
        torch.testing.assert_close(scores, theirs.sequences_scores, atol=2e-5, rtol=1e-5)
    assert reasons == {"stop", "length"}


@torch.inference_mode()
def logits_of(model: LlamaForCausalLM, prompt: list[int], texts: list[list[int]]) -> list[Tensor]:
    return list(model(torch.tensor([prompt + text for text in texts])).logits[:, -1])


@torch.inference_mode()
def generate(model: LlamaForCausalLM, prompt: list[int], params: BeamSearchParams, end_ids: Iterable[int]) -> object:
    config = GenerationConfig(
        num_beams=params.beam_width,
        num_return_sequences=params.beam_width,
        max_new_tokens=params.max_tokens,
        length_penalty=params.length_penalty,
        early_stopping=params.early_stopping,
        eos_token_id=list(end_ids) or None,
        pad_token_id=min(end_ids, default=0),
        do_sample=False,
        output_scores=True,
        return_dict_in_generate=True,
    )
    return model.generate(torch.tensor([prompt]), generation_config=config)


END, A, B = 0, 1, 2
LATE = {  # the likeliest answer ends at once; a long one is better per token
    (): [0.5, 0.4, 0.1],
    (A,): [0.05, 0.9, 0.05],
    (A, A): [0.05, 0.9, 0.05],
}
GROWING = {  # two answers have ended after two steps; a third, of three tokens, is better than both
    (): [0.3, 0.6, 0.1],
    (A,): [0.2, 0.7, 0.1],
    (B,): [0.1, 0.2, 0.7],
    (A, A): [0.84, 0.08, 0.08],
    (B, B): [0.5, 0.3, 0.2],
}


@pytest.mark.parametrize(("early_stopping", "expected"), [(False, [END]), (True, [END]), ("never", [A, A, A])])
def test_never_goes_on_while_a_longer_answer_may_be_better(early_stopping: bool | str, expected: list[int]) -> None:
    params = BeamSearchParams(beam_width=1, max_tokens=3, early_stopping=early_stopping)
    [best] = run(BeamSearch(params, [END], 3), spoken(LATE))
    assert best.token_ids == expected


@pytest.mark.parametrize("length_penalty", [0.0, -1.0])
def test_never_stops_where_length_brings_no_better_score(length_penalty: float) -> None:
    params = BeamSearchParams(beam_width=1, max_tokens=3, early_stopping="never", length_penalty=length_penalty)
    search = BeamSearch(params, [END], 3)
    assert search.advance(spoken(LATE)([[]])) == []


@pytest.mark.parametrize(
    ("early_stopping", "expected"),
    [(True, [[A, END], [END]]), (False, [[A, A, END], [A, END]])],
)
def test_early_stopping_ends_with_the_first_answers_there_are(early_stopping: bool, expected: list[list[int]]) -> None:
    params = BeamSearchParams(beam_width=2, max_tokens=4, early_stopping=early_stopping)
    assert [each.token_ids for each in run(BeamSearch(params, [END], 4), spoken(GROWING))] == expected


def test_never_judges_by_the_length_now_where_a_longer_answer_scores_worse() -> None:
    params = BeamSearchParams(beam_width=2, max_tokens=6, early_stopping="never", length_penalty=-1.0)
    found = run(BeamSearch(params, [END], 6), spoken(GROWING))
    assert [each.token_ids for each in found] == [[END], [A, A, END]]


def test_all_beams_go_on_even_where_each_meets_every_end_token_first() -> None:
    row = torch.tensor([0.3, 0.3, 0.3, 0.04, 0.03, 0.03]).log()
    search = BeamSearch(BeamSearchParams(beam_width=2, max_tokens=50, early_stopping="never"), [0, 1, 2], 50)
    assert search.advance([row]) == [(0, 3), (0, 4)]
    assert search.advance([row, row]) == [(0, 3), (0, 4)]


def test_an_end_token_behind_the_first_candidates_ends_nothing() -> None:
    params = BeamSearchParams(beam_width=1, max_tokens=2)
    search = BeamSearch(params, [END], 2)
    assert search.advance([torch.tensor([0.4, 0.6]).log()]) == [(0, 1)]
    assert search.hypotheses == []


def test_a_score_is_the_log_probability_over_the_length_with_its_end_token() -> None:
    params = BeamSearchParams(beam_width=1, max_tokens=5, length_penalty=2.0)
    answer = {(): [0.25, 0.75], (1,): [0.5, 0.5]}
    [best] = run(BeamSearch(params, [0], 5), spoken(answer | {(1, 1): [0.9, 0.1]}))
    assert best.token_ids in ([1, 0], [1, 1, 0])
    assert best.score == pytest.approx(best.cum_logprob / len(best.token_ids) ** 2)


def test_one_parent_may_have_all_the_children_and_another_none() -> None:
    search = BeamSearch(BeamSearchParams(beam_width=2, max_tokens=5), [], 5)
    assert search.advance([torch.tensor([0.6, 0.3, 0.1]).log()]) == [(0, 0), (0, 1)]
    flat, sharp = torch.tensor([0.34, 0.33, 0.33]).log(), torch.tensor([0.48, 0.47, 0.05]).log()
    assert search.advance([sharp, flat]) == [(0, 0), (0, 1)]
    assert [beam.token_ids for beam in search.beams] == [[0, 0], [0, 1]]


def test_ignore_eos_goes_on_after_end_tokens() -> None:
    params = BeamSearchParams(beam_width=2, max_tokens=4, ignore_eos=True)
    assert run(BeamSearch(params, [0, 1], 4), table(3, 6)) == run(BeamSearch(params, [], 4), table(3, 6))


def test_the_temperature_divides_the_logits() -> None:
    warm = BeamSearchParams(beam_width=3, max_tokens=4, temperature=0.5)
    plain = BeamSearchParams(beam_width=3, max_tokens=4)
    rows = table(5, 8)
    doubled = run(BeamSearch(plain, [0], 4), lambda texts: [row * 2 for row in rows(texts)])
    assert run(BeamSearch(warm, [0], 4), rows) == doubled != run(BeamSearch(plain, [0], 4), rows)


def test_a_wrong_number_of_rows_is_refused_and_changes_nothing() -> None:
    search = BeamSearch(BeamSearchParams(beam_width=2, max_tokens=2), [], 2)
    row = torch.zeros(4)
    with pytest.raises(BadInput, match="2 rows of logits for 1 running beams; give one for each"):
        search.advance([row, row])
    assert len(search.advance([row])) == 2
    assert search.advance([row, row]) == []
    with pytest.raises(BadInput, match="0 rows of logits for 0 running beams"):
        search.advance([])


sizes = {
    "seed": st.integers(0, 10_000),
    "vocab_size": st.integers(2, 5),
    "max_tokens": st.integers(1, 4),
    "num_ends": st.integers(0, 2),
    "length_penalty": st.sampled_from([-1.0, 0.0, 0.7, 1.0, 2.0]),
}


@given(**sizes)
@settings(max_examples=60, deadline=None)
def test_a_search_wide_enough_finds_every_answer_in_order(
    seed: int, vocab_size: int, max_tokens: int, num_ends: int, length_penalty: float
) -> None:
    rows, end_ids = table(seed, vocab_size), set(range(num_ends))
    width = vocab_size**max_tokens
    params = BeamSearchParams(beam_width=width, max_tokens=max_tokens, length_penalty=length_penalty)
    found = run(BeamSearch(params, end_ids, max_tokens), rows)
    expected = {text: score(rows, text, length_penalty) for text in answers(vocab_size, max_tokens, end_ids)}
    assert {tuple(each.token_ids) for each in found} == expected.keys()
    assert [each.score for each in found] == pytest.approx(sorted(expected.values(), reverse=True), abs=1e-5)


def answers(vocab_size: int, max_tokens: int, end_ids: set[int]) -> Iterable[tuple[int, ...]]:
    for length in range(1, max_tokens + 1):
        for text in product(range(vocab_size), repeat=length):
            ends = text[-1] in end_ids or length == max_tokens
            if ends and not end_ids.intersection(text[:-1]):
                yield text


def score(rows: Rows, text: tuple[int, ...], length_penalty: float) -> float:
    steps = [rows([list(text[:length])])[0].log_softmax(-1)[token] for length, token in enumerate(text)]
    return float(sum(steps)) / len(text) ** length_penalty


@given(width=st.integers(1, 5), early_stopping=st.sampled_from([False, True, "never"]), **sizes)
@settings(max_examples=100, deadline=None)
def test_what_holds_at_every_step_of_a_search(
    width: int,
    early_stopping: bool | str,
    seed: int,
    vocab_size: int,
    max_tokens: int,
    num_ends: int,
    length_penalty: float,
) -> None:
    width = min(width, vocab_size)
    end_ids = set(range(num_ends))
    params = BeamSearchParams(
        beam_width=width, max_tokens=max_tokens, length_penalty=length_penalty, early_stopping=early_stopping
    )
    search, rows = BeamSearch(params, end_ids, max_tokens), table(seed, vocab_size)
    while search.beams:
        before, ended = search.beams, search.hypotheses
        pairs = search.advance(rows([beam.token_ids for beam in before]))
        assert len(pairs) == len(search.beams) <= width
        for (parent, token), beam in zip(pairs, search.beams):
            assert beam.token_ids == [*before[parent].token_ids, token]
            assert beam.cum_logprob <= before[parent].cum_logprob
            assert token not in end_ids
        likelihoods = [beam.cum_logprob for beam in search.beams]
        assert likelihoods == sorted(likelihoods, reverse=True)
        assert len(search.hypotheses) >= len(ended)
    found = search.hypotheses
    assert len(found) == width == len({tuple(each.token_ids) for each in found})
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    for each in found:
        length = len(each.token_ids)
        assert length <= max_tokens
        assert not end_ids.intersection(each.token_ids[:-1])
        assert each.finish_reason == ("stop" if each.token_ids[-1] in end_ids else "length")
        assert each.finish_reason == "stop" or length == max_tokens
        assert math.isclose(each.score, score(rows, tuple(each.token_ids), length_penalty), rel_tol=1e-4)


@given(seed=st.integers(0, 10_000), early_stopping=st.booleans(), num_ends=st.integers(0, 2))
@settings(max_examples=50, deadline=None)
def test_a_search_of_width_one_is_greedy(seed: int, early_stopping: bool, num_ends: int) -> None:
    rows, text = table(seed, 5), []
    while len(text) < 6 and (not text or text[-1] >= num_ends):
        text.append(int(rows([text])[0].argmax()))
    params = BeamSearchParams(beam_width=1, max_tokens=6, early_stopping=early_stopping)
    [found] = run(BeamSearch(params, range(num_ends), 6), rows)
    assert found.token_ids == text
