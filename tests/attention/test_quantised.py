"""Storing numbers as codes, and the laws of attention over them."""

import math
from itertools import accumulate

import pytest
import torch
from torch import Tensor

from kvlib.attention import attend, new_cache, quantised, write
from kvlib.attention.quantised import dequantise, quantise
from kvlib.bench.kernels.grid import QUANTISED, batches
from kvlib.bench.kernels.layouts import LAYOUTS, layouts_of, poisoned_cache
from kvlib.bench.kernels.problems import Case, build
from kvlib.errors import BadConfig, BadInput

from .cases import QUANTISED_BACKENDS
from .test_planted_faults import edited

each_dtype = pytest.mark.parametrize("dtype", QUANTISED, ids=["e4m3", "int8"])
each_backend = pytest.mark.parametrize("backend", QUANTISED_BACKENDS)

E4M3_CODES = sorted(
    {
        sign * number
        for sign in (1, -1)
        for number in (
            *(fraction * 2**-9 for fraction in range(8)),
            *((8 + fraction) * 2.0 ** (power - 3) for power in range(-6, 9) for fraction in range(8)),
        )
        if number <= 448
    }
)
"""Every number of e4m3, from its definition: three bits of fraction, powers -6 to 8, below them steps of 2 ** -9."""

CODES = {torch.float8_e4m3fn: E4M3_CODES, torch.int8: list(range(-127, 128))}
SCALES = torch.tensor([0.25, 3.0, 0.0117])


def bits(tensor: Tensor) -> Tensor:
    """The bytes of a tensor, so that NaN equals NaN."""
    return tensor.contiguous().view(torch.uint8)


