"""Requests under ids: none takes another's, one that fails takes no other with it unseen, and vLLM's calls work."""

from collections.abc import Callable, Iterator

import pytest

from kvlib.engine import LLM, Model, SamplingParams
from kvlib.errors import BadInput, UnknownSequence
from kvlib.events import EventLog

SHORT = SamplingParams(temperature=0, max_tokens=4, ignore_eos=True)
LONG = SamplingParams(temperature=0, max_tokens=40, ignore_eos=True)
LONG_PROMPT = list(range(5, 25))
KINDS = pytest.mark.parametrize("kind", ["hash", "radix"])


@pytest.fixture
def llm(tiny: Model) -> Iterator[LLM]:
    llm = LLM(tiny, block_size=4, num_blocks=60)
    yield llm
    assert llm.manager.num_free_blocks == 60
    assert not llm.has_unfinished_requests()
    assert not llm._loop._prefixes._of


def finish(llm: LLM) -> dict[str, str | None]:
    """Step to the end: id -> finish reason, of each request's last output."""
    reasons = {}
    while llm.has_unfinished_requests():
        reasons |= {output.request_id: output.outputs[0].finish_reason for output in llm.step()}
    return reasons


def test_a_stream_prepared_before_and_started_after_an_added_request_keeps_out_of_its_way(llm: LLM) -> None:
    stream = llm.stream(["a", "b"], SHORT)
    llm.add_request("0", "c", LONG)
    assert {output.request_id for output in stream} == {"1", "2"}
    assert finish(llm) == {"0": "length"}


def test_the_first_call_writes_under_0_1_2_in_the_log(tiny: Model) -> None:
    log = EventLog()
    outputs = LLM(tiny, log=log).generate(["a", "b", "c"], SHORT)
    assert [output.request_id for output in outputs] == list(log.texts) == ["0", "1", "2"]


def test_an_id_that_a_log_already_tells_of_is_not_given_again(tiny: Model) -> None:
    llm = LLM(tiny, log=EventLog())
    llm.add_request("0", "a", SHORT)
    finish(llm)
    assert [output.request_id for output in llm.generate("b", SHORT)] == ["1"]


def test_streams_find_free_ids_among_several_that_are_taken(llm: LLM) -> None:
    for name in ("0", "1", "3"):
        llm.add_request(name, "a", LONG)
    assert {output.request_id for output in llm.stream(["b", "c"], SHORT)} == {"2", "4"}
    assert finish(llm) == {"0": "length", "1": "length", "3": "length"}


def test_an_id_whose_end_is_not_told_yet_is_not_given_again(llm: LLM) -> None:
    llm.add_request("1", "a", SHORT)
    assert [output.request_id for output in llm.generate("b", LONG)] == ["0"]
    assert [output.request_id for output in llm.generate("c", SHORT)] == ["2"]
    assert finish(llm) == {"1": "length"}


def test_an_id_that_the_log_has_is_refused_and_leaves_no_keys(tiny: Model) -> None:
    llm = LLM(tiny, block_size=4, log=EventLog())
    llm.add_request("x", LONG_PROMPT, SHORT)
    finish(llm)
    with pytest.raises(BadInput, match="request id 'x' is in the log already"):
        llm.add_request("x", LONG_PROMPT, SHORT)
    assert not llm._loop._prefixes._of


def test_a_further_answer_is_not_written_under_an_id_that_the_log_tells_of(tiny: Model) -> None:
    log = EventLog()
    llm = LLM(tiny, block_size=4, log=log)
    texts = {}
    for name, n in (("x/1", 1), ("x/3", 2), ("x", 3), ("x/3/1/1", 2)):
        llm.add_request(name, LONG_PROMPT, SamplingParams(n=n, seed=4, ignore_eos=True))
        while llm.has_unfinished_requests():
            for output in llm.step():
                texts[output.request_id] = [llm.tokenizer.pieces(each.token_ids) for each in output.outputs]
    prompt = llm.tokenizer.pieces(LONG_PROMPT)
    wanted = {"x/1": "x/1", "x/3": "x/3 x/3/1", "x": "x x/2 x/4", "x/3/1/1": "x/3/1/1 x/3/1/1/1"}
    assert log.texts == {
        child: prompt + written
        for name, children in wanted.items()
        for child, written in zip(children.split(), texts[name])
    }


