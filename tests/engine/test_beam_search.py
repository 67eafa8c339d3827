"""Beam search on the paged cache finds the beams of transformers, with their scores, however short memory is."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import LlamaForCausalLM

from kvlib.engine import LLM, BeamSearchParams, Model, NoCache, SamplingParams
from kvlib.engine.beams import BeamSearch
from kvlib.errors import BadInput, RequestTooLarge
from kvlib.events import EventLog

PROMPTS = [
    "The capital of France is",
    "Once upon a time there was a small",
    "def fibonacci(n):\n    if n",
    "A cache keeps what",
    "1, 2, 3, 4,",
]


def test_beams_and_scores_of_width_four_are_those_of_transformers(model: Model, hf_model: LlamaForCausalLM) -> None:
    llm = LLM(model, block_size=4, num_blocks=400)
    params = BeamSearchParams(beam_width=4, max_tokens=12)
    for prompt, found in zip(PROMPTS, llm.beam_search(PROMPTS, params), strict=True):
        token_ids = model.tokenizer.encode(prompt)
        theirs = hf_model.generate(
            torch.tensor([token_ids]),
            attention_mask=torch.ones(1, len(token_ids), dtype=torch.int64),
            do_sample=False,
            num_beams=4,
            num_return_sequences=4,
            max_new_tokens=12,
            eos_token_id=sorted(model.tokenizer.end_ids),
            pad_token_id=0,
            return_dict_in_generate=True,
            output_scores=True,
        )
        expected = [row[: len(ours.tokens)].tolist() for row, ours in zip(theirs.sequences, found.sequences)]
        assert [ours.tokens for ours in found.sequences] == expected
        scores = torch.tensor([ours.score for ours in found.sequences])
        torch.testing.assert_close(scores, theirs.sequences_scores, atol=2e-5, rtol=0)
    assert llm.manager.num_free_blocks == 400


@settings(max_examples=25, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 30), min_size=1, max_size=4),
    width=st.integers(1, 5),
    max_tokens=st.integers(1, 15),
    block_size=st.integers(1, 9),
    num_more_blocks=st.integers(0, 12),
    how=st.sampled_from(["recompute", "swap", "chunked", "cached"]),
)
def test_beams_are_the_same_however_memory_is_cut_shared_and_taken_away(
    tiny: Model, lengths: list[int], width: int, max_tokens: int, block_size: int, num_more_blocks: int, how: str
) -> None:
    prompts = [[5 + (3 * index + place) % 200 for place in range(length)] for index, length in enumerate(lengths)]
    params = BeamSearchParams(beam_width=width, max_tokens=max_tokens)
    plenty = LLM(tiny, block_size=16, num_blocks=400, enable_prefix_caching=False)
    expected = [plenty.beam_search(prompt, params)[0] for prompt in prompts]
    needed = width * -(-(max(lengths) + max_tokens) // block_size)
    tight = {
        "recompute": {"enable_prefix_caching": False},
        "swap": {"preemption": "swap", "num_host_blocks": 200},
        "chunked": {"enable_chunked_prefill": True, "max_num_batched_tokens": 7},
        "cached": {},
    }[how]
    llm = LLM(tiny, block_size=block_size, num_blocks=needed + num_more_blocks, **tight)
    found = llm.beam_search(prompts, params)
    assert [[each.tokens for each in one.sequences] for one in found] == [
        [each.tokens for each in one.sequences] for one in expected
    ]
    assert llm.manager.num_free_blocks == needed + num_more_blocks


@torch.inference_mode()
def searched_without_cache(model: Model, prompt: list[int], params: BeamSearchParams) -> list[list[int]]:
    """The search on a model that keeps nothing: each beam's whole text is computed again for each of its tokens."""
    search = BeamSearch(params, model.tokenizer.end_ids, params.max_tokens)
    while search.beams:
        texts = [torch.tensor(prompt + beam.token_ids) for beam in search.beams]
        hidden = [model.decoder.forward(text, torch.arange(len(text)), NoCache())[-1] for text in texts]
        search.advance(list(model.decoder.logits(torch.stack(hidden))))
    return [prompt + each.token_ids for each in search.hypotheses]


