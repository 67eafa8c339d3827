"""The kernels that write to the cache leave the bytes that torch leaves."""

import itertools
import math

import pytest
import torch

from kvlib.attention import new_cache
from kvlib.attention.triton import write_cache
from kvlib.bench.kernels.storing import Store, copies_alike, hard_numbers, stores, writes_alike

STORES = stores()
each_store = pytest.mark.parametrize("store", STORES, ids=[store.name for store in STORES])


@each_store
def test_keys_and_values_are_written_bit_for_bit_and_nothing_beside_them(store: Store):
    assert writes_alike(store)


@each_store
def test_blocks_are_copied_bit_for_bit_and_nothing_beside_them(store: Store):
    assert copies_alike(store)


def test_the_hard_numbers_have_every_code_of_e4m3_and_lie_to_both_sides_of_every_middle():
    numbers = hard_numbers(torch.float8_e4m3fn)
    assert len(numbers.to(torch.float8_e4m3fn).view(torch.uint8).unique()) == 256
    finite = numbers[numbers.abs() <= 448]
    codes = finite.to(torch.float8_e4m3fn).float().unique()
    for low, high in itertools.pairwise(codes):
        middle = (low + high) / 2
        near = finite[(finite - middle).abs() <= (high - low) * 1e-5]
        assert {torch.sign(number - middle).item() for number in near} == {-1, 0, 1}


def test_nan_becomes_0_in_an_int8_cache():
    [(key_cache, value_cache, *scales)] = new_cache(1, 1, 2, 1, 2, torch.int8, scales=[(1.0, 1.0)])
    key, value = torch.tensor([[[math.nan, 3.0]]]), torch.tensor([[[-2.0, -math.nan]]])
    write_cache(key, value, key_cache, value_cache, torch.tensor([2]), k_scale=scales[0], v_scale=scales[1])
    assert (key_cache[1, 0, 0].tolist(), value_cache[1, 0, 0].tolist()) == ([0, 3], [-2, 0])
