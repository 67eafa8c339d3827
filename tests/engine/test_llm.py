"""Requests in and out: order, forms of a prompt, refusals that change nothing, and memory that always comes back."""

import re
import sys
from collections.abc import Callable, Iterator

import pytest

from kvlib.engine import LLM, Model, RequestOutput, SamplingParams, generate_without_cache, stream_without_cache
from kvlib.errors import BadEvents, BadInput, RequestTooLarge, UnknownSequence
from kvlib.events import EventLog

SHORT = SamplingParams(temperature=0, max_tokens=4, ignore_eos=True)
LONG = SamplingParams(temperature=0, max_tokens=40, ignore_eos=True)


@pytest.fixture
def llm(tiny: Model) -> Iterator[LLM]:
    """A small pool which every test must leave as it found it."""
    llm = LLM(tiny, block_size=4, num_blocks=40)
    yield llm
    assert llm.manager.num_free_blocks == 40
    assert not llm.scheduler.has_unfinished()
    assert not llm.has_unfinished_requests()
    assert not llm._loop._prefixes._of


def token_ids(output: RequestOutput) -> list[int]:
    return output.outputs[0].token_ids


def test_outputs_come_in_the_order_of_the_prompts(llm: LLM) -> None:
    prompts = ["a longer text that comes first", "b", "cc"]
    params = [LONG, SHORT, SHORT]
    outputs = llm.generate(prompts, params)
    assert [output.prompt for output in outputs] == prompts
    assert [len(token_ids(output)) for output in outputs] == [40, 4, 4]
    assert all(output.finished for output in outputs)


def test_every_form_of_a_prompt_writes_the_same(llm: LLM) -> None:
    text = "the hell"
    ids = llm.tokenizer.encode(text)
    forms = [
        text,
        ids,
        tuple(ids),
        [text],
        [ids],
        {"prompt": text},
        {"prompt_token_ids": ids},
        [{"prompt_token_ids": ids}],
    ]
    answers = [llm.generate(form, SHORT) for form in forms]
    assert {tuple(token_ids(output)) for [output] in answers} == {tuple(token_ids(answers[0][0]))}
    assert [output.prompt for [output] in answers] == [text, None, None, text, None, text, None, None]


@pytest.mark.parametrize("make_call", ["generate", "stream", "add_request", "without_cache"])
@pytest.mark.parametrize(
    ("prompt", "error", "message"),
    [
        ("", BadInput, "is empty; give at least one token"),
        ({"prompt_token_ids": []}, BadInput, "is empty; give at least one token"),
        ([5, 263], BadInput, "has the token id 263; the vocabulary's ids run from 0 to 262"),
        ([5, -1], BadInput, "has the token id -1; the vocabulary's ids run from 0 to 262"),
        ([5, 1.5], BadInput, "has the token id 1.5; give whole numbers"),
        ([True, 5], BadInput, "has the token id True; give whole numbers"),
        ([5, 10**5000], BadInput, "has the token id one int too long to write out"),
        ({}, BadInput, "is {}; give a text, a list of token ids"),
        ({"prompt": 3}, BadInput, "is {'prompt': 3}; give a text, a list of token ids"),
        ({"prompt": "a", "prompt_token_ids": "b"}, BadInput, "give a text, a list of token ids"),
        ({"prompt": "a", "prompt_token_ids": []}, BadInput, "is empty; give at least one token"),
        ({"text": "a"}, BadInput, "has the unknown keys 'text'; the known ones are prompt, prompt_token_ids"),
        ({"prompt": "a", 3: 4}, BadInput, "has the unknown keys 3; the known ones are prompt, prompt_token_ids"),
        ("\ud800", BadInput, ": text is '\\ud800'; give a string of whole Unicode characters"),
        (3, BadInput, "is 3; give a text, a list of token ids"),
        (
            [5] * 512,
            RequestTooLarge,
            "has 512 tokens; the model's context holds 512, prompt and answer together: shorten it to at most 511",
        ),
        ([5] * 900, RequestTooLarge, "has 900 tokens; the model's context holds 512"),
    ],
)
def test_a_bad_prompt_is_refused_before_anything_is_queued(
    llm: LLM, tiny: Model, make_call: str, prompt: object, error: type[Exception], message: str
) -> None:
    call = {
        "generate": lambda: llm.generate([[5, 6], prompt], SHORT),
        "stream": lambda: llm.stream([[5, 6], prompt], SHORT),
        "add_request": lambda: llm.add_request("mine", prompt, SHORT),
        "without_cache": lambda: stream_without_cache(tiny, prompt, SHORT),
    }[make_call]
    with pytest.raises(error, match=re.escape(message)):
        call()


def test_a_bad_prompt_is_named_by_its_place(llm: LLM) -> None:
    with pytest.raises(BadInput, match="prompt 2 of 3 is empty"):
        llm.generate(["a", "b", ""], SHORT)


