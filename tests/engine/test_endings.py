"""When an answer ends, and what its text is then; the model writes what the test scripts."""

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvlib.engine import LLM, CompletionOutput, Model, SamplingParams
from kvlib.events import EventLog

PROMPT = [5]
LLMOf = Callable[..., LLM]


def answer(llm: LLM, **params: object) -> CompletionOutput:
    return llm.generate(PROMPT, SamplingParams(temperature=0, **{"max_tokens": 100} | params))[0].outputs[0]


def streamed(llm: LLM, **params: object) -> list[str]:
    params = SamplingParams(temperature=0, **{"max_tokens": 100} | params)
    return [output.outputs[0].text for output in llm.stream(PROMPT, params)]


def test_the_models_end_token_ends_it_and_has_no_text(scripted: LLMOf) -> None:
    ended = answer(scripted("abc"))
    assert (ended.text, ended.finish_reason, ended.stop_reason) == ("abc", "stop", None)
    assert len(ended.token_ids) == 4


def test_ignore_eos_goes_on_to_max_tokens(scripted: LLMOf) -> None:
    ended = answer(scripted("abc"), ignore_eos=True, max_tokens=9)
    assert (ended.text, ended.finish_reason, len(ended.token_ids)) == ("abc", "length", 9)


def test_max_tokens_ends_it_for_length(scripted: LLMOf) -> None:
    ended = answer(scripted("abcdef"), max_tokens=3)
    assert (ended.text, ended.finish_reason) == ("abc", "length")


def test_an_end_token_in_the_last_place_counts_as_a_stop(scripted: LLMOf) -> None:
    assert answer(scripted("abc"), max_tokens=4).finish_reason == "stop"


def test_a_stop_token_ends_it_and_its_text_is_left_out(scripted: LLMOf, tiny: Model) -> None:
    [dot] = tiny.tokenizer.encode(".")
    ended = answer(scripted("ab.cd"), stop_token_ids=[dot])
    assert (ended.text, ended.finish_reason, ended.stop_reason) == ("ab", "stop", dot)
    assert ended.token_ids[-1] == dot


def test_the_models_own_end_token_is_no_stop_reason_even_if_named(scripted: LLMOf, tiny: Model) -> None:
    ended = answer(scripted("abc"), stop_token_ids=list(tiny.tokenizer.end_ids))
    assert (ended.finish_reason, ended.stop_reason) == ("stop", None)


def test_an_end_token_named_as_a_stop_token_ends_it_despite_ignore_eos(scripted: LLMOf, tiny: Model) -> None:
    ended = answer(scripted("abc"), stop_token_ids=list(tiny.tokenizer.end_ids), ignore_eos=True)
    assert (ended.finish_reason, ended.stop_reason) == ("stop", ended.token_ids[-1])


def test_the_text_is_cut_before_a_stop_text_spread_over_tokens(scripted: LLMOf) -> None:
    ended = answer(scripted("one two three"), stop=["wo t"])
    assert (ended.text, ended.finish_reason, ended.stop_reason) == ("one t", "stop", "wo t")


def test_the_first_of_several_stop_texts_in_the_answer_wins(scripted: LLMOf) -> None:
    assert answer(scripted("abcdef"), stop=["ef", "cd", "zz"]).stop_reason == "cd"


def test_a_stop_text_that_only_begins_is_written_out(scripted: LLMOf) -> None:
    assert answer(scripted("one two"), stop=["two three"]).text == "one two"


@settings(deadline=None, max_examples=60)
@given(text=st.text("ab", min_size=1, max_size=12), stop=st.lists(st.text("ab", min_size=1, max_size=4), max_size=3))
def test_the_stop_text_completed_first_cuts_and_no_streamed_text_is_taken_back(
    scripted: LLMOf, text: str, stop: list[str]
) -> None:
    ends = [end for end in range(1, len(text) + 1) if text[:end].endswith(tuple(stop))]
    expected = text
    if ends:
        written = text[: ends[0]]
        expected = min((written.removesuffix(each) for each in stop), key=len)
    texts = streamed(scripted(text), stop=stop)
    assert texts[-1] == expected
    assert all(later.startswith(earlier) for earlier, later in pairwise(texts))