@KINDS
@pytest.mark.parametrize("steps", [1, 3])
def test_the_id_of_a_further_answer_is_refused_and_all_answers_go_on(tiny: Model, kind: str, steps: int) -> None:
    llm = LLM(tiny, block_size=4, prefix_cache=kind)
    three = SamplingParams(n=3, seed=4, max_tokens=13, ignore_eos=True)
    expected = LLM(tiny).generate(LONG_PROMPT, three)[0].outputs
    llm.add_request("x", LONG_PROMPT, three)
    for _ in range(steps):
        llm.step()
    for name in ("x/1", "x/2"):
        with pytest.raises(BadInput, match=f"request id '{name}' is in use"):
            llm.add_request(name, LONG_PROMPT, SHORT)
    *_, last = (output for _ in range(13 - steps) for output in llm.step())
    assert (last.finished, last.outputs) == (True, expected)
    [again] = llm.generate(LONG_PROMPT + expected[1].token_ids + [5], SHORT)
    assert again.num_cached_tokens == 32  # of 20 + 13 tokens the newest was never computed
    assert llm.manager.num_free_blocks == 256
    assert not llm._loop._prefixes._of


def test_the_id_of_a_streams_further_answer_is_refused_and_the_stream_goes_on(llm: LLM) -> None:
    two = SamplingParams(n=2, seed=4, max_tokens=6, ignore_eos=True)
    expected = llm.generate("a", two)[0].outputs
    stream = llm.stream("a", two)
    name = next(stream).request_id
    with pytest.raises(BadInput, match=f"request id '{name}/1' is in use"):
        llm.add_request(f"{name}/1", "b", SHORT)
    assert list(stream)[-1].outputs == expected


def test_the_id_of_a_running_stream_is_refused_to_others(llm: LLM) -> None:
    stream = llm.stream("a", SHORT)
    name = next(stream).request_id
    with pytest.raises(BadInput, match=f"request id '{name}' is in use"):
        llm.add_request(name, "b", SHORT)
    assert list(stream)[-1].outputs[0].finish_reason == "length"


def test_requests_that_a_failed_step_dropped_are_told_once_by_the_next(
    llm: LLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    llm.add_request("x", "a", LONG)
    llm.add_request("y", "b", LONG)
    llm.step()

    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(llm.model.decoder, "forward", fail)
    with pytest.raises(MemoryError):
        llm.step()
    assert llm.manager.num_free_blocks == 60
    assert llm.has_unfinished_requests()
    assert [
        (o.request_id, o.finished, o.outputs[0].finish_reason, len(o.outputs[0].token_ids)) for o in llm.step()
    ] == [
        ("x", True, "abort", 1),
        ("y", True, "abort", 1),
    ]
    assert llm.step() == []


@pytest.mark.parametrize("top_p", [1e-300, 5e-324, 1e-46])
def test_a_vanishing_top_p_takes_the_likeliest_token_and_stops_nobody(llm: LLM, top_p: float) -> None:
    llm.add_request("other", "a", LONG)
    [output] = llm.generate("b", SamplingParams(top_p=top_p, max_tokens=4, ignore_eos=True))
    assert output.outputs == llm.generate("b", SHORT)[0].outputs
    assert finish(llm) == {"other": "length"}


@pytest.mark.parametrize("make_ids", [list, tuple, set, iter])
def test_abort_takes_several_ids(llm: LLM, make_ids: Callable) -> None:
    for name in ("x", "y", "z"):
        llm.add_request(name, "a", SHORT)
    llm.abort_request(make_ids(["x", "z"]))
    assert finish(llm) == {"y": "length"}


def test_an_abort_with_one_unknown_id_drops_none(llm: LLM) -> None:
    llm.add_request("x", "a", SHORT)
    with pytest.raises(UnknownSequence, match="no request 'nobody' waits or runs"):
        llm.abort_request(["x", "nobody"])
    assert finish(llm) == {"x": "length"}


@pytest.mark.parametrize("ids", [None, 3, ["x", 3], [["x"]]])
def test_what_is_no_id_cannot_be_aborted(llm: LLM, ids: object) -> None:
    llm.add_request("x", "a", SHORT)
    with pytest.raises(BadInput, match=r"request_id is .*; give a text"):
        llm.abort_request(ids)
    assert finish(llm) == {"x": "length"}


def test_the_third_parameter_of_add_request_is_named_as_in_vllm(llm: LLM) -> None:
    llm.add_request(request_id="x", prompt="a", params=SHORT)
    assert finish(llm) == {"x": "length"}
