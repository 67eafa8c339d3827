"""What the kernels do not take is named, with what works instead, and nothing is written."""

import os
import subprocess
import sys

import pytest
import torch
from torch import Tensor

from kvlib.attention import attend, new_cache
from kvlib.attention.triton import Tiles, Workspace, copy_blocks, naive, paged_decode, paged_prefill, write_cache
from kvlib.attention.triton.device import A100, T4, Device
from kvlib.attention.triton.inputs import check_computable
from kvlib.attention.triton.tiles import MAX_GROUP, decode_tiles, prefill_tiles
from kvlib.errors import BadConfig, BadInput


def decode(**changed: object) -> Tensor:
    """Two sequences of 20 and 3 tokens in blocks of 16, with `changed` arguments."""
    arguments = {
        "query": torch.ones(2, 4, 32),
        "key_cache": torch.ones(5, 16, 2, 32),
        "value_cache": torch.ones(5, 16, 2, 32),
        "block_tables": torch.tensor([[1, 2], [3, 0]]),
        "context_lens": torch.tensor([20, 3]),
        "scale": 0.1,
        "max_context_len": 20,
    }
    return paged_decode(**{**arguments, **changed})


REFUSED = {
    "query of another dtype": (
        {"query": torch.ones(2, 4, 32, dtype=torch.float16)},
        "query has dtype torch.float16; expected torch.float32, that of the caches",
    ),
    "caches of two dtypes": (
        {"value_cache": torch.ones(5, 16, 2, 32, dtype=torch.float16)},
        "value_cache has shape .* torch.float16; expected .* torch.float32",
    ),
    "a cache whose heads do not lie in a row": (
        {"value_cache": torch.ones(5, 16, 2, 64)[..., ::2]},
        r"value_cache has stride 2 in its last dimension.*value_cache.contiguous\(\)",
    ),
    "a query whose heads do not lie in a row": (
        {"query": torch.ones(2, 4, 64)[..., ::2]},
        r"query has stride 2 in its last dimension",
    ),
    "a length above the table": (
        {"max_context_len": 33},
        "max_context_len is 33, but block_tables has 2 columns for blocks of 16, which hold 32 tokens",
    ),
    "head size 257": (
        {
            "query": torch.ones(2, 4, 257),
            "key_cache": torch.ones(5, 16, 2, 257),
            "value_cache": torch.ones(5, 16, 2, 257),
        },
        'head_size is 257; the Triton kernels take 1 to 256: take backend "gather"',
    ),
    "a group above the most": (
        {"query": torch.ones(2, 2 * MAX_GROUP + 2, 32)},
        f"query has 258 heads for 2 KV heads; the Triton kernels take groups of at most {MAX_GROUP}",
    ),
    "heads that do not divide": ({"query": torch.ones(2, 3, 32)}, "query has shape .*multiple of 2 heads"),
    "too few rows": ({"query": torch.ones(1, 4, 32)}, "query has 1 rows; expected 2"),
    "float64": (
        {
            name: torch.ones(shape, dtype=torch.float64)
            for name, shape in {"query": (2, 4, 32), "key_cache": (5, 16, 2, 32), "value_cache": (5, 16, 2, 32)}.items()
        },
        'query has dtype torch.float64; .*take backend "dense"',
    ),
    "bfloat16 in the interpreter": (
        {
            name: torch.ones(shape, dtype=torch.bfloat16)
            for name, shape in {"query": (2, 4, 32), "key_cache": (5, 16, 2, 32), "value_cache": (5, 16, 2, 32)}.items()
        },
        "query has dtype torch.bfloat16, whose arithmetic Triton's interpreter gets wrong; take torch.float16",
    ),
    "e5m2, which the cache does not store": (
        {name: torch.ones(5, 16, 2, 32).to(torch.float8_e5m2) for name in ("key_cache", "value_cache")},
        "key_cache has dtype torch.float8_e5m2; expected one of",
    ),
    "codes without their scale": (
        {name: torch.ones(5, 16, 2, 32).to(torch.int8) for name in ("key_cache", "value_cache")},
        "k_scale is of type NoneType for a cache of torch.int8; expected a float32 tensor",
    ),
    "a scale as a float": (
        {
            **{name: torch.ones(5, 16, 2, 32).to(torch.int8) for name in ("key_cache", "value_cache")},
            "k_scale": 1.0,
            "v_scale": torch.ones(2),
        },
        r"k_scale is of type float for a cache of torch.int8; expected a float32 tensor \[2\]",
    ),
    "a scale for numbers as they are": ({"v_scale": torch.ones(2)}, "v_scale is given, but a cache of torch.float32"),
    "a table of floats": ({"block_tables": torch.ones(2, 2)}, "block_tables has dtype torch.float32"),
    "a table in columns": (
        {"block_tables": torch.tensor([[1, 3], [2, 0]]).T},
        r"block_tables has stride 2 in its last dimension; give block_tables.contiguous\(\)",
    ),
    "lengths of other sequences": (
        {"context_lens": torch.tensor([20])},
        r"context_lens has shape \[1\]; expected \[2\]",
    ),
    "a tensor elsewhere": (
        {"block_tables": torch.ones(2, 2, dtype=torch.int64, device="meta")},
        "block_tables is on meta and query on cpu; expected one device",
    ),
    "window 0": ({"window": 0}, "window is 0"),
    "softcap 0": ({"softcap": 0.0}, "softcap is 0.0"),
    "scale 0": ({"scale": 0.0}, "scale is 0.0"),
    "no split": ({"num_splits": 0}, "num_splits is 0"),
    "output of another shape": ({"output": torch.ones(2, 4, 16)}, "output has shape .*expected"),
    "a workspace too small": (
        {"num_splits": 4, "workspace": Workspace(1, 4, 4, 32, "cpu")},
        "workspace holds 528 numbers on cpu; 2 sequences of 4 heads of size 32 in 4 splits take 1056",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_decode_does_not_take_is_named(name: str) -> None:
    changed, message = REFUSED[name]
    with pytest.raises(BadInput, match=message):
        decode(**changed)


def test_a_refused_call_writes_nothing() -> None:
    output = torch.full((2, 4, 32), 7.0)
    with pytest.raises(BadInput):
        decode(output=output, max_context_len=33)
    with pytest.raises(BadInput):
        decode(output=output, block_tables=torch.tensor([[1, 9], [3, 0]]), debug=True)
    assert (output == 7).all()


def test_debug_names_a_table_entry_outside_the_cache_and_a_context_above_the_longest() -> None:
    with pytest.raises(BadInput, match="block_tables names block 9 inside a context; expected at most 4"):
        decode(block_tables=torch.tensor([[1, 9], [3, 0]]), debug=True)
    with pytest.raises(BadInput, match=r"block_tables\[0, 1\] is 0, inside the context of sequence 0"):
        decode(block_tables=torch.tensor([[1, 0], [3, 0]]), debug=True)
    with pytest.raises(BadInput, match="max_context_len is 10, but a context has 20 tokens"):
        decode(max_context_len=10, debug=True)
    assert decode(debug=True).shape == (2, 4, 32)


def test_debug_names_rows_beyond_the_query() -> None:
    starts, output = torch.tensor([0, 1, 3]), torch.zeros(2, 4, 32)
    with pytest.raises(BadInput, match="query_start_loc ends with 3, but query has 2 rows"):
        decode(query_start_loc=starts, output=output, debug=True)


def test_a_table_without_columns_is_refused() -> None:
    query, cache = torch.ones(2, 4, 32), torch.ones(5, 16, 2, 32)
    tables = {"block_tables": torch.zeros(1, 0, dtype=torch.int64), "context_lens": torch.tensor([3])}
    with pytest.raises(BadInput, match=r"block_tables has shape \[1, 0\]; expected a column"):
        paged_prefill(query, cache, cache, **tables, query_start_loc=torch.tensor([0, 2]), max_query_len=2, scale=1.0)


@pytest.mark.parametrize(
    ("tiles", "message"),
    [
        ((16, 64, 4, 2), r"tiles is \(16, 64, 4, 2\); give Tiles\("),
        (Tiles(16, 64, 3, 2), "tiles.num_warps is 3; expected a power of two"),
        (Tiles(16, 64, 4, 0), "tiles.num_stages is 0"),
        (Tiles(16, 64, 4, None), "tiles.num_stages is None"),
    ],
)
def test_tiles_that_no_launch_can_have_are_named(tiles: object, message: str) -> None:
    with pytest.raises(BadConfig, match=message):
        decode(tiles=tiles)


@pytest.mark.parametrize("number", [10**400, 1e300, float("inf"), float("nan")])
def test_a_cap_or_scale_beyond_float32_is_refused(number: float) -> None:
    for name in ("softcap", "scale"):
        with pytest.raises(BadInput, match=f"{name} is "):
            decode(**{name: number})


def test_debug_of_a_prefill_names_more_new_tokens_than_the_context_has() -> None:
    query, cache = torch.ones(5, 4, 32), torch.ones(5, 16, 2, 32)
    tables = {"block_tables": torch.tensor([[1]]), "query_start_loc": torch.tensor([0, 5]), "max_query_len": 5}
    with pytest.raises(BadInput, match=r"context_lens\[0\] is 3, but sequence 0 has 5 query rows"):
        paged_prefill(query, cache, cache, **tables, context_lens=torch.tensor([3]), scale=1.0, debug=True)


def test_attend_checks_the_numbers_of_its_tables_for_the_kernels_too() -> None:
    query, cache = torch.ones(1, 4, 32), torch.ones(5, 16, 2, 32)
    tables = {"context_lens": torch.tensor([3]), "query_start_loc": torch.tensor([0, 1])}
    with pytest.raises(BadInput, match="block_tables names block 9"):
        attend(query, cache, cache, block_tables=torch.tensor([[9]]), **tables, scale=1.0, backend="triton")
    tables["context_lens"] = torch.tensor([17])
    with pytest.raises(BadInput, match="block_tables has 1 columns, but context_lens"):
        attend(query, cache, cache, block_tables=torch.tensor([[1]]), **tables, scale=1.0, backend="triton")


@pytest.mark.parametrize("tiles", [Tiles(1, 64, 4, 2), Tiles(16, 8, 4, 2), Tiles(24, 64, 4, 2), Tiles(16, 48, 4, 2)])
def test_tiles_that_a_kernel_cannot_have_are_named(tiles: Tiles) -> None:
    with pytest.raises(BadConfig, match=r"tiles\.(rows|tokens) is \d+; expected a power of two"):
        decode(tiles=tiles)


def test_tiles_larger_than_the_shared_memory_are_refused_before_anything_is_compiled() -> None:
    with pytest.raises(BadConfig, match=r"tiles of 16 rows and 1024 tokens .* has 166912: give smaller tiles"):
        decode(tiles=Tiles(16, 1024, 4, 2))
    small = Device("a small device", (8, 0), 1, 8 * 1024)
    for choose in (decode_tiles, prefill_tiles):
        with pytest.raises(BadConfig, match="a program on a small device has 8192"):
            choose(small, 256, 4, torch.float16, torch.float16)


def test_bfloat16_is_refused_below_capability_8(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kvlib.attention.triton.inputs.INTERPRETED", False)
    query = torch.ones(1, dtype=torch.bfloat16)
    with pytest.raises(BadInput, match=r"needs compute capability 8\.0; T4 has 7\.5: take torch.float16"):
        check_computable("query", query, T4)
    check_computable("query", query, A100)


def test_the_first_kernel_takes_no_codes() -> None:
    codes = torch.ones(5, 16, 2, 32, dtype=torch.int8)
    with pytest.raises(BadInput, match=r"key_cache has dtype torch\.int8; the first kernel reads numbers as they are"):
        naive(
            torch.ones(1, 4, 32), codes, codes,
            block_tables=torch.tensor([[1]]), context_lens=torch.tensor([3]), scale=1.0,
        )  # fmt: skip


def test_the_first_kernel_takes_a_row_for_each_table() -> None:
    cache = torch.ones(5, 16, 2, 32)
    with pytest.raises(BadInput, match="query has 2 rows; expected 1, one for each row of block_tables"):
        naive(
            torch.ones(2, 4, 32), cache, cache,
            block_tables=torch.tensor([[1]]), context_lens=torch.tensor([3]), scale=1.0,
        )  # fmt: skip


def test_writing_refuses_what_torch_s_own_write_refuses_but_leaves_out_slots_outside_the_cache() -> None:
    key, layer = torch.ones(3, 2, 8), new_cache(1, 2, 4, 2, 8)[0]
    with pytest.raises(BadInput, match=r"key has shape \[3, 2, 8\]; expected \[2, 2, 8\]"):
        write_cache(key, key, layer.key, layer.value, torch.tensor([5, 6]))
    with pytest.raises(BadInput, match="slot_mapping has shape"):
        write_cache(key, key, layer.key, layer.value, torch.tensor([5, 6, 7], dtype=torch.int32))
    with pytest.raises(BadInput, match="k_scale is given"):
        write_cache(key, key, layer.key, layer.value, torch.tensor([5, 6, 7]), k_scale=torch.ones(2))
    write_cache(key, key, layer.key, layer.value, torch.tensor([-1, 12, 5]))
    assert layer.key.flatten(0, 1).sum((1, 2)).tolist() == [0] * 5 + [16] + [0] * 6


def test_copies_that_would_depend_on_their_order_are_refused() -> None:
    caches = new_cache(1, 4, 2, 1, 8)
    for copies in ([(1, 2), (2, 3)], [(1, 3), (2, 3)]):
        with pytest.raises(BadInput, match="expected no block as a target twice or as both source and target"):
            copy_blocks(caches, copies)
    with pytest.raises(BadInput, match="block 0 is the null block"):
        copy_blocks(caches, [(1, 0)])


def run(program: str, **environment: str) -> str:
    """What a program prints in a process of its own, where Triton reads the environment anew."""
    kept = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={**kept, **environment}
    )
    return result.stdout + result.stderr


ATTEND = """
import torch
from kvlib.attention import attend
cache = torch.ones(2, 16, 1, 32)
tables = dict(block_tables=torch.tensor([[1]]), context_lens=torch.tensor([3]), query_start_loc=torch.tensor([0, 1]))
print(attend(torch.ones(1, 1, 32), cache, cache, **tables, scale=1.0, backend="triton").sum())
"""


def test_on_a_cpu_the_call_says_how_to_run_the_interpreter_and_it_then_runs() -> None:
    said = run(ATTEND)
    assert "BadInput: a tensor is on cpu, and Triton kernels run on an NVIDIA GPU; set TRITON_INTERPRET=1" in said
    assert "tensor(32.)" in run(ATTEND, TRITON_INTERPRET="1")


def test_the_interpreter_asked_for_too_late_is_named() -> None:
    late = f"import os, triton\nos.environ['TRITON_INTERPRET'] = '1'\n{ATTEND}"
    assert "BadConfig: TRITON_INTERPRET was set after Triton was imported; " in run(late)


def test_an_interpreter_that_this_numpy_breaks_is_named() -> None:
    old = f"import numpy, triton\ntriton.__version__, numpy.__version__ = '3.6.0', '2.5.2'\n{ATTEND}"
    said = run(old, TRITON_INTERPRET="1")
    assert "BadConfig: the interpreter of Triton 3.6.0 fails with NumPy 2.5.2; install" in said


def test_without_triton_the_measurements_say_what_to_install() -> None:
    said = run("""
import sys
sys.modules["triton"] = None
from kvlib.cli import main
for words in (["gpu"], ["gpu", "--interpret"], ["compile"], ["faults"]):
    try:
        main(["bench", *words])
    except SystemExit as ended:
        print(ended)
""")
    assert said.count("kvlib: kvlib.attention.triton needs triton") == 4
    assert "Traceback" not in said


def test_without_triton_the_backend_says_what_to_install() -> None:
    said = run(f"import sys\nsys.modules['triton'] = None\n{ATTEND}")
    assert "MissingPackage: kvlib.attention.triton needs triton" in said
    assert 'pip install "triton>=3.6,<3.10", or take backend "gather"' in said