def numbers(dtype: torch.dtype) -> Tensor:
    """[N, 3, 1], for the three scales: every code, the middle between every two, what is near them or far beyond."""
    codes = torch.tensor(CODES[dtype], dtype=torch.float64)
    middles = (codes[1:] + codes[:-1]) / 2
    beyond = torch.tensor([1.1, 2.0, 1e4, math.inf]) * codes[-1]
    random = torch.randn(500, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * codes[-1] / 3
    sizes = torch.cat([codes, middles, middles * 0.999, middles * 1.001, random, beyond, -beyond])
    return (sizes[:, None] * SCALES.double())[..., None]


def is_nearest(x: Tensor, stored: Tensor, dtype: torch.dtype) -> Tensor:
    """Whether each of `stored` is a code nearest to x / scale, and at a tie the one whose neighbours are odd."""
    codes = torch.tensor(CODES[dtype], dtype=torch.float64)
    scaled = (x / SCALES.double()[:, None]).clamp(codes[0], codes[-1])  # [N, 3, 1]
    distance = (scaled - codes).abs()  # [N, 3, codes]
    got = (scaled - stored.double()).abs()
    near = got <= distance.amin(-1, keepdim=True) * (1 + 1e-6) + codes[-1] * 1e-7  # x / scale is a float32
    tie = (distance == distance.amin(-1, keepdim=True)).sum(-1, keepdim=True) == 2
    even = (stored.view(torch.uint8) if dtype.is_floating_point else stored) % 2 == 0
    exact = torch.tensor([True, False, False])[:, None]  # the scale that is a power of two moves no tie
    return near & (~(tie & exact) | even)


@each_dtype
@pytest.mark.parametrize("given", [torch.float32, torch.float64])
def test_a_number_is_stored_as_the_nearest_code_and_beyond_the_last_as_the_last(dtype: torch.dtype, given: torch.dtype):
    x = numbers(dtype)
    stored = quantise(x.to(given), SCALES, dtype)
    assert stored.dtype == dtype
    assert is_nearest(x, stored, dtype).all()


EITHER = {
    "multiplied by the scale": ("/ scale[:, None]", "* scale[:, None]"),
    "scale ignored": (" / scale[:, None]", ""),
    "scales of the wrong heads": ("/ scale[:, None]", "/ scale.roll(1)[:, None]"),
    "half the range": ("limit = LARGEST[dtype]", "limit = LARGEST[dtype] / 2"),
    "divided in half precision": ("(x / scale[:, None])", "(x.half() / scale[:, None].half())"),
}
# The cast to e4m3 rounds by itself, and in newer versions of torch it has a limit too.
ONLY_INT8 = {
    "cast without a limit": (".clamp(-limit, limit)", ""),
    "limited on one side": (".clamp(-limit, limit)", ".clamp(max=limit)"),
    "-128 stored": ("clamp(-limit, limit)", "clamp(-128, limit)"),
    "fractions cut off": ("scaled.round()", "scaled"),
    "ties rounded up": ("scaled.round()", "(scaled + 0.5).floor()"),
}
FAULTS = [(dtype, *edit) for dtype in QUANTISED for edit in EITHER.values()]
FAULTS += [(torch.int8, *edit) for edit in ONLY_INT8.values()]


@pytest.mark.parametrize(
    ("dtype", "old", "new"), FAULTS, ids=[*(f"{d}-{n}" for d in ("e4m3", "int8") for n in EITHER), *ONLY_INT8]
)
def test_the_nearest_code_catches_the_fault(dtype: torch.dtype, old: str, new: str):
    x = numbers(dtype)
    wrong = edited(quantised, old, new)
    assert not is_nearest(x, wrong.quantise(x.float(), SCALES, dtype), dtype).all()


@each_dtype
def test_what_a_code_stands_for_is_stored_as_that_code(dtype: torch.dtype):
    codes = torch.tensor(CODES[dtype])[:, None, None].expand(-1, 3, 2).to(dtype)
    again = quantise(dequantise(codes, SCALES), SCALES, dtype)
    assert torch.equal(again.float(), codes.float())


def test_nan_stays_nan_in_e4m3_and_is_refused_for_int8_which_has_none():
    x = torch.tensor([1.0, math.nan, -math.inf]).view(3, 1, 1)
    stored = quantise(x, torch.ones(1), torch.float8_e4m3fn).flatten().float()
    assert stored.isnan().tolist() == [False, True, False]
    with pytest.raises(BadInput, match="a key or a value is NaN, which int8 cannot store"):
        quantise(x, torch.ones(1), torch.int8)


def test_a_write_that_is_refused_for_nan_writes_nothing():
    [(key_cache, value_cache, k_scale, v_scale)] = new_cache(1, 2, 4, 1, 2, torch.int8, scales=[(1.0, 1.0)])
    key, value = torch.ones(2, 1, 2), torch.tensor([1.0, math.nan]).expand(2, 1, 2)
    with pytest.raises(BadInput, match="NaN"):
        write(key, value, key_cache, value_cache, torch.tensor([4, 5]), k_scale=k_scale, v_scale=v_scale)
    assert key_cache.count_nonzero() == value_cache.count_nonzero() == 0


def test_a_new_quantised_cache_takes_a_byte_a_number_and_keeps_the_scales_of_each_layer():
    for dtype in QUANTISED:
        scales = [(torch.tensor([0.5, 0.25]), 2.0), (torch.tensor(3.0), torch.tensor([4.0, 5.0]))]
        caches = new_cache(2, 3, 4, 2, 8, dtype, scales=scales)
        assert [layer.key.nbytes + layer.value.nbytes for layer in caches] == [2 * 4 * 4 * 2 * 8] * 2
        kept = [(layer.key_scale.tolist(), layer.value_scale.tolist()) for layer in caches]
        assert kept == [([0.5, 0.25], [2.0, 2.0]), ([3.0, 3.0], [4.0, 5.0])]
        assert all(scale.dtype == torch.float32 for layer in caches for scale in layer[2:])


def test_a_cache_that_is_not_quantised_has_no_scales():
    assert new_cache(1, 3, 4, 2, 8)[0][2:] == (None, None)


@each_dtype
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("given", [torch.float32, torch.bfloat16])
def test_a_token_is_stored_with_the_scales_of_its_heads_in_its_slot_and_nowhere_else(
    dtype: torch.dtype, layout: str, given: torch.dtype
):
    key_cache, value_cache = (poisoned_cache(6, 4, 3, 5, dtype, each) for each in layouts_of(layout))
    untouched = key_cache.clone()
    key, value = torch.randn(2, 2, 3, 5, generator=torch.Generator().manual_seed(0)).to(given)
    write(key, value, key_cache, value_cache, torch.tensor([21, 6]), k_scale=SCALES, v_scale=SCALES.flip(0))
    for cache, x, scale in ((key_cache, key, SCALES), (value_cache, value, SCALES.flip(0))):
        expected = untouched.clone()
        expected[5, 1], expected[1, 2] = quantise(x, scale, dtype)
        assert torch.equal(bits(cache), bits(expected))


@each_dtype
@each_backend
def test_one_number_one_tensor_and_one_for_each_head_are_the_same_scale(dtype: torch.dtype, backend: str):
    problem = build(Case(batches(3)["mixed"], 3, 2, 3, 64, quantised=dtype))
    outputs = [
        attend(*problem[:3], **problem.tables, scale=problem.scale, backend=backend, k_scale=k_scale, v_scale=v_scale)
        for k_scale, v_scale in (
            (0.5, 3),
            (torch.tensor(0.5), torch.tensor(3.0)),
            (torch.tensor([0.5, 0.5]), torch.tensor([3.0, 3.0])),
        )
    ]
    assert torch.equal(outputs[0], outputs[1])
    assert torch.equal(outputs[0], outputs[2])


@each_dtype
@each_backend
def test_with_scales_of_1_it_is_attention_over_the_codes_themselves(dtype: torch.dtype, backend: str):
    problem = build(Case(batches(3)["mixed"], 3, 2, 3, 64, quantised=dtype))
    rest = {**problem.tables, "scale": problem.scale / 1000, "backend": backend}
    over_codes = attend(*problem[:3], **rest, k_scale=1.0, v_scale=1.0)
    numbers = (problem.key_cache.float(), problem.value_cache.float())
    assert torch.equal(over_codes, attend(problem.query, *numbers, **rest))


@each_dtype
@each_backend
@pytest.mark.parametrize("given", [torch.float32, torch.float16])
def test_k_scale_trades_against_the_scale_of_the_scores(dtype: torch.dtype, backend: str, given: torch.dtype):
    problem = build(Case(batches(16)["mixed"], 16, 2, 3, 64, given, quantised=dtype))
    k_scale, v_scale = problem.scales.values()
    tiny = 2.0**-30  # powers of two lose no bit, unless a number falls out of the range of a half precision
    rest = {**problem.tables, "v_scale": v_scale, "backend": backend}
    plain = attend(*problem[:3], **rest, scale=problem.scale, k_scale=k_scale)
    assert torch.equal(attend(*problem[:3], **rest, scale=problem.scale / tiny, k_scale=k_scale * tiny), plain)


@each_dtype
@each_backend
def test_v_scale_goes_straight_to_the_output(dtype: torch.dtype, backend: str):
    problem = build(Case(batches(16)["mixed"], 16, 2, 3, 64, quantised=dtype))
    k_scale, v_scale = problem.scales.values()
    rest = {**problem.tables, "scale": problem.scale, "k_scale": k_scale, "backend": backend}
    plain = attend(*problem[:3], **rest, v_scale=v_scale)
    assert torch.equal(attend(*problem[:3], **rest, v_scale=v_scale * 8), plain * 8)


@each_dtype
@each_backend
def test_the_scales_of_one_head_reach_the_query_heads_that_read_it_and_no_others(dtype: torch.dtype, backend: str):
    problem = build(Case(batches(16)["mixed"], 16, 3, 2, 64, quantised=dtype))
    before = attend(*problem[:3], **problem.tables, **problem.scales, scale=problem.scale, backend=backend)
    for name in problem.scales:
        scale = problem.scales[name].clone()
        scale[1] *= 1.5
        scales = problem.scales | {name: scale}
        after = attend(*problem[:3], **problem.tables, **scales, scale=problem.scale, backend=backend)
        changed = (after != before).any(0).any(-1)  # [num_heads]
        assert changed.tolist() == [False, False, True, True, False, False]


@each_dtype
@each_backend
def test_no_input_is_changed(dtype: torch.dtype, backend: str):
    problem = build(Case(batches(16)["mixed"], 16, 2, 3, 64, quantised=dtype))
    tensors = [*problem[:3], *problem.tables.values(), *problem.scales.values()]
    before = [tensor.clone() for tensor in tensors]
    attend(*problem[:3], **problem.tables, **problem.scales, scale=problem.scale, backend=backend)
    assert all(torch.equal(bits(was), bits(tensor)) for was, tensor in zip(before, tensors))


@each_dtype
@each_backend
def test_a_text_read_in_chunks_gives_the_rows_of_one_prompt(dtype: torch.dtype, backend: str):
    random = torch.Generator().manual_seed(0)
    query, key, value = torch.randn(3, 11, 2, 8, generator=random, dtype=torch.float64)
    blocks, slots = torch.tensor([[3, 1, 2]]), torch.tensor([12, 13, 14, 15, 4, 5, 6, 7, 8, 9, 10])
    scales = {"k_scale": torch.tensor([0.02, 0.03]), "v_scale": torch.tensor([0.04, 0.01])}

    def read(chunks: list[int]) -> Tensor:
        [layer] = new_cache(1, 3, 4, 2, 8, dtype, scales=[tuple(scales.values())])
        rows = []
        for stop, chunk in zip(accumulate(chunks), chunks):
            new = slice(stop - chunk, stop)
            write(key[new], value[new], layer.key, layer.value, slots[new], **scales)
            tables = {
                "block_tables": blocks,
                "context_lens": torch.tensor([stop]),
                "query_start_loc": torch.tensor([0, chunk]),
            }
            rows.append(attend(query[new], layer.key, layer.value, **tables, **scales, scale=0.4, backend=backend))
        return torch.cat(rows)

    assert torch.allclose(read([4, 1, 6]), read([11]), rtol=1e-12, atol=0)


WRONG_SCALES = {
    "none": (None, "is missing for a cache of torch.int8; expected float32 \\[2\\], a scale for each KV head, or one"),
    "a scale too many": (torch.ones(3), r"has shape \[3\] and dtype torch.float32; expected float32 \[2\]"),
    "a scale in a list of one": (torch.ones(1), r"has shape \[1\]"),
    "half precision": (torch.ones(2).half(), r"has shape \[2\] and dtype torch.float16; expected float32"),
    "a list": ([1.0, 1.0], "is of type list; expected float32"),
    "a text": ("1", "is of type str"),
    "a truth": (True, "is of type bool"),
    "zero": (torch.tensor([1.0, 0.0]), r"is \[1.0, 0.0\]; expected finite numbers above 0"),
    "negative": (-0.5, r"is \[-0.5, -0.5\]; expected finite"),
    "NaN": (math.nan, r"is \[nan, nan\]; expected finite"),
    "infinite": (torch.tensor(math.inf), r"is \[inf, inf\]; expected finite"),
    "below float32": (1e-60, r"is \[0.0, 0.0\]; expected finite"),
}


@pytest.mark.parametrize("name", ["k_scale", "v_scale"])
@pytest.mark.parametrize(("wrong", "message"), WRONG_SCALES.values(), ids=WRONG_SCALES)
def test_a_wrong_scale_is_refused_by_name_and_nothing_is_written(wrong: object, message: str, name: str):
    scales = {"k_scale": 1.0, "v_scale": 1.0} | {name: wrong}
    with pytest.raises(BadConfig, match=f"{'key' if name == 'k_scale' else 'value'}_scale {message}"):
        new_cache(1, 2, 4, 2, 8, torch.int8, scales=[tuple(scales.values())])
    [layer] = new_cache(1, 2, 4, 2, 8, torch.int8, scales=[(1.0, 1.0)])
    with pytest.raises(BadInput, match=f"{name} {message}"):
        write(torch.ones(1, 2, 8), torch.ones(1, 2, 8), layer.key, layer.value, torch.tensor([4]), **scales)
    assert layer.key.count_nonzero() == layer.value.count_nonzero() == 0
    with pytest.raises(BadInput, match=f"{name} {message}"):
        attend(torch.ones(1, 2, 8), layer.key, layer.value, **TABLES, **scales)


TABLES = {
    "block_tables": torch.tensor([[1]]),
    "context_lens": torch.tensor([1]),
    "query_start_loc": torch.tensor([0, 1]),
    "scale": 1.0,
}


@pytest.mark.parametrize("name", ["k_scale", "v_scale"])
def test_a_scale_for_a_cache_that_is_not_quantised_is_refused(name: str):
    message = f"{name} is given, but a cache of torch.float32 holds numbers as they are; leave {name} out"
    [layer] = new_cache(1, 2, 4, 2, 8)
    with pytest.raises(BadInput, match=message):
        write(torch.ones(1, 2, 8), torch.ones(1, 2, 8), layer.key, layer.value, torch.tensor([4]), **{name: 1.0})
    assert layer.key.count_nonzero() == layer.value.count_nonzero() == 0
    with pytest.raises(BadInput, match=message):
        attend(torch.ones(1, 2, 8), layer.key, layer.value, **TABLES, **{name: 1.0})
    with pytest.raises(BadConfig, match=r"key_scale is given, but a cache of torch.float32"):
        new_cache(1, 2, 4, 2, 8, scales=[(1.0, 1.0)])


@pytest.mark.parametrize(
    "scales", [[(1.0, 1.0)], [(1.0, 1.0)] * 3, [1.0, 1.0], [(1.0,)] * 2, 1.0, iter([(1.0, 1.0)] * 2)]
)
def test_scales_that_are_no_pair_for_each_layer_are_refused(scales: object):
    with pytest.raises(BadConfig, match=r"scales is .*; give a pair for each of 2 layers, "):
        new_cache(2, 2, 4, 2, 8, torch.int8, scales=scales)


@pytest.mark.parametrize("wrong", [torch.int8, torch.float8_e4m3fn, torch.int64])
def test_beside_a_quantised_cache_everything_else_is_of_a_floating_dtype(wrong: torch.dtype):
    [layer] = new_cache(1, 2, 4, 2, 8, torch.int8, scales=[(1.0, 1.0)])
    ones, scales = torch.ones(1, 2, 8), {"k_scale": 1.0, "v_scale": 1.0}
    with pytest.raises(BadInput, match=f"value has dtype {wrong}; expected one of torch.float16, "):
        write(ones, ones.to(wrong), layer.key, layer.value, torch.tensor([4]), **scales)
    with pytest.raises(BadInput, match=f"query has dtype {wrong}; expected one of torch.float16, "):
        attend(ones.to(wrong), layer.key, layer.value, **TABLES, **scales)
