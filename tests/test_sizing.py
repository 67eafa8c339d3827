import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvlib.errors import BadConfig
from kvlib.sizing import DTYPE_BYTES, GiB, ModelSpec, known_models, model_records

CASES = json.loads((Path(__file__).parent / "data" / "sizing_cases.json").read_text(encoding="utf-8"))
SIZED = [case for case in CASES if "bytes_per_token" in case]
REFUSED = [case for case in CASES if "refused" in case]

OPT = known_models()["opt-13b"]
specs = st.builds(
    lambda layers, kv_heads, group, head_size, v_head_size, dtype: ModelSpec(
        "any", layers, kv_heads * group, kv_heads, head_size, dtype, v_head_size
    ),
    st.integers(1, 100),
    st.integers(1, 16),
    st.integers(1, 16),
    st.integers(1, 256),
    st.none() | st.integers(1, 256),
    st.sampled_from(sorted(DTYPE_BYTES)),
)


@pytest.mark.parametrize("case", SIZED, ids=lambda case: case["name"])
def test_a_config_gives_its_bytes_per_token(case):
    spec = ModelSpec.from_config(case["config"])
    assert (spec.attention, spec.kv_bytes_per_token()) == (case["attention"], case["bytes_per_token"])


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["name"])
def test_a_config_that_cannot_be_sized_is_refused_with_the_field_named(case):
    with pytest.raises(BadConfig) as refusal:
        ModelSpec.from_config(case["config"])
    assert [part for part in case["refused"] if part not in str(refusal.value)] == []


def test_opt_13b_in_12_gib_as_the_paper_has_it():
    assert OPT.kv_bytes_per_token() == 819_200
    assert OPT.tokens_in(12 * GiB) == 15_728
    assert OPT.blocks_in(12 * GiB, 16) == 983


def test_the_known_models_have_the_sizes_their_configs_give():
    assert {id: spec.kv_bytes_per_token() for id, spec in known_models().items()} == {
        "opt-13b": 819_200,
        "llama-2-70b": 320 * 1024,
        "falcon-7b": 8 * 1024,
        "llama-3-8b": 128 * 1024,
        "qwen3-4b": 144 * 1024,
        "deepseek-v3": 70_272,
        "smollm2-135m": 23_040,
    }


def test_every_known_model_states_its_source_and_agrees_with_its_config_on_the_context():
    for record in model_records().values():
        assert record["source"]
        assert record["max_context"] == record["config"].get("max_position_embeddings", record["max_context"])


@given(specs, st.integers(0, 2**45), st.integers(1, 256))
def test_tokens_and_blocks_fill_a_memory_and_not_a_byte_more(spec, memory, block_size):
    tokens, blocks = spec.tokens_in(memory), spec.blocks_in(memory, block_size)
    assert tokens * spec.kv_bytes_per_token() <= memory < (tokens + 1) * spec.kv_bytes_per_token()
    assert blocks * spec.block_bytes(block_size) <= memory < (blocks + 1) * spec.block_bytes(block_size)
    assert blocks == tokens // block_size


@given(specs)
def test_the_token_scales_with_layers_kv_heads_and_dtype_and_not_with_query_heads(spec):
    fewer = ModelSpec("any", 1, spec.num_kv_heads, spec.num_kv_heads, spec.head_size, None, spec.v_head_size)
    per_layer = fewer.kv_bytes_per_token("int8")
    assert spec.kv_bytes_per_token() == spec.num_layers * per_layer * DTYPE_BYTES[spec.dtype]
    assert per_layer == spec.num_kv_heads * (spec.head_size + (spec.v_head_size or spec.head_size))


@pytest.mark.parametrize("dtype", ["fp8", "fp8_e4m3", "fp8_e5m2", "int8"])
def test_a_cache_of_one_byte_a_number_holds_twice_the_tokens_of_fp16(dtype):
    assert 2 * OPT.kv_bytes_per_token(dtype) == OPT.kv_bytes_per_token("auto") == OPT.kv_bytes_per_token()
    assert OPT.tokens_in(12 * GiB, dtype) == 31_457


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: OPT.kv_bytes_per_token("float17"), "'float17'"),
        (lambda: OPT.kv_bytes_per_token(["float16"]), "float16"),
        (lambda: OPT.block_bytes(0), "block_size is 0"),
        (lambda: OPT.block_bytes(16.0), "block_size is 16.0"),
        (lambda: OPT.blocks_in(12 * GiB, -1), "block_size is -1"),
        (lambda: OPT.blocks_in(12 * GiB, True), "block_size is True"),
        (lambda: OPT.tokens_in(-1), "memory_bytes is -1"),
        (lambda: OPT.tokens_in(12e9), "memory_bytes is 12000000000.0"),
        (lambda: ModelSpec("any", 0, 1, 1, 1), "num_layers is 0"),
        (lambda: ModelSpec("any", 1, 8, 3, 1), "8 query heads are not a multiple of 3 KV heads"),
        (lambda: ModelSpec("any", 1, 1, 1, 1, v_head_size=-1), "v_head_size is -1"),
        (lambda: ModelSpec("any", 1, 1, 1, 1, v_head_size=False), "v_head_size is False"),
        (lambda: ModelSpec("any", 1, 1, 1, 1, v_head_size=0), "v_head_size is 0"),
        (lambda: ModelSpec("any", 1, 1, 1, 1, dtype="half a byte"), "'half a byte'"),
    ],
)
def test_an_argument_out_of_range_is_refused_by_name(call, named):
    with pytest.raises(BadConfig) as refusal:
        call()
    assert named in str(refusal.value)


def test_a_config_without_a_dtype_is_read_and_asks_for_one_when_bytes_are_wanted():
    spec = ModelSpec.from_config(
        {"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12, "n_positions": 1024}
    )
    assert spec.max_context == 1024
    assert spec.kv_bytes_per_token("float16") == 36_864
    with pytest.raises(BadConfig, match="gpt2 names no dtype"):
        spec.kv_bytes_per_token()


def test_a_memory_of_nothing_holds_nothing():
    assert OPT.tokens_in(0) == OPT.blocks_in(0, 16) == 0


def test_a_config_file_is_read_as_its_contents(tmp_path):
    file = tmp_path / "config.json"
    file.write_text(json.dumps(SIZED[0]["config"]))
    assert ModelSpec.from_file(file) == ModelSpec.from_config(SIZED[0]["config"])


def test_a_byte_order_mark_before_a_config_is_no_part_of_it(tmp_path):
    file = tmp_path / "config.json"
    file.write_text(json.dumps(SIZED[0]["config"]), encoding="utf-8-sig")
    assert ModelSpec.from_file(file) == ModelSpec.from_config(SIZED[0]["config"])


@pytest.mark.parametrize("path", ["", "missing.json", "missing.gguf", Path(__file__).parent, 7, None])
def test_what_is_no_file_is_refused(path):
    with pytest.raises(BadConfig) as refusal:
        ModelSpec.from_file(path)
    assert repr(path) in str(refusal.value)
    assert "is not a file" in str(refusal.value)


@pytest.mark.parametrize(("text", "named"), [("{", "not JSON"), ("[40]", "list")])
def test_a_file_that_is_no_config_is_refused_by_its_path(tmp_path, text, named):
    file = tmp_path / "config.json"
    file.write_text(text)
    with pytest.raises(BadConfig) as refusal:
        ModelSpec.from_file(file)
    assert str(file) in str(refusal.value)
    assert named in str(refusal.value)
