"""The engine on a GPU, a pretended one: nothing mixes devices, and the CPU waits once a step, for the logits."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from kvlib.attention import triton, write
from kvlib.attention.triton import device, inputs, launch, storing
from kvlib.engine import (
    LLM,
    BeamSearchParams,
    LoRARequest,
    Model,
    NoCache,
    SamplingParams,
    generate_without_cache,
    load,
)
from kvlib.engine.cache_errors import cache_errors
from kvlib.engine.calibration import kv_scales
from kvlib.engine.perplexity import perplexity
from kvlib.errors import BadConfig
from kvlib.models import attending
from kvlib.models.adapter_file import BEGINNING

from .checkpoints import CASES, make
from .checkpoints import write as write_folder
from .pretend import GPU, Kernel, Operations, numbers_of, pretended_gpu

GREEDY = SamplingParams(temperature=0, max_tokens=4, ignore_eos=True)
PROMPTS = [list(range(5, 18)), [7] * 6, [11]]
SMALL = {"block_size": 4, "num_blocks": 60}
FREE = 2**30
KERNELS = {launch: ("decode_kernel", "combine_kernel", "prefill_kernel"), storing: ("write_kernel", "copy_kernel")}


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Operations]:
    """An A100, on which the kernels run by way of the interpreter."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (8, 0))
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (FREE, 2 * FREE))
    for module, names in KERNELS.items():
        for name in names:
            monkeypatch.setattr(module, name, Kernel(getattr(module, name)))
    for module in (triton, inputs):
        monkeypatch.setattr(module, "device_of", lambda _: device.INTERPRETER)
    with pretended_gpu() as operations:
        yield operations


def written(llm: LLM, prompts: list = PROMPTS, params: SamplingParams = GREEDY, **more: object) -> list:
    return [[answer.token_ids for answer in output.outputs] for output in llm.generate(prompts, params, **more)]


def on_gpu(path: Path, **settings: object) -> LLM:
    return LLM(path, device="cuda", dtype="float32", **SMALL | settings)


def test_what_lies_on_the_gpu_does_not_mix_and_is_waited_for(gpu: Operations) -> None:
    x = torch.ones(2, 3, device=GPU)
    assert (x.device, (x @ x.T).device, x[0].device) == (GPU, GPU, GPU)
    for mixed in (lambda: x + torch.ones(3), lambda: x @ torch.ones(3, 3), lambda: x[torch.tensor([0])]):
        with pytest.raises(AssertionError, match="on the GPU and on the CPU"):
            mixed()
    readings = (lambda: x.tolist(), lambda: bool(x.isfinite().all()), lambda: x.nonzero(), lambda: x.cpu())
    for number, reading in enumerate(readings, start=1):
        reading()
        assert len(gpu.waits) == number


@pytest.mark.parametrize("kv_cache_dtype", ["auto", "int8", "fp8_e4m3"])
@pytest.mark.parametrize("backend", ["triton", "gather"])
def test_the_tokens_are_the_cpus_and_a_step_waits_for_its_logits_alone(
    tiny: Model, tiny_path: Path, gpu: Operations, backend: str, kv_cache_dtype: str
) -> None:
    chunked = {"enable_chunked_prefill": True, "max_num_batched_tokens": 5, "kv_cache_dtype": kv_cache_dtype}
    llm = on_gpu(tiny_path, attention_backend=backend, **chunked)
    assert {layer.key.device for layer in llm.caches} == {llm.device} == {GPU}
    compute, steps = llm._worker.compute, []

    def counting(chunks: list) -> list[Tensor]:
        steps.append(chunks)
        return compute(chunks)

    llm._worker.compute = counting  # type: ignore[method-assign]
    gpu.waits.clear()
    assert written(llm) == written(LLM(tiny, **SMALL | chunked))
    assert 4 <= len(gpu.waits) <= len(steps)  # a step of prompts that are not at their end has no logits
    assert {wait.rpartition(" ")[2] for wait in gpu.waits} == {"logits"}


def test_a_check_of_the_slots_in_every_layer_would_be_noticed(
    tiny_path: Path, gpu: Operations, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attending, "store_of", lambda _: write)
    llm = on_gpu(tiny_path, attention_backend="gather")
    llm.generate([[11]], GREEDY)
    assert sum(wait.endswith("check_slots") for wait in gpu.waits) == 2 * 2 * 4  # numbers, layers, steps