@pytest.mark.parametrize("text", ["Say 🙂 now", "漢字かな交じり文", "é𝄞ñ"])
def test_streamed_pieces_join_to_the_text_and_hold_whole_characters(scripted: LLMOf, text: str) -> None:
    texts = streamed(scripted(text))
    assert texts[-1] == text
    assert all(text.startswith(piece) for piece in texts)
    assert len(texts) == len(text.encode()) + 1  # one update a token: every byte, and the end token


def test_an_answer_cut_inside_a_character_ends_with_a_replacement_character(scripted: LLMOf) -> None:
    assert answer(scripted("a🙂"), max_tokens=3).text == "a\ufffd"


def test_an_answer_that_fills_the_pool_ends_for_length(scripted: LLMOf) -> None:
    """Twelve slots hold the prompt and eleven tokens of answer; a twelfth is written and needs no slot."""
    llm = scripted("x" * 50, block_size=4, num_blocks=3)
    ended = answer(llm, max_tokens=None)
    assert (len(ended.token_ids), ended.finish_reason) == (12, "length")
    assert llm.manager.num_free_blocks == 3


def test_an_answer_that_fills_the_context_ends_for_length(scripted: LLMOf) -> None:
    ended = answer(scripted("x" * 600), max_tokens=10_000)
    assert (len(ended.token_ids), ended.finish_reason) == (511, "length")  # of 512, one is the prompt's


@pytest.mark.parametrize(("kept", "text"), [(False, "one "), (True, "one two")])
def test_the_stop_text_is_kept_where_that_was_asked_for(scripted: LLMOf, kept: bool, text: str) -> None:
    ended = answer(scripted("one two three"), stop=["two"], include_stop_str_in_output=kept)
    assert (ended.text, ended.finish_reason, ended.stop_reason) == (text, "stop", "two")


def test_a_stop_text_completed_by_the_last_token_counts_as_a_stop(scripted: LLMOf) -> None:
    ended = answer(scripted("abcdef"), stop=["cd"], max_tokens=4)
    assert (ended.text, ended.finish_reason, ended.stop_reason) == ("ab", "stop", "cd")


@pytest.mark.parametrize(
    ("min_tokens", "text"),
    [(0, "ab"), (2, "ab"), (3, "ab"), (4, "abcdef"), (5, "abcdef"), (7, "abcdef"), (8, "abcdefcdgh")],
)
def test_a_stop_text_ends_an_answer_only_with_a_token_after_min_tokens(
    scripted: LLMOf, min_tokens: int, text: str
) -> None:
    ended = answer(scripted("abcdefcdgh"), stop=["cd"], min_tokens=min_tokens)
    assert ended.text == text


def test_an_answer_aborted_inside_a_character_ends_with_a_replacement_character(scripted: LLMOf) -> None:
    llm = scripted("a🙂")
    stream = llm.stream(PROMPT, SamplingParams(temperature=0, max_tokens=9))
    outputs = [next(stream) for _ in range(3)]
    llm.abort_request(outputs[0].request_id)
    outputs += stream
    assert [output.outputs[0].text for output in outputs] == ["a", "a", "a", "a\ufffd"]
    assert outputs[-1].outputs[0].finish_reason == "abort"


@pytest.mark.parametrize(("ending", "reason"), [(0, "length"), (1, "stop")])
def test_of_answers_that_end_in_one_step_the_last_gives_the_reason_in_the_log(
    tiny: Model, ending: int, reason: str
) -> None:
    params = {"n": 2, "seed": 1, "max_tokens": 3, "ignore_eos": True}
    [free] = LLM(tiny).generate(PROMPT, SamplingParams(**params))
    log = EventLog()
    stop = free.outputs[ending].token_ids[-1]
    [output] = LLM(tiny, log=log).generate(PROMPT, SamplingParams(**params, stop_token_ids=[stop]))
    assert [len(each.token_ids) for each in output.outputs] == [3, 3]
    assert output.outputs[ending].finish_reason == "stop"
    assert output.outputs[1 - ending].finish_reason == "length"
    assert [event["reason"] for event in log.events if event["kind"] == "finish"] == [reason]
