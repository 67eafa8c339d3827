"""The kernels as Triton compiles them for five cards, held in a file: its laws, and a few compiled anew."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import triton

from kvlib.bench.kernels.compiled import CARDS, as_text, measure
from kvlib.bench.kernels.variants import variants_of
from kvlib.errors import BadConfig

FILE = Path(__file__).parents[3] / "data" / "measurements" / "triton-compiled.json"
MEASURED = json.loads(FILE.read_text())
ROWS = MEASURED["rows"]

ANEW = [
    ("T4", "decode, float16"),
    ("A100", "decode, float16"),
    ("A100", "decode, float16, odd strides"),
    ("A100", "prefill, float16, float8_e4m3fn cache"),
    ("L4", "decode, float16, float8_e4m3fn cache"),
    ("H100", "prefill, float16"),
    ("H100", "write, float16, float8_e4m3fn cache"),
    ("B200", "combine, float16"),
]
PROGRAM = """
import json, sys
from kvlib.bench.kernels.compiled import CARDS, compile_variant
from kvlib.bench.kernels.variants import VARIANTS
cards, variants = {card.name: card for card in CARDS}, {variant.name: variant for variant in VARIANTS}
print(json.dumps([compile_variant(variants[name], cards[card]) for card, name in json.loads(sys.argv[1])]))
"""


def is_odd(row: dict) -> bool:
    """Heads at odd strides: the one variant that is there to be slow."""
    return row["variant"].endswith("odd strides")


def has_tensor_cores(row: dict) -> bool:
    return row["card"] != "T4"


def attends(row: dict) -> bool:
    return row["kernel"] in ("decode", "prefill")


LAWS = {
    "where there are tensor cores no register is spilled": lambda row: (
        row["stack_bytes"] == 0 or is_odd(row) or not has_tensor_cores(row)
    ),
    "a program has the shared memory that it takes": lambda row: row["shared_bytes"] <= row["shared_limit"],
    "what the launch expects it to take is not less, and not twice as much": lambda row: (
        not attends(row) or is_odd(row) or row["shared_bytes"] <= row["shared_bound"] <= 2 * row["shared_bytes"]
    ),
    "keys and values are copied asynchronously where more than one tile is under way": lambda row: (
        not attends(row)
        or is_odd(row)
        or (row["cp_async"] > 0) == (has_tensor_cores(row) and row["tiles"]["num_stages"] > 1)
    ),
    "tensor cores multiply half precisions and leave float32 alone": lambda row: (
        not attends(row)
        or (row["mma"] + row["wgmma"] + row["tcgen05"] > 0)
        == (has_tensor_cores(row) and "float32" not in row["variant"])
    ),
}


@pytest.mark.parametrize("law", LAWS)
def test_every_variant_on_every_card_keeps_the_law_that(law: str):
    assert [f"{row['card']}, {row['variant']}" for row in ROWS if not LAWS[law](row)] == []


def test_the_file_has_every_variant_that_each_card_computes():
    expected = [(card.name, variant.name) for card in CARDS for variant in variants_of(card)]
    assert [(row["card"], row["variant"]) for row in ROWS] == expected
    assert len(set(expected)) == len(expected)


def test_some_variants_compiled_anew_keep_the_laws_and_are_as_the_file_has_them(tmp_path: Path):
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment["TRITON_CACHE_DIR"] = str(tmp_path)
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(ANEW)], capture_output=True, text=True, env=environment
    )
    assert ended.returncode == 0, ended.stderr
    anew = json.loads(ended.stdout)
    assert [law for law, holds in LAWS.items() for row in anew if not holds(row)] == []
    if triton.__version__ == MEASURED["versions"]["triton"]:  # another compiles otherwise
        recorded = {(row["card"], row["variant"]): row for row in ROWS}
        assert anew == [recorded[which] for which in ANEW]


def test_at_odd_strides_each_number_is_loaded_by_itself():
    recorded = {(row["card"], row["variant"]): row for row in ROWS}
    for card in CARDS:
        even, odd = (recorded[card.name, name] for name in ("decode, float16", "decode, float16, odd strides"))
        assert odd["loads"] > 5 * even["loads"]
        assert odd["cp_async"] == 0


def test_the_report_has_a_line_for_each_row():
    lines = as_text(MEASURED).splitlines()
    for row in ROWS:
        assert any(line.startswith(row["variant"]) and f" {row['registers']} " in line for line in lines)


def test_where_triton_interprets_nothing_is_compiled():
    with pytest.raises(BadConfig, match=r"TRITON_INTERPRET is set.*start without it"):
        measure()