@pytest.mark.parametrize("block_size", [1, 4, 16])
@pytest.mark.parametrize("prompt", [[5], list(range(5, 25)), [100, 3, 77, 12, 250]])
def test_beams_are_those_of_a_search_that_keeps_nothing(tiny: Model, prompt: list[int], block_size: int) -> None:
    params = BeamSearchParams(beam_width=4, max_tokens=10, ignore_eos=True)
    [found] = LLM(tiny, block_size=block_size).beam_search([prompt], params)
    assert [each.tokens for each in found.sequences] == searched_without_cache(tiny, prompt, params)


def test_beams_that_fill_the_pool_end_for_length(tiny: Model) -> None:
    llm = LLM(tiny, block_size=4, num_blocks=9)  # 5 full blocks of the prompt, and one more for each of 4
    [found] = llm.beam_search([list(range(5, 27))], BeamSearchParams(beam_width=4, max_tokens=90, ignore_eos=True))
    assert [(len(each.tokens), each.finish_reason) for each in found.sequences] == [(25, "length")] * 4
    assert llm.manager.num_free_blocks == 9


def test_beams_share_their_prompt_and_what_their_ancestors_wrote(tiny: Model) -> None:
    log = EventLog()
    llm = LLM(tiny, block_size=4, num_blocks=100, log=log)
    llm.beam_search([[5] * 20], BeamSearchParams(beam_width=4, max_tokens=10, ignore_eos=True))
    kinds = [event["kind"] for event in log.events]
    assert kinds.count("share") >= 15
    assert "copy" in kinds
    assert llm.manager.num_free_blocks == 100


def test_a_search_of_width_one_is_greedy(tiny: Model) -> None:
    greedy = LLM(tiny).generate("the hell", SamplingParams(temperature=0, max_tokens=8))[0].outputs[0]
    [found] = LLM(tiny).beam_search("the hell", BeamSearchParams(beam_width=1, max_tokens=8))
    [best] = found.sequences
    assert (best.tokens[-len(greedy.token_ids) :], best.text) == (greedy.token_ids, greedy.text)


def test_a_width_above_the_vocabulary_is_refused_and_the_request_beside_it_finishes(tiny: Model) -> None:
    llm = LLM(tiny)
    llm.add_request("beside", "a", SamplingParams(temperature=0, max_tokens=4, ignore_eos=True))
    llm.step()
    with pytest.raises(BadInput, match="beam_width is 300"):
        llm.beam_search("a", BeamSearchParams(beam_width=300, max_tokens=4))
    finished = []
    while llm.has_unfinished_requests():
        finished += [output for output in llm.step() if output.finished]
    assert [len(output.outputs[0].token_ids) for output in finished] == [4]


def test_more_beams_than_may_run_or_fit_are_refused(tiny: Model) -> None:
    with pytest.raises(RequestTooLarge, match="wants 9 sequences, which run together, and max_num_seqs is 8"):
        LLM(tiny, max_num_seqs=8).beam_search("a", BeamSearchParams(beam_width=9, max_tokens=4))
    with pytest.raises(RequestTooLarge, match=r"does not fit the pool 9 times, .*: 9 times 1 tokens need 9 blocks"):
        LLM(tiny, num_blocks=8).beam_search("a", BeamSearchParams(beam_width=9, max_tokens=4))


@pytest.mark.parametrize("params", [None, SamplingParams(), {"beam_width": 4}])
def test_other_parameters_are_refused(tiny: Model, params: object) -> None:
    with pytest.raises(BadInput, match=r"params is .*; give a BeamSearchParams"):
        LLM(tiny).beam_search("a", params)  # type: ignore[arg-type]