@pytest.mark.parametrize("prompts", [None, 3, iter(["a"])])
def test_what_is_no_prompt_is_refused(llm: LLM, prompts: object) -> None:
    with pytest.raises(BadInput, match=r"the prompt is .*; give a text, a list of token ids"):
        llm.generate(prompts, SHORT)


def test_an_empty_list_is_an_empty_prompt(llm: LLM) -> None:
    with pytest.raises(BadInput, match="the prompt is empty"):
        llm.generate([], SHORT)


def test_a_prompt_larger_than_the_pool_is_refused_with_the_blocks_it_needs(llm: LLM) -> None:
    with pytest.raises(
        RequestTooLarge, match=r"^prompt 1 of 2 is too long.*: 161 tokens need 41 blocks of 4, the pool has 40"
    ):
        llm.generate([[5, 6], [5] * 161], SHORT)


def test_token_ids_count_where_a_text_is_given_beside_them(llm: LLM) -> None:
    [output] = llm.generate({"prompt": "kept", "prompt_token_ids": [5, 6]}, SHORT)
    assert (output.prompt, output.prompt_token_ids) == ("kept", [5, 6])
    assert output.outputs == llm.generate([5, 6], SHORT)[0].outputs


def test_a_text_that_the_vocabulary_cannot_spell_is_not_called_empty(model: Model) -> None:
    with pytest.raises(BadInput, match=r"the prompt is '\\x04', of which the vocabulary can spell nothing"):
        LLM(model, num_blocks=4).generate("\x04")


def test_a_prompt_that_fills_the_pool_still_gets_one_token(llm: LLM) -> None:
    [output] = llm.generate([[5] * 160], SHORT)
    assert (len(token_ids(output)), output.outputs[0].finish_reason) == (1, "length")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ([SHORT], "1 sampling_params for 2 prompts"),
        ([SHORT, None], "give a SamplingParams, or a list with one for each prompt"),
        ({"temperature": 0}, "give a SamplingParams, or a list with one for each prompt"),
    ],
)
def test_params_that_do_not_match_the_prompts_are_refused(llm: LLM, params: object, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        llm.generate(["a", "b"], params)


def test_the_default_params_write_sixteen_tokens_at_most(llm: LLM) -> None:
    assert 1 <= len(token_ids(llm.generate("a")[0])) <= 16


def test_a_stream_ends_with_what_generate_returns(llm: LLM) -> None:
    prompts = ["first", "second prompt"]
    last = {output.request_id: output for output in llm.stream(prompts, LONG)}
    assert [output.outputs for output in last.values()] == [output.outputs for output in llm.generate(prompts, LONG)]


def test_two_streams_read_in_turn_write_what_each_writes_alone(llm: LLM) -> None:
    first, second = llm.stream("first", SHORT), llm.stream("second", LONG)
    pairs = list(zip(first, second))
    rest = list(second)
    assert pairs[-1][0].outputs == llm.generate("first", SHORT)[0].outputs
    assert rest[-1].outputs == llm.generate("second", LONG)[0].outputs


def test_a_stream_left_early_gives_its_blocks_back(llm: LLM) -> None:
    for output in llm.stream(["a", "b"], LONG):
        if len(token_ids(output)) == 3:
            break
    assert llm.manager.num_free_blocks == 40


def test_a_stream_never_started_holds_nothing(llm: LLM) -> None:
    llm.stream("a", LONG)
    assert not llm.scheduler.has_unfinished()


@pytest.fixture
def interrupt(llm: LLM, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """interrupt(n) lets the n-th forward pass from now end as Ctrl-C would, and the later ones run."""
    forward, calls = llm.model.decoder.forward, []

    def set_up(number: int) -> None:
        def interrupted(*args: object) -> object:
            calls.append(1)
            if len(calls) == number:
                raise KeyboardInterrupt
            return forward(*args)

        monkeypatch.setattr(llm.model.decoder, "forward", interrupted)

    return set_up


def test_an_interrupt_in_the_middle_leaves_no_block_taken(llm: LLM, interrupt: Callable[[int], None]) -> None:
    interrupt(5)
    with pytest.raises(KeyboardInterrupt):
        llm.generate(["a", "b"], LONG)
    assert llm.manager.num_free_blocks == 40
    assert len(token_ids(llm.generate("a", SHORT)[0])) == 4


def test_an_interrupted_step_drops_every_request_in_it(llm: LLM, interrupt: Callable[[int], None]) -> None:
    stream = llm.stream("a", LONG)
    next(stream)
    llm.add_request("x", "b", LONG)
    interrupt(1)
    with pytest.raises(KeyboardInterrupt):
        llm.step()
    assert llm.manager.num_free_blocks == 40
    assert [output.request_id for output in llm.step()] == ["x"]
    assert [output.outputs[0].finish_reason for output in stream] == ["abort"]


def test_added_requests_are_reported_by_step_until_they_have_ended(llm: LLM) -> None:
    llm.add_request("x", "a text", SHORT)
    llm.add_request("y", "another", LONG)
    outputs = []
    while llm.has_unfinished_requests():
        outputs += llm.step()
    assert [output.request_id for output in outputs if output.finished] == ["x", "y"]
    assert len(outputs) == 44
    assert llm.step() == []


def test_generate_beside_added_requests_loses_neither(llm: LLM) -> None:
    llm.add_request("mine", "a text", SHORT)
    assert len(token_ids(llm.generate("b", LONG)[0])) == 40
    [output] = llm.step()
    assert (output.request_id, output.finished, len(token_ids(output))) == ("mine", True, 4)


def test_a_request_id_is_in_use_until_its_end_is_reported(llm: LLM) -> None:
    llm.add_request("0", "a", SHORT)
    [other] = llm.generate("b", SHORT)
    assert other.request_id != "0"
    with pytest.raises(BadInput, match="request id '0' is in use"):
        llm.add_request("0", "b", SHORT)
    assert [output.finished for output in llm.step()] == [True]
    llm.add_request("0", "b", SHORT)
    llm.abort_request("0")


@pytest.mark.parametrize("request_id", [3, None])
def test_a_request_id_that_is_no_text_is_refused(llm: LLM, request_id: object) -> None:
    with pytest.raises(BadInput, match=r"request_id is .*; give a text"):
        llm.add_request(request_id, "a", SHORT)


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_an_aborted_request_is_gone_whether_it_waits_or_runs(llm: LLM, steps: int) -> None:
    llm.add_request("x", "a text", LONG)
    for _ in range(steps):
        llm.step()
    llm.abort_request("x")
    assert not llm.has_unfinished_requests()
    with pytest.raises(UnknownSequence, match="no request 'x' waits or runs"):
        llm.abort_request("x")


def test_a_streamed_request_that_is_aborted_says_so(llm: LLM) -> None:
    stream = llm.stream("a", LONG)
    llm.abort_request(next(stream).request_id)
    [output] = stream
    assert (output.finished, output.outputs[0].finish_reason) == (True, "abort")


def test_a_stream_that_is_closed_leaves_whoever_has_its_old_id_alone(llm: LLM) -> None:
    stream = llm.stream("a", LONG)
    name = next(stream).request_id
    llm.abort_request(name)
    llm.add_request(name, "b", SHORT)
    stream.close()
    outputs = []
    while llm.has_unfinished_requests():
        outputs += llm.step()
    assert [output.request_id for output in outputs] == [name] * 4
    assert outputs[-1].outputs == llm.generate("b", SHORT)[0].outputs


@pytest.mark.parametrize("make_call", ["generate", "stream", "add_request"])
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"stop_token_ids": [263]}, "stop_token_ids has 263; the vocabulary's ids run from 0 to 262"),
        ({"logprobs": 264}, "logprobs is 264; the vocabulary has 263 tokens"),
        ({"prompt_logprobs": 264}, "prompt_logprobs is 264; the vocabulary has 263 tokens"),
    ],
)
def test_what_the_vocabulary_does_not_have_is_refused_before_anything_is_queued(
    llm: LLM, make_call: str, params: dict, message: str
) -> None:
    call = {
        "generate": lambda: llm.generate(["a", "b"], [SHORT, SamplingParams(**params)]),
        "stream": lambda: llm.stream(["a", "b"], [SHORT, SamplingParams(**params)]),
        "add_request": lambda: llm.add_request("mine", "a", SamplingParams(**params)),
    }[make_call]
    with pytest.raises(BadInput, match=re.escape(message)):
        call()


