"""Wrong variants of the code, made by one edit each: the grid has to catch every one."""

import inspect
from types import ModuleType

import pytest

from kvlib.attention import backends, batch, gather, paged, reference
from kvlib.attention.scoring import Scoring
from kvlib.bench.kernels.problems import BOUNDS, build, error

from .cases import GRID, MASKED_GRID, QUANTISED_BACKENDS, QUANTISED_GRID

MODULES = {"dense": reference, "paged": paged, "gather": gather, "batch": batch}

FAULTS = {
    "dense: causal off by one": ("dense", "position <= position[", "position < position["),
    "dense: later positions visible": ("dense", "masked_fill(~visible", "masked_fill(~visible & False"),
    "dense: wrong KV head": ("dense", ") // (num_heads // num_kv_heads)", ") % num_kv_heads"),
    "dense: last block read to its end": ("dense", "[:context_len]", ""),
    "dense: scale left out": ("dense", "scoring.scale * ", ""),
    "dense: weights not divided by their sum": ("dense", "weight / weight.sum(-1, keepdim=True)", "weight"),
    "dense: computed in the query's own half precision": (
        "dense",
        "torch.promote_types(query.dtype, torch.float32)",
        "query.dtype",
    ),
    "paged: causal off by one": ("paged", "> position", "> 1 + position"),
    "paged: chunk counted from the start": (
        "paged",
        "arange(first, context_len",
        "arange(num_queries",
    ),
    "paged: wrong KV head": (
        "paged",
        "unflatten(1, (num_kv_heads, -1))",
        "unflatten(1, (-1, num_kv_heads)).transpose(1, 2)",
    ),
    "paged: last block read to its end": ("paged", "min(block_size, context_len - start)", "block_size"),
    "paged: accumulator not rescaled": ("paged", "accumulator * rescale", "accumulator"),
    "paged: running sum not rescaled": ("paged", "running_sum * rescale", "running_sum"),
    "paged: old maximum forgotten": (
        "paged",
        "torch.maximum(running_max, score.amax(-1, keepdim=True))",
        "score.amax(-1, keepdim=True)",
    ),
    "paged: maximum never updated": ("paged", "running_max = new_max", "running_max = running_max"),
    "paged: block index shifted": ("paged", "blocks.tolist()", "[0, *blocks.tolist()[:-1]]"),
    "paged: logical block taken for the physical": ("paged", "key_cache[physical_block", "key_cache[logical_block"),
    "gather: last key block read to its end": ("gather", "key.index_fill_(0, group.unseen, 0)", "pass"),
    "gather: last value block read to its end": ("gather", "value.index_fill_(0, group.unseen, 0)", "pass"),
    "gather: padding not masked": ("gather", "attn_mask=group.visible", "attn_mask=None"),
    "gather: decode mask off by one": ("gather", "slots < context_lens", "slots <= context_lens"),
    "gather: a chunk taken for a whole prompt": (
        "gather",
        "if sequence.num_queries < context_len or scoring.window is not None:",
        "if False:",
    ),
    "gather: chunk mask off by one": ("gather", "tril(computed", "tril(1 + computed"),
    "gather: wrong KV head": (
        "gather",
        "query.unflatten(1, (num_kv_heads, -1))",
        "query.unflatten(1, (-1, num_kv_heads)).transpose(1, 2)",
    ),
    "gather: rows of a group left in order of length": (
        "gather",
        "sequence.rows.start for sequence in group",
        "row for row in range(len(group))",
    ),
    "gather: chunks left out": (
        "gather",
        "if sequence.num_queries > 1:",
        "if sequence.num_queries == sequence.context_len > 1:",
    ),
    "dense: window one too long": (
        "dense",
        "> position[-num_queries:, None] - ",
        ">= position[-num_queries:, None] - ",
    ),
    "dense: scores capped as they are": ("dense", "torch.tanh(score / scoring.softcap)", "torch.tanh(score)"),
    "paged: window one too long": (
        "paged",
        "<= position[:, None, None, None] - ",
        "< position[:, None, None, None] - ",
    ),
    "paged: a block of the window left out": (
        "paged",
        "first - scoring.window + 1",
        "first - scoring.window + 1 + block_size",
    ),
    "paged: -inf less -inf": ("paged", 'new_max.masked_fill(new_max == float("-inf"), 0)', "new_max"),
    "paged: scores capped as they are": ("paged", "torch.tanh(score / scoring.softcap)", "torch.tanh(score)"),
    "gather: window of a decode row one too long": (
        "gather",
        "context_lens[:, None] - window",
        "context_lens[:, None] - window - 1",
    ),
    "gather: window of a chunk one too long": ("gather", "computed - scoring.window + 1", "computed - scoring.window"),
    "batch: context 0 unguarded": ("batch", " and context_len > 0", ""),
    "batch: table one block short": ("batch", "table[:width]", "table[: width - 1]"),
    "batch: block index shifted": ("batch", "table[:width]", "table[1 : width + 1]"),
    "batch: partial last block forgotten": ("batch", "-(-context_len // block_size)", "context_len // block_size"),
    "batch: rows shifted": ("batch", "slice(start, stop)", "slice(start + 1, stop + 1)"),
}