def test_copies_and_swaps_between_gpu_and_host(tiny: Model, tiny_path: Path, gpu: Operations) -> None:
    params = SamplingParams(n=2, seed=1, max_tokens=4, ignore_eos=True)
    swap = {"num_blocks": 7, "preemption": "swap", "num_host_blocks": 30, "kv_cache_dtype": "int8"}
    llm = on_gpu(tiny_path, **swap)
    assert llm.attention_backend == "triton"
    assert {layer.key.device.type for layer in llm._worker._host_caches} == {"cpu"}
    assert written(llm, PROMPTS[:2], params) == written(LLM(tiny, **SMALL | swap), PROMPTS[:2], params)
    waited = {wait.rpartition(" ")[2] for wait in gpu.waits}
    assert "_copy" in waited  # from the GPU to the host


def test_beams_and_chance_and_all_that_is_asked_about_likelihood(tiny: Model, tiny_path: Path, gpu: Operations) -> None:
    ours, theirs = on_gpu(tiny_path, attention_backend="gather"), LLM(tiny, **SMALL)
    beams = BeamSearchParams(beam_width=3, max_tokens=5, ignore_eos=True)
    params = SamplingParams(
        seed=4, max_tokens=5, min_p=0.01, top_k=50, top_p=0.9, repetition_penalty=1.2, presence_penalty=0.1, logprobs=2,
        prompt_logprobs=1, min_tokens=2,
    )  # fmt: skip
    assert [each.tokens for each in ours.beam_search(PROMPTS[:1], beams)[0].sequences] == [
        each.tokens for each in theirs.beam_search(PROMPTS[:1], beams)[0].sequences
    ]
    [[got], [expected]] = (
        [output.outputs[0] for output in llm.generate(PROMPTS[1:2], params)] for llm in (ours, theirs)
    )
    assert got.token_ids == expected.token_ids
    assert got.cumulative_logprob == pytest.approx(expected.cumulative_logprob, abs=1e-4)


def test_an_adapter_lies_beside_the_weights(tiny: Model, tiny_path: Path, gpu: Operations, tmp_path: Path) -> None:
    a, b = (torch.randn(shape, generator=torch.Generator().manual_seed(1)) for shape in ((4, 48), (64, 4)))
    name = f"{BEGINNING}model.layers.1.self_attn.q_proj"
    save_file({f"{name}.lora_A.weight": a, f"{name}.lora_B.weight": b}, tmp_path / "adapter_model.safetensors")
    (tmp_path / "adapter_config.json").write_text('{"peft_type": "LORA", "r": 4, "lora_alpha": 8}')
    adapter = LoRARequest("tuned", 1, tmp_path)
    tuned = written(LLM(tiny), lora_request=adapter)
    assert written(on_gpu(tiny_path, attention_backend="gather"), lora_request=adapter) == tuned != written(LLM(tiny))


def test_what_is_measured_of_a_model(tiny: Model, tiny_path: Path, gpu: Operations) -> None:
    loaded, text = load(tiny_path, device="cuda", dtype="float32"), list(range(5, 60))
    assert perplexity(loaded, text) == pytest.approx(perplexity(tiny, text), rel=1e-5)
    for ours, theirs in zip(kv_scales(loaded, torch.int8), kv_scales(tiny, torch.int8), strict=True):
        torch.testing.assert_close([numbers_of(scale) for scale in ours], list(theirs))
    [ours, *_], [theirs, *_] = (cache_errors(model, text, dtype=torch.float16) for model in (loaded, tiny))
    assert ours == pytest.approx(theirs, rel=1e-3)
    [got, expected] = (generate_without_cache(model, PROMPTS[1], GREEDY).outputs[0] for model in (loaded, tiny))
    assert got.token_ids == expected.token_ids


