"""Requests under ids: none takes another's, one that fails takes no other with it unseen, and vLLM's calls work."""

from collections.abc import Callable, Iterator

import pytest

from kvlib.engine import LLM, Model, SamplingParams
from kvlib.errors import BadInput, UnknownSequence
from kvlib.events import EventLog

SHORT = SamplingParams(temperature=0, max_tokens=4, ignore_eos=True)
LONG = SamplingParams(temperature=0, max_tokens=40, ignore_eos=True)


@pytest.fixture
def llm(tiny: Model) -> Iterator[LLM]:
    llm = LLM(tiny, block_size=4, num_blocks=60)
    yield llm
    assert llm.manager.num_free_blocks == 60
    assert not llm.has_unfinished_requests()


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
