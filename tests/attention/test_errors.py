import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

from kvlib.attention import Batch, attend, attend_batch
from kvlib.errors import BadInput

BASE = {
    "query": torch.zeros(4, 6, 8),
    "key_cache": torch.zeros(5, 4, 2, 8),
    "value_cache": torch.zeros(5, 4, 2, 8),
    "block_tables": torch.tensor([[1, 2], [3, 0]]),
    "context_lens": torch.tensor([7, 3]),
    "query_start_loc": torch.tensor([0, 1, 4]),
    "scale": 1.0,
}

WRONG = {
    "query of rank 2": ({"query": torch.zeros(4, 48)}, r"query has shape \[4, 48\]; expected \[4, num_heads, 8\]"),
    "too few query rows": ({"query": torch.zeros(3, 6, 8)}, r"query has shape \[3, 6, 8\]; expected \[4, "),
    "another head size": ({"query": torch.zeros(4, 6, 9)}, r"query has shape \[4, 6, 9\]; expected .*, 8\]"),
    "heads no multiple": ({"query": torch.zeros(4, 5, 8)}, r"query has 5 heads and key_cache has 2; .* multiple of 2"),
    "no heads": ({"query": torch.zeros(4, 0, 8)}, "query has 0 heads"),
    "cache of rank 3": (
        {"key_cache": torch.zeros(20, 2, 8)},
        r"key_cache has shape \[20, 2, 8\]; expected \[num_blocks",
    ),
    "caches that differ": (
        {"value_cache": torch.zeros(5, 4, 2, 9)},
        r"value_cache has shape \[5, 4, 2, 9\] and dtype torch.float32; expected \[5, 4, 2, 8\]",
    ),
    "blocks of no token": (
        {"key_cache": torch.zeros(5, 0, 2, 8), "value_cache": torch.zeros(5, 0, 2, 8)},
        r"key_cache has shape \[5, 0, 2, 8\]; .*, each 1 or more",
    ),
    "no KV heads": (
        {"key_cache": torch.zeros(5, 4, 0, 8), "value_cache": torch.zeros(5, 4, 0, 8)},
        r"key_cache has shape \[5, 4, 0, 8\]; .*, each 1 or more",
    ),
    "mixed dtypes": (
        {"query": torch.zeros(4, 6, 8).half()},
        "query has dtype torch.float16; expected torch.float32, that of the caches",
    ),
    "integer dtype": (
        {name: BASE[name].int() for name in ("query", "key_cache", "value_cache")},
        "key_cache has dtype torch.int32; expected one of torch.float16, torch.bfloat16, torch.float32, torch.float64",
    ),
    "another float8": (
        {name: BASE[name].to(torch.float8_e5m2) for name in ("query", "key_cache", "value_cache")},
        "key_cache has dtype torch.float8_e5m2; expected one of torch.float16",
    ),
    "block tables of rank 1": (
        {"block_tables": torch.tensor([1, 2])},
        r"block_tables has shape \[2\]; expected \[num_seqs, max_blocks\]",
    ),
    "a context too many": (
        {"context_lens": torch.tensor([7, 3, 1])},
        r"context_lens has shape \[3\]; expected \[2\], as block_tables has 2 rows",
    ),
    "a start too few": ({"query_start_loc": torch.tensor([0, 4])}, r"query_start_loc has shape \[2\]; expected \[3\]"),
    "float tables": ({"block_tables": torch.ones(2, 2)}, "block_tables has dtype torch.float32; expected torch.int32"),
    "float lengths": ({"context_lens": torch.ones(2)}, "context_lens has dtype torch.float32; expected torch.int32"),
    "starts not at 0": ({"query_start_loc": torch.tensor([1, 2, 4])}, "query_start_loc begins with 1; expected 0"),
    "starts that fall": (
        {"query_start_loc": torch.tensor([0, 5, 4])},
        "query_start_loc falls from 5 to 4 at sequence 1",
    ),
    "starts past the query": ({"query_start_loc": torch.tensor([0, 3, 5])}, r"query has shape .*; expected \[5, "),
    "a negative context": ({"context_lens": torch.tensor([7, -1])}, r"context_lens\[1\] is -1; expected 0 or more"),
    "a context short of its query": (
        {"context_lens": torch.tensor([7, 2])},
        r"context_lens\[1\] is 2, but sequence 1 has 3 query rows",
    ),
    "two rows on no context": (
        {"context_lens": torch.tensor([0, 3]), "query_start_loc": torch.tensor([0, 2, 4])},
        r"context_lens\[0\] is 0, but sequence 0 has 2 query rows",
    ),
    "a table too short": (
        {"context_lens": torch.tensor([9, 3])},
        r"block_tables has 2 columns, but context_lens\[0\] is 9, which takes 3 blocks of 4",
    ),
    "a block past the cache": (
        {"block_tables": torch.tensor([[1, 5], [3, 0]])},
        "block_tables names block 5 inside a context; expected at most 4, as key_cache has 5 blocks",
    ),
    "a negative block": ({"block_tables": torch.tensor([[1, 2], [-1, 0]])}, r"block_tables\[1, 0\] is -1"),
    "the null block in use": (
        {"block_tables": torch.tensor([[1, 0], [3, 0]])},
        r"block_tables\[0, 1\] is 0.* null block",
    ),
    "an unknown backend": ({"backend": "tritium"}, "backend is 'tritium'; known backends: dense, gather, paged"),
    "a list of backends": ({"backend": ["dense"]}, r"backend is \['dense'\]; known backends: dense, gather, paged"),
}


