"""With attention by the Triton kernels, here in their interpreter, the engine writes what it writes with any other."""

import sys
from collections.abc import Callable

import pytest
import torch

from kvlib.attention import Batch, triton
from kvlib.attention.choice import best_backend, check_backend
from kvlib.attention.triton import Device, device
from kvlib.engine import LLM, Model, PagedAttention, SamplingParams
from kvlib.errors import BadConfig, BadInput
from kvlib.events import EventLog

GREEDY = SamplingParams(temperature=0, max_tokens=4, ignore_eos=True)
PROMPTS = [list(range(5, 18)), [7] * 6, [11]]
SMALL = {"block_size": 4, "num_blocks": 60}


def written(llm: LLM, prompts: list = PROMPTS, params: SamplingParams = GREEDY) -> list[list[list[int]]]:
    return [[answer.token_ids for answer in output.outputs] for output in llm.generate(prompts, params)]


def kinds(log: EventLog) -> list[str]:
    return [event["kind"] for event in log.events]


@pytest.mark.parametrize("kv_cache_dtype", ["auto", "int8", "fp8_e4m3"])
@pytest.mark.parametrize("other", ["gather", "paged"])
def test_chunks_of_prompts_beside_decode_rows_over_every_cache(tiny: Model, other: str, kv_cache_dtype: str) -> None:
    chunked = SMALL | {"enable_chunked_prefill": True, "max_num_batched_tokens": 5, "kv_cache_dtype": kv_cache_dtype}
    llms = [LLM(tiny, attention_backend=backend, **chunked) for backend in ("triton", other)]
    assert llms[0].attention_backend == "triton"
    assert written(llms[0]) == written(llms[1])
    tolerance = 1e-5 if kv_cache_dtype == "auto" else 1e-2  # a difference in the last bit may fall to the next code
    for ours, theirs in zip(llms[0].caches, llms[1].caches, strict=True):
        for name in ("key", "value"):
            stored, expected = (getattr(layer, name).float() for layer in (ours, theirs))
            assert (stored - expected).norm() <= tolerance * expected.norm()


def test_a_beginning_that_is_found_in_the_cache(tiny: Model) -> None:
    llm = LLM(tiny, attention_backend="triton", **SMALL)
    [first] = llm.generate(PROMPTS[:1], GREEDY)
    [second] = llm.generate(PROMPTS[:1], GREEDY)
    assert (first.num_cached_tokens, second.num_cached_tokens) == (0, 12)
    assert [first.outputs[0].token_ids] == [second.outputs[0].token_ids] == written(LLM(tiny), PROMPTS[:1])[0]


def test_answers_that_copy_a_shared_block_before_they_write_each_by_its_kernel(
    tiny: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def noting(name: str, function: Callable) -> Callable:
        return lambda *args, **more: (calls.append(name), function(*args, **more))

    for name in ("copy_blocks", "write_cache"):
        monkeypatch.setattr(triton, name, noting(name, getattr(triton, name)))
    params = SamplingParams(n=2, seed=1, max_tokens=4, ignore_eos=True)
    llm = LLM(tiny, attention_backend="triton", **SMALL)
    assert written(llm, PROMPTS[:1], params) == written(LLM(tiny), PROMPTS[:1], params)
    assert calls == ["write_cache"] * 2 + ["copy_blocks"] + ["write_cache"] * 2 * 3  # layers, steps


@pytest.mark.parametrize("yielding", [{}, {"preemption": "swap", "num_host_blocks": 20}])
def test_requests_that_yield_and_come_back(tiny: Model, yielding: dict) -> None:
    log = EventLog()
    llm = LLM(tiny, attention_backend="triton", block_size=4, num_blocks=6, log=log, **yielding)
    assert written(llm, PROMPTS[:2]) == written(LLM(tiny), PROMPTS[:2])
    assert ("swap" if yielding else "preempt") in kinds(log)


def test_the_real_model(model: Model) -> None:
    prompt, params = "The capital of France is", SamplingParams(temperature=0, max_tokens=2)
    ours, theirs = (LLM(model, attention_backend=backend) for backend in ("triton", "gather"))
    assert written(ours, [prompt], params) == written(theirs, [prompt], params)


def test_on_a_cpu_without_the_interpreter_it_is_refused_with_the_way_to_it(
    tiny: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "INTERPRETED", False)
    message = (
        r"backend 'triton' cannot be had: .*set TRITON_INTERPRET=1 .*before Python starts.* or take backend .gather"
    )
    with pytest.raises(BadConfig, match=message):
        LLM(tiny, attention_backend="triton")
    assert LLM(tiny).attention_backend != "triton"


def test_where_triton_is_not_installed_it_is_refused_with_the_command(
    tiny: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "triton" or "attention.triton" in name]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.raises(BadConfig, match=r"backend 'triton' cannot be had: .* needs triton .*pip install .triton>=3"):
        LLM(tiny, attention_backend="triton")


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (Device("Tesla V100", (7, 0), 80, 96 * 1024), "needs compute capability 7.5, and Tesla V100 has 7.0; take"),
        (RuntimeError("Failed to find C compiler"), "cannot be had: Failed to find C compiler"),
    ],
)
def test_a_device_on_which_triton_cannot_run_gathers(
    monkeypatch: pytest.MonkeyPatch, found: Device | Exception, message: str
) -> None:
    def device_of(_: object) -> Device:
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(triton, "device_of", device_of)
    with pytest.raises(BadConfig, match=f"attention backend 'triton' {message}"):
        check_backend("triton", torch.float16, torch.device("meta"))
    assert best_backend(torch.float16, torch.device("meta")) == "gather"


def test_a_slot_outside_the_cache_is_refused_before_any_layer_writes(tiny: Model) -> None:
    caches = LLM(tiny, **SMALL).caches
    batch = Batch(torch.tensor([[1]]), torch.tensor([1]), torch.tensor([0, 1]), block_size=4)
    with pytest.raises(BadInput, match="slot_mapping runs from 244 to 244; expected slots of this cache, 0 to 243"):
        PagedAttention(caches, torch.tensor([244]), batch, "triton")
