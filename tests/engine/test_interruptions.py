"""A step that fails or is interrupted anywhere leaves memory whole, tells every request its end, and the next runs."""

import signal
import sys
from collections.abc import Callable, Iterator
from types import FrameType

import pytest

from kvlib.chance import Chance
from kvlib.engine import LLM, Model, RequestOutput, SamplingParams

PROMPTS = [[5 + (7 * index + place) % 200 for place in range(8 + 5 * index)] for index in range(5)]
GREEDY = SamplingParams(temperature=0, max_tokens=12, ignore_eos=True)
SWAP = {"preemption": "swap", "num_host_blocks": 60}
BOOKKEEPING = ("/kvlib/serving/", "/kvlib/memory/", "/kvlib/engine/loop", "/kvlib/engine/prefixes")
PLACES = {
    "giving work to a prompt": ("scheduler", "_prefill"),
    "giving work to a decode": ("scheduler", "_decode"),
    "letting a request in": ("manager", "admit"),
    "making room": ("manager", "append_each"),
    "forking": ("manager", "fork"),
    "taking blocks back": ("manager", "free"),
    "swapping out": ("manager", "swap_out"),
    "swapping in": ("manager", "swap_in"),
    "noting what is computed": ("scheduler", "computed"),
    "publishing keys": ("manager", "publish"),
    "giving up one of several": ("scheduler", "drop"),
    "ending a request": ("scheduler", "_end"),
}


@pytest.fixture(scope="module")
def expected(tiny: Model) -> dict[str, list]:
    """What each of the requests r0, r1, ... writes: two or three answers with odd numbers, one with even ones."""
    llm = LLM(tiny, num_blocks=400)
    return {f"r{index}": llm.generate(PROMPTS[index % 5], params_of(index))[0].outputs for index in range(20)}


def params_of(index: int) -> SamplingParams:
    ends = list(range(5, 45)) if index % 2 else []  # some answers of a request end before others
    return SamplingParams(
        n=1 + index % 4 if index % 2 else 1, seed=index, max_tokens=12, ignore_eos=True, stop_token_ids=ends
    )


def add(llm: LLM, count: int) -> None:
    for index in range(count):
        llm.add_request(f"r{index}", PROMPTS[index % 5], params_of(index))


def assert_all_told_and_whole(llm: LLM, ended: list[RequestOutput], expected: dict[str, list], count: int) -> None:
    """Each request was told one end; what was not aborted is whole; nothing is held, and the next request is served."""
    assert sorted(output.request_id for output in ended) == sorted(f"r{index}" for index in range(count))
    for output in ended:
        if all(answer.finish_reason != "abort" for answer in output.outputs):
            assert output.outputs == expected[output.request_id]
    assert llm.manager.num_free_blocks == llm.manager.pool.num_blocks
    assert llm.manager.host_pool.num_free == llm.manager.host_pool.num_blocks
    assert not llm.scheduler.has_unfinished()
    assert not llm._loop.live
    assert not llm._loop._prefixes._of
    assert llm.generate(PROMPTS[1], params_of(1))[0].outputs == expected["r1"]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("call", [1, 3])
@pytest.mark.parametrize("place", PLACES)
def test_an_exception_anywhere_in_a_step_costs_only_the_requests_that_hold_memory(
    tiny: Model, expected: dict[str, list], place: str, call: int, when: str
) -> None:
    llm = LLM(tiny, block_size=4, num_blocks=32, **SWAP if "swap" in place else {})
    owner, name = PLACES[place]
    fail_once(getattr(llm, owner), name, call, when)
    add(llm, 8)
    ended, failures = [], 0
    while llm.has_unfinished_requests():
        try:
            ended += [output for output in llm.step() if output.finished]
        except MemoryError:
            failures += 1
            assert llm.manager.num_free_blocks == 32
            assert llm.manager.host_pool.num_free == llm.manager.host_pool.num_blocks
    assert failures == 1
    assert_all_told_and_whole(llm, ended, expected, 8)


def fail_once(owner: object, name: str, call: int, when: str) -> None:
    """Let the `call`-th call of a method raise MemoryError, before it has done anything or after all of it."""
    method, calls = getattr(owner, name), []

    def failing(*args: object, **named: object) -> object:
        calls.append(1)
        if len(calls) == call and when == "before":
            raise MemoryError
        result = method(*args, **named)
        if len(calls) == call:
            raise MemoryError
        return result

    setattr(owner, name, failing)


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt, as in a terminal, also where the tests run in the background."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    left = signal.signal(signal.SIGINT, handler)
    assert left is signal.default_int_handler


class CtrlC:
    """A context that presses Ctrl-C in the bookkeeping again and again, each time after `wait()` more of its lines."""

    def __init__(self, wait: Callable[[], int]) -> None:
        self.num_presses = 0
        self._wait = wait
        self._remaining = wait()

    def __enter__(self) -> None:
        self._tracer = sys.gettrace()
        sys.settrace(self._call)

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._tracer)

    def _call(self, frame: FrameType, event: str, _: object) -> object:
        path = frame.f_code.co_filename.replace("\\", "/")
        return self._line if any(part in path for part in BOOKKEEPING) else None

    def _line(self, frame: FrameType, event: str, _: object) -> object:
        self._remaining -= event == "line"
        if self._remaining < 0:
            self._remaining = self._wait()
            self.num_presses += 1
            signal.raise_signal(signal.SIGINT)
        return self._line


@pytest.mark.parametrize("how", [{}, SWAP])
def test_ctrl_c_in_the_bookkeeping_is_raised_by_its_step_and_leaves_memory_whole(
    tiny: Model, expected: dict[str, list], ctrl_c: None, how: dict[str, object]
) -> None:
    llm, chance = LLM(tiny, block_size=4, num_blocks=20, max_num_seqs=6, **how), Chance(3)
    keyboard = CtrlC(lambda: chance.below(1500))
    num_raised = num_steps = 0
    for _ in range(3):
        add(llm, 20)
        ended: list[RequestOutput] = []
        while llm.has_unfinished_requests():
            num_presses = keyboard.num_presses
            num_steps += 1
            assert num_steps < 1000
            try:
                with keyboard:
                    outputs = llm.step()
            except KeyboardInterrupt:
                num_raised += 1
            else:
                assert keyboard.num_presses == num_presses
                ended += [output for output in outputs if output.finished]
        assert_all_told_and_whole(llm, ended, expected, 20)
    assert num_raised > 20
