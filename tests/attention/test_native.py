"""The C backend's own laws: the bits of a row depend on its query and its context, and on nothing else.

They are collected where there is a C compiler.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor

from kvlib.attention import attend, new_cache, write
from kvlib.attention import native as native_attention
from kvlib.bench.kernels.problems import BOUNDS, Case, build, error
from kvlib.errors import BadInput
from kvlib.native import build as native_build
from kvlib.native.kernels import declare

from .cases import GRID

CONTEXT = 61


def rows_of(chunks: list[int], block_size: int, others: int = 0) -> Tensor:
    """One text of CONTEXT tokens, read in `chunks`, beside `others` sequences that decode -> its rows."""
    random = torch.Generator().manual_seed(0)
    query = torch.randn(CONTEXT, 6, 48, generator=random)
    key, value = torch.randn(2, CONTEXT, 2, 48, generator=random)
    num_blocks = -(-CONTEXT // block_size)
    blocks = torch.randperm(num_blocks, generator=random) + 1
    positions = torch.arange(CONTEXT)
    slots = blocks[positions // block_size] * block_size + positions % block_size
    [(key_cache, value_cache, *_)] = new_cache(1, num_blocks, block_size, 2, 48)
    rows, start = [], 0
    for chunk in chunks:
        new = slice(start, start + chunk)
        write(key[new], value[new], key_cache, value_cache, slots[new])
        start += chunk
        output = attend(
            torch.cat([torch.randn(others, 6, 48, generator=random), query[new]]),
            key_cache,
            value_cache,
            block_tables=blocks.expand(others + 1, -1),
            context_lens=torch.tensor([1] * others + [start]),
            query_start_loc=torch.tensor([*range(others + 1), others + chunk]),
            scale=48**-0.5,
            backend="native",
        )
        rows.append(output[others:])
    return torch.cat(rows)


@pytest.mark.parametrize("block_size", [1, 3, 16, 64])
@pytest.mark.parametrize("chunks", [[CONTEXT], [1] * CONTEXT, [40, 1, 20], [7, 33, 21]], ids=str)
@pytest.mark.parametrize("others", [0, 5])
def test_a_row_has_the_same_bits_in_any_chunk_any_block_and_any_company(
    block_size: int, chunks: list[int], others: int
):
    assert torch.equal(rows_of(chunks, block_size, others), rows_of([CONTEXT], 16))


@pytest.mark.parametrize("num_threads", [1, 2, 5])
def test_threads_change_no_bit(num_threads: int):
    expected = rows_of([CONTEXT], 16)
    torch.set_num_threads(num_threads)
    try:
        assert torch.equal(rows_of([CONTEXT], 16), expected)
    finally:
        torch.set_num_threads(1)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_it_reads_float32_only_and_names_another_backend(dtype: torch.dtype):
    problem = build(Case(((1, 5),), 4, 1, 1, 64, dtype=dtype))
    with pytest.raises(BadInput, match=f"query is {dtype} on cpu; backend 'native' takes torch.float32.*take 'gather'"):
        attend(*problem[:3], **problem.tables, scale=problem.scale, backend="native")


def test_a_value_that_is_no_number_stays_one():
    problem = build(Case(((1, 5), (1, 5)), 4, 1, 1, 64))
    query = problem.query.clone()
    query[0, 0, 0] = torch.nan
    output = attend(query, *problem[1:3], **problem.tables, scale=problem.scale, backend="native")
    assert output[0].isnan().all()
    assert error(output[1:], problem.expected[1:]) <= BOUNDS[torch.float32]


# Each reads no slot that the right code would not.
FAULTS = {
    "causal off by one": ("len = c->lens[row]", "len = c->lens[row] - (c->lens[row] > 1)"),
    "wrong KV head": ("i / c->heads, i % c->heads", "i / c->heads, (i + 1) % c->heads"),
    "the repeated last token counted": ("*= start + i < len", "*= 1"),
    "sums not rescaled": ("VEC(out + g * size + d) * keep[g]", "VEC(out + g * size + d)"),
    "total not rescaled": ("total[g] *= keep[g][0]", "total[g] *= 1"),
    "scale left out": ("* c->scale", "* 1"),
    "old maximum forgotten": ("top[g] = -3e38f", "top[g] = 3e38f"),
    "not divided by the sum": ("/= total[i / size]", "/= 1"),
    "divided by the sum of another head": ("/= total[i / size]", "/= total[0]"),
    "values taken from the keys": ("VEC(c->value", "VEC(c->key"),
    "slot of the next token": ("token % width *", "(token + 1 < len ? token + 1 : token) % width *"),
    "table of another sequence": ("c->tables[row]", "c->tables[row - row % 2]"),
    "a tail of the head left out": ("d < size; d += LANES) {", "d < 32; d += LANES) {"),
    "a coarse exponential": ("1.6666665459e-1f", "1.6e-1f"),
    "neighbours that are not": ("score[g][2 * i + 1]", "score[g][2 * i]"),
}


@pytest.fixture
def compiled_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator:
    """Puts the kernels that some source compiles to in the place of the right ones."""

    def install(source: str) -> None:
        path = tmp_path / "kernels.c"
        path.write_text(source)
        monkeypatch.setattr(native_build, "SOURCE", path)
        library = declare(native_build.compiled())
        monkeypatch.setattr(native_attention.kernels, "library", lambda: library)

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(native_build, "BASE", ("-O1", *native_build.BASE[1:]))
    return install


def catches(name: str) -> bool:
    case, problem = GRID[name], build(GRID[name])
    output = attend(*problem[:3], **problem.tables, scale=problem.scale, backend="native")
    return error(output, problem.expected) > BOUNDS[case.dtype]


FLOAT32 = [name for name, case in GRID.items() if case.dtype == torch.float32]


@pytest.mark.parametrize("name", FAULTS)
def test_the_grid_catches_the_fault(name: str, compiled_from):
    source, (old, new) = native_build.SOURCE.read_text(), FAULTS[name]
    assert old in source, f"{old!r} is not in kernels.c: the fault has to follow the code"
    compiled_from(source.replace(old, new))
    assert any(catches(case) for case in FLOAT32)


def test_a_copy_without_a_fault_is_not_caught(compiled_from):
    compiled_from(native_build.SOURCE.read_text())
    assert not any(catches(case) for case in FLOAT32)
