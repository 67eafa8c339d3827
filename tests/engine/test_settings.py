"""What an engine is made of: settings, model and memory are refused with a way out, before anything is taken."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from torch import Tensor

from kvlib.engine import LLM, Model, SamplingParams, allocation
from kvlib.engine.worker import Chunk
from kvlib.errors import BadConfig
from kvlib.events import EventLog

ROOT = Path(__file__).parents[2]
BLOCK_BYTES = 2 * 2 * 4 * 2 * 16 * 4  # keys and values, layers, tokens, KV heads, head size, float32


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"attention_backend": "flash"}, "attention_backend is 'flash'; the known ones are auto, dense, gather, paged"),
        ({"attention_backend": ["x"]}, "attention_backend is ['x']; the known ones are auto, dense, gather, paged"),
        ({"enable_prefix_caching": 1}, "enable_prefix_caching is 1; give True or False"),
        ({"enable_chunked_prefill": None}, "enable_chunked_prefill is None; give True or False"),
        ({"prefix_cache": "trie"}, "prefix_cache is 'trie'; the known ones are hash, radix"),
        ({"kv_cache_dtype": "fp4"}, "kv_cache_dtype is 'fp4'; the known ones are auto, float32, fp8, fp8_e4m3, int8"),
        ({"blok_size": 3}, "unknown setting blok_size; the known ones are block_size, num_blocks"),
        ({"block_size": 0}, "block_size is 0"),
        ({"block_size": True}, "block_size is True"),
        ({"num_blocks": 0}, "num_blocks is 0"),
        ({"num_blocks": 2.5}, "num_blocks is 2.5"),
        ({"max_num_seqs": 0}, "max_num_seqs is 0"),
        ({"max_num_batched_tokens": 0}, "max_num_batched_tokens is 0"),
        ({"log": "x"}, "log is 'x'; give a kvlib.events.EventLog, or None"),
        ({"model": 5}, "the model is 5; give a GGUF file, a folder, a name on the hub, a loaded Model, or None"),
    ],
)
def test_a_bad_setting_is_refused(tiny: Model, settings: dict, message: str) -> None:
    with pytest.raises(BadConfig, match=re.escape(message)):
        LLM(**{"model": tiny} | settings)


def test_a_refused_setting_leaves_the_log_for_another_engine(tiny: Model) -> None:
    log = EventLog()
    for settings in ({"max_num_seqs": 0}, {"attention_backend": "flash"}, {"num_blocks": 10**12}):
        with pytest.raises(BadConfig):
            LLM(tiny, log=log, **settings)
    LLM(tiny, log=log)


def test_a_pool_larger_than_the_free_memory_is_refused_before_it_is_allocated(
    tiny: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(allocation, "free_memory", lambda: 11 * BLOCK_BYTES)
    monkeypatch.setattr(allocation, "new_cache", lambda *_: pytest.fail("memory was asked for"))
    message = f"would take {12 * BLOCK_BYTES:,} bytes, {BLOCK_BYTES:,} for each block of 4 tokens; .* at most 10 blocks"
    with pytest.raises(BadConfig, match=message):
        LLM(tiny, block_size=4, num_blocks=11)


def test_a_pool_that_just_fits_the_free_memory_is_made(tiny: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocation, "free_memory", lambda: 11 * BLOCK_BYTES)
    llm = LLM(tiny, block_size=4, num_blocks=10)
    tensors = [tensor for layer in llm.caches for tensor in (layer.key, layer.value)]
    assert sum(tensor.nbytes for tensor in tensors) == 11 * BLOCK_BYTES


@pytest.mark.parametrize("num_spare", [-1, 0])
def test_pool_and_host_have_a_null_block_each(tiny: Model, monkeypatch: pytest.MonkeyPatch, num_spare: int) -> None:
    wanted = 7 + 4 + 2
    monkeypatch.setattr(allocation, "free_memory", lambda: (wanted + num_spare) * BLOCK_BYTES)

    def make() -> LLM:
        return LLM(tiny, block_size=4, num_blocks=7, num_host_blocks=4, preemption="swap")

    if num_spare < 0:
        with pytest.raises(BadConfig, match=f"would take {wanted * BLOCK_BYTES:,} bytes.* at most 10 blocks"):
            make()
    else:
        llm = make()
        layers = [*llm.caches, *llm._worker._host_caches]
        assert sum(layer.key.nbytes + layer.value.nbytes for layer in layers) == wanted * BLOCK_BYTES


@pytest.mark.parametrize("budget", [3, 8])
def test_with_chunked_prefill_no_step_computes_more_tokens_than_its_budget(
    tiny: Model, monkeypatch: pytest.MonkeyPatch, budget: int
) -> None:
    llm = LLM(tiny, enable_chunked_prefill=True, max_num_batched_tokens=budget, max_num_seqs=2)
    compute, computed = llm._worker.compute, []

    def counting(chunks: list[Chunk]) -> list[Tensor]:
        computed.append(sum(len(chunk.token_ids) for chunk in chunks))
        return compute(chunks)

    monkeypatch.setattr(llm._worker, "compute", counting)
    llm.generate([list(range(5, 30)), [7] * 20], SamplingParams(temperature=0, max_tokens=5, ignore_eos=True))
    assert sum(computed) == 25 + 20 + 2 * 4
    assert max(computed) == budget


@pytest.mark.parametrize("dtype", ["int8", "fp8", "fp8_e4m3"])
def test_native_attention_over_a_quantised_cache_is_refused_when_it_is_asked_for(tiny: Model, dtype: str) -> None:
    with pytest.raises(BadConfig, match="native"):
        LLM(tiny, attention_backend="native", kv_cache_dtype=dtype)


def test_another_form_of_linear_layers_than_the_loaded_models_is_refused(tiny: Model) -> None:
    loaded = tiny._replace(linear="fp16")
    with pytest.raises(BadConfig, match=r"linear is 'torch'.*'fp16'"):
        LLM(loaded, linear="torch")
    for form in ("auto", "fp16"):
        assert LLM(loaded, linear=form).linear == "fp16"


def test_an_unknown_form_of_linear_layers_is_refused_for_a_loaded_model_too(tiny: Model) -> None:
    with pytest.raises(BadConfig, match="linear is 'nonsense'"):
        LLM(tiny, linear="nonsense")


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    "name", ["block_size", "num_blocks", "num_host_blocks", "max_num_seqs", "max_num_batched_tokens"]
)
def test_a_number_too_long_to_write_out_is_refused_by_name(tiny: Model, name: str, sign: int) -> None:
    settings = {"preemption": "swap", "num_host_blocks": 4} if name == "num_host_blocks" else {}
    with pytest.raises(BadConfig, match=name):
        LLM(tiny, **settings | {name: sign * 10**5000})


@pytest.mark.parametrize("num_blocks", [10**12, 10**18, 10**30])
def test_where_the_free_memory_is_unknown_the_error_gives_the_bytes_of_a_block(
    tiny: Model, monkeypatch: pytest.MonkeyPatch, num_blocks: int
) -> None:
    monkeypatch.setattr(allocation, "free_memory", lambda: None)
    with pytest.raises(BadConfig, match=f"{BLOCK_BYTES:,} for each block of 4 tokens, more than there is; give fewer"):
        LLM(tiny, block_size=4, num_blocks=num_blocks)


@pytest.mark.parametrize(
    ("module", "missing"),
    [
        ("kvlib.attention", "torch"),
        ("kvlib.engine", "torch"),
        ("kvlib.engine", "tokenizers"),
        ("kvlib.engine", "gguf"),
        ("kvlib.engine", "jinja2"),
        ("kvlib.engine", "numpy"),
    ],
)
def test_a_package_that_is_not_installed_is_named_with_the_command(module: str, missing: str) -> None:
    program = f"""
import sys
class Missing:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing)
import {module}
"""
    result = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, cwd=ROOT)
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith("kvlib.errors.MissingPackage: ")
    assert f"(No module named '{missing}')" in last
    assert last.endswith('run: pip install ".[torch]"')