def test_without_a_stderr_a_call_shows_nothing_and_answers(llm: LLM, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = llm.generate("a", SHORT)[0].outputs
    monkeypatch.setattr(sys, "stderr", None)
    assert llm.generate("a", SHORT)[0].outputs == expected


def test_two_llms_share_one_models_weights(tiny: Model) -> None:
    first, second = LLM(tiny), LLM(tiny, block_size=3)
    assert first.model.decoder is second.model.decoder
    assert first.generate("a", SHORT)[0].outputs == second.generate("a", SHORT)[0].outputs


def test_one_log_cannot_serve_two_engines(tiny: Model) -> None:
    log = EventLog()
    LLM(tiny, log=log).generate("a", SHORT)
    with pytest.raises(BadEvents, match="the log is of another memory"):
        LLM(tiny, log=log)


def test_a_chat_answers_the_conversation(model: Model) -> None:
    messages = [{"role": "user", "content": "What is the capital of France?"}]
    [output] = LLM(model).chat(messages, SamplingParams(temperature=0, max_tokens=20))
    assert output.outputs[0].text == "The capital of France is Paris."
    assert output.outputs[0].finish_reason == "stop"


def test_without_a_cache_an_answer_ends_as_with_one(scripted: Callable[..., LLM]) -> None:
    llm = scripted("one two three")
    params = SamplingParams(temperature=0, max_tokens=50, stop="two")
    assert generate_without_cache(llm.model, [5], params).outputs == llm.generate([5], params)[0].outputs