def test_the_call_that_the_wrong_ones_depart_from_is_right():
    assert attend(**BASE).shape == (4, 6, 8)


@pytest.mark.parametrize(("change", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_argument_is_named_with_what_was_given_and_what_fits(change: dict, message: str):
    with pytest.raises(BadInput, match=message):
        attend(**(BASE | change))


@pytest.mark.parametrize("scale", [0.0, -0.5, math.nan, math.inf, None, "1", True, torch.tensor(1.0)])
def test_a_scale_that_is_no_finite_number_above_0_is_refused(scale: object):
    with pytest.raises(BadInput, match=rf"scale is .*, of type {type(scale).__name__}; give a finite number above 0"):
        attend(**(BASE | {"scale": scale}))


@pytest.mark.parametrize("name", [name for name, value in BASE.items() if isinstance(value, torch.Tensor)])
@pytest.mark.parametrize(
    "convert", [torch.Tensor.tolist, torch.Tensor.numpy, lambda _: None], ids=["list", "array", "None"]
)
def test_what_is_no_tensor_is_refused_by_name_and_type(name: str, convert: Callable):
    given = convert(BASE[name])
    with pytest.raises(BadInput, match=f"{name} is of type {type(given).__name__}; give a torch.Tensor"):
        attend(**(BASE | {name: given}))


def test_a_number_of_numpy_is_a_scale():
    assert attend(**(BASE | {"scale": np.float32(0.5)})).shape == (4, 6, 8)


@pytest.mark.parametrize("block_size", [0, -4, 4.0, "4", None, True])
def test_a_block_size_that_is_no_whole_number_above_0_is_refused(block_size: object):
    with pytest.raises(BadInput, match=rf"block_size is {block_size!r} \({type(block_size).__name__}\); give a whole"):
        Batch(BASE["block_tables"], BASE["context_lens"], BASE["query_start_loc"], block_size=block_size)


def test_tables_in_place_of_a_batch_are_refused():
    with pytest.raises(BadInput, match="batch is of type dict; give a Batch"):
        attend_batch(BASE["query"], BASE["key_cache"], BASE["value_cache"], {}, scale=1.0)


def test_a_batch_refuses_a_cache_of_another_block_size():
    batch = Batch(BASE["block_tables"], BASE["context_lens"], BASE["query_start_loc"], block_size=8)
    with pytest.raises(BadInput, match="blocks of 4 tokens, but the batch was built for blocks of 8"):
        attend_batch(BASE["query"], BASE["key_cache"], BASE["value_cache"], batch, scale=1.0)


def test_entries_past_the_context_are_not_looked_at():
    table = torch.tensor([[1, 2, -7, 2**30], [3, 2**30, 0, -1]])
    assert attend(**(BASE | {"block_tables": table})).shape == (4, 6, 8)