@pytest.mark.parametrize("name", ["llama, biases", "qwen3", "opt", "gpt2"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_every_architecture_in_half_precision(tmp_path: Path, gpu: Operations, name: str, dtype: str) -> None:
    assert name in CASES
    folder = write_folder(tmp_path, make(name))
    ids = torch.arange(3, 40)
    with torch.inference_mode():
        expected = hidden_of(load(folder, "torch"), ids)
        got = hidden_of(load(folder, device="cuda", dtype=dtype), ids)
    assert numbers_of(got).dtype == torch.float32
    assert (numbers_of(got) - expected).norm() < (0.01 if dtype == "float16" else 0.1) * expected.norm()


def hidden_of(model: Model, ids: Tensor) -> Tensor:
    decoder = model.decoder
    positions = torch.arange(len(ids)).to(decoder.device)
    return decoder.logits(decoder.forward(ids.to(decoder.device), positions, NoCache()))


@pytest.mark.parametrize("wished", ["cuda", "auto"])
def test_without_other_wishes_it_is_float16_and_the_kernels(tiny_path: Path, gpu: Operations, wished: str) -> None:
    llm = LLM(tiny_path, device=wished, **SMALL)
    assert (llm.device, llm.linear, llm.attention_backend) == (GPU, "torch", "triton")
    assert {tensor.dtype for layer in llm.caches for tensor in (layer.key, layer.value)} == {torch.float16}
    shared = LLM(llm.model, device="auto", kv_cache_dtype="int8", **SMALL)
    assert (shared.model, shared.device) == (llm.model, GPU)
    assert LLM(tiny_path, **SMALL).device.type == "cpu"


def test_where_the_kernels_cannot_be_had_it_gathers(
    tiny_path: Path, gpu: Operations, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # the pretended GPU stays, and triton sees its own interpreter beside it
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (8, 0))
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (FREE, 2 * FREE))
    assert on_gpu(tiny_path).attention_backend == "gather"
    with pytest.raises(BadConfig, match=r"cannot be had: .*TRITON_INTERPRET=1 was set .* start Python without it"):
        on_gpu(tiny_path, attention_backend="triton")


def test_the_pool_is_measured_by_the_gpus_memory_and_the_host_by_its_own(
    tiny_path: Path, gpu: Operations, monkeypatch: pytest.MonkeyPatch
) -> None:
    block_bytes = 2 * 2 * 4 * 2 * 16 * 2  # keys and values, layers, tokens, KV heads, head size, float16
    model = load(tiny_path, device="cuda")
    most = FREE // block_bytes - 1
    with pytest.raises(BadConfig, match=f"num_blocks is {most + 1} on cuda:0: .* hold at most {most} blocks: give few"):
        LLM(model, device="cuda", block_size=4, num_blocks=most + 1)
    monkeypatch.setattr("kvlib.engine.allocation.free_memory", lambda: 5 * block_bytes)
    with pytest.raises(BadConfig, match=r"num_host_blocks is 5: .* hold at most 4 blocks: give fewer"):
        LLM(model, device="cuda", **SMALL, preemption="swap", num_host_blocks=5)
    LLM(model, device="cuda", **SMALL, preemption="swap", num_host_blocks=4)


REFUSED: dict[str, tuple[dict[str, object], str]] = {
    "native attention": (
        {"attention_backend": "native"},
        "'native' reads caches of torch.float32 on the CPU, not .*cud",
    ),
    "native linear layers": ({"linear": "native"}, "linear is 'native', which computes on the CPU, .* cuda:0; take"),
    "linear layers of FBGEMM": ({"linear": "fp16"}, "linear is 'fp16', which computes on the CPU, .* cuda:0; take"),
    "a cache of another float": (
        {"kv_cache_dtype": "float32"},
        "kv_cache_dtype is 'float32', and the weights are torch",
    ),
}


@pytest.mark.parametrize(("settings", "message"), REFUSED.values(), ids=REFUSED)
def test_what_a_gpu_does_not_have_is_refused(tiny_path: Path, gpu: Operations, settings: dict, message: str) -> None:
    with pytest.raises(BadConfig, match=message):
        LLM(tiny_path, device="cuda", **settings)


def test_weights_beyond_float16_are_refused_by_name(
    gpu: Operations, write_gguf: Callable[..., Path], tiny_tensors: dict[str, Tensor], tmp_path: Path
) -> None:
    large = {name: tensor.clone() for name, tensor in tiny_tensors.items()}
    large["blk.1.ffn_up.weight"][3, 5] = 70000.0
    path = write_gguf(tmp_path / "large.gguf", large)
    with pytest.raises(
        BadConfig, match=r"tensor blk.1.ffn_up.weight has the number 70000; float16 ends at 65504: take"
    ):
        load(path, device="cuda")
    for dtype in ("bfloat16", "float32"):
        assert load(path, device="cuda", dtype=dtype).decoder.device == GPU


def test_weights_that_do_not_fit_the_gpu_are_refused(
    tiny_path: Path, gpu: Operations, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr("kvlib.models.model.load_weights", full)
    with pytest.raises(
        BadConfig, match=r"do not fit the memory of cuda:0 \(CUDA out of memory\); take a smaller model"
    ):
        load(tiny_path, device="cuda")