QUANTISED_FAULTS = {
    "k_scale ignored": ("_per_head(query, scoring.k_scale)", "_per_head(query, scoring.k_scale / scoring.k_scale)"),
    "v_scale ignored": ("_per_head(output, scoring.v_scale)", "output"),
    "k_scale and v_scale swapped": (
        "scaled = _per",
        "scoring = scoring._replace(k_scale=scoring.v_scale, v_scale=scoring.k_scale); scaled = _per",
    ),
    "k_scale taken for v_scale too": ("_per_head(output, scoring.v_scale)", "_per_head(output, scoring.k_scale)"),
    "one k_scale for all heads": ("_per_head(query, scoring.k_scale)", "query * scoring.k_scale.max()[None]"),
    "one v_scale for all heads": ("_per_head(output, scoring.v_scale)", "output * scoring.v_scale[0]"),
    "scales of the wrong heads": (
        "x.unflatten(1, (len(scale), -1)) * scale[:, None, None]",
        "x.unflatten(1, (-1, len(scale))) * scale[:, None]",
    ),
    "divided by k_scale": ("_per_head(query, scoring.k_scale)", "_per_head(query, 1 / scoring.k_scale)"),
    "output in float32": (".to(query.dtype)", ""),
}


def edited(module: ModuleType, old: str, new: str) -> ModuleType:
    source = inspect.getsource(module)
    assert source.count(old) >= 1, f"{old!r} is not in {module.__name__}: the fault has to follow the code"
    copy = ModuleType(module.__name__)
    exec(compile(source.replace(old, new), module.__file__, "exec"), copy.__dict__)
    return copy


PLAIN_GRID = GRID | {name: case for name, case in MASKED_GRID.items() if not case.quantised}


def catches(case_name: str, backend: str, attention: ModuleType, batches: ModuleType) -> bool:
    case, problem = PLAIN_GRID[case_name], build(PLAIN_GRID[case_name])
    try:
        tables = batches.Batch(*problem.tables.values(), block_size=case.block_size)
        output = getattr(attention, backend)(*problem[:3], tables, Scoring(problem.scale, **problem.masks))
    except (IndexError, RuntimeError, ValueError):
        return True
    return error(output, problem.expected) > BOUNDS[case.dtype]


def names_for(backend: str) -> list[str]:
    return [name for name, case in PLAIN_GRID.items() if backend != "gather" or case.softcap is None]


@pytest.mark.parametrize("name", FAULTS)
def test_the_grid_catches_the_fault(name: str):
    module, old, new = FAULTS[name]
    wrong = edited(MODULES[module], old, new)
    if module == "batch":
        assert any(catches(case_name, "paged", paged, wrong) for case_name in GRID)
    else:
        assert any(catches(case_name, module, wrong, batch) for case_name in names_for(module))


def catches_over_codes(case_name: str, backend: str, wrong: ModuleType) -> bool:
    case, problem = QUANTISED_GRID[case_name], build(QUANTISED_GRID[case_name])
    output = wrong.attend(*problem[:3], **problem.tables, **problem.scales, scale=problem.scale, backend=backend)
    return output.dtype != case.dtype or error(output, problem.expected) > BOUNDS[case.dtype]


@pytest.mark.parametrize("backend", QUANTISED_BACKENDS)
@pytest.mark.parametrize("name", QUANTISED_FAULTS)
def test_the_quantised_grid_catches_the_fault(name: str, backend: str):
    wrong = edited(backends, *QUANTISED_FAULTS[name])
    assert any(catches_over_codes(case_name, backend, wrong) for case_name in QUANTISED_GRID)


@pytest.mark.parametrize("backend", QUANTISED_BACKENDS)
def test_a_copy_over_codes_without_a_fault_is_not_caught(backend: str):
    right = edited(backends, "scale", "scale")
    assert not any(catches_over_codes(case_name, backend, right) for case_name in QUANTISED_GRID)


@pytest.mark.parametrize("backend", ["dense", "paged", "gather"])
def test_a_copy_without_a_fault_is_not_caught(backend: str):
    right = edited(MODULES[backend], "scale", "scale")
    same_batch = edited(batch, "block_size", "block_size")
    assert not any(catches(case_name, backend, right, same_batch) for case_name in names_for(backend))
