import pytest
import torch
from torch import Tensor

from kvlib.attention import attend, new_cache, write
from kvlib.bench.kernels.layouts import LAYOUTS, layouts_of, poisoned_cache
from kvlib.errors import BadConfig, BadInput

from .cases import QUANTISED_BACKENDS


def numbered(num_tokens: int) -> tuple[Tensor, Tensor]:
    key = torch.arange(num_tokens * 6, dtype=torch.float32).view(num_tokens, 2, 3) + 1
    return key, -key


def test_a_new_cache_has_the_null_block_besides_the_blocks_asked_for():
    caches = new_cache(2, num_blocks=5, block_size=4, num_kv_heads=2, head_size=3, dtype=torch.float16)
    tensors = [tensor for layer in caches for tensor in (layer.key, layer.value)]
    assert [tensor.shape for tensor in tensors] == [(6, 4, 2, 3)] * 4
    assert all(tensor.dtype == torch.float16 for tensor in tensors)
    assert len({tensor.data_ptr() for tensor in tensors}) == 4


@pytest.mark.parametrize("name", ["num_layers", "num_blocks", "block_size", "num_kv_heads", "head_size"])
def test_a_cache_of_a_size_below_1_is_refused_by_name(name: str):
    sizes = {"num_layers": 1, "num_blocks": 1, "block_size": 1, "num_kv_heads": 1, "head_size": 1}
    for size in (0, 1.0, "1", None, True):
        with pytest.raises(BadConfig, match=rf"{name} is {size!r} \({type(size).__name__}\); give a whole number"):
            new_cache(**(sizes | {name: size}))


@pytest.mark.parametrize("dtype", [torch.float8_e5m2, torch.int32, "float32", None])
def test_a_cache_of_a_dtype_that_no_backend_reads_is_refused(dtype: object):
    with pytest.raises(
        BadConfig, match=f"dtype is {dtype!r}, of type {type(dtype).__name__}; give one of torch.float16"
    ):
        new_cache(1, 1, 1, 1, 1, dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_token_is_written_to_its_slot_and_nowhere_else(layout: str):
    key_cache, value_cache = (poisoned_cache(6, 4, 2, 3, torch.float32, each) for each in layouts_of(layout))
    key, value = numbered(3)
    write(key, value, key_cache, value_cache, torch.tensor([21, 4, 11]))
    for cache, stored in ((key_cache, key), (value_cache, value)):
        assert torch.equal(torch.stack([cache[5, 1], cache[1, 0], cache[2, 3]]), stored)
        assert cache.isfinite().sum() == stored.numel()


def test_padding_tokens_share_slot_0():
    [(key_cache, value_cache, _, _)] = new_cache(1, 2, 4, 2, 3)
    key, value = numbered(4)
    write(key, value, key_cache, value_cache, torch.tensor([0, 5, 0, 0]))
    assert torch.equal(key_cache[1, 1], key[1])
    assert key_cache.view(-1, 2, 3)[1:].count_nonzero() == key[1].numel()


def test_writing_no_token_is_allowed():
    [(key_cache, value_cache, _, _)] = new_cache(1, 2, 4, 2, 3)
    write(*numbered(0), key_cache, value_cache, torch.zeros(0, dtype=torch.int64))
    assert key_cache.count_nonzero() == 0


WRONG_WRITES = {
    "a slot past the cache": ({"slot_mapping": torch.tensor([4, 12])}, "slot_mapping runs from 4 to 12; .* 0 to 11"),
    "a negative slot": ({"slot_mapping": torch.tensor([4, -1])}, "slot_mapping runs from -1 to 4"),
    "slots of int32": ({"slot_mapping": torch.tensor([4, 5], dtype=torch.int32)}, "torch.int32; expected"),
    "slots of rank 2": ({"slot_mapping": torch.tensor([[4], [5]])}, r"slot_mapping has shape \[2, 1\]"),
    "a slot too few": ({"slot_mapping": torch.tensor([4])}, r"key has shape \[2, 2, 3\]; expected \[1, 2, 3\]"),
    "other heads": ({"value": torch.zeros(2, 1, 3)}, r"value has shape \[2, 1, 3\]; expected \[2, 2, 3\]"),
    "another dtype": (
        {"value": torch.zeros(2, 2, 3).double()},
        "value has dtype torch.float64; expected torch.float32",
    ),
    "a single slot": (
        {"slot_mapping": torch.tensor(4)},
        r"slot_mapping has shape \[\] and dtype torch.int64; expected",
    ),
    "slots in a list": ({"slot_mapping": [4, 5]}, "slot_mapping is of type list; give a torch.Tensor"),
    "a key of numpy": ({"key": torch.zeros(2, 2, 3).numpy()}, "key is of type ndarray; give a torch.Tensor"),
    "no value": ({"value": None}, "value is of type NoneType; give a torch.Tensor"),
    "no value cache": ({"value_cache": None}, "value_cache is of type NoneType; give a torch.Tensor"),
    "a cache of rank 3": ({"key_cache": torch.zeros(12, 2, 3)}, r"key_cache has shape \[12, 2, 3\]; expected \[num_b"),
    "caches that differ": ({"value_cache": torch.zeros(3, 4, 2, 2)}, r"value_cache has shape \[3, 4, 2, 2\]"),
}


@pytest.mark.parametrize(("change", "message"), WRONG_WRITES.values(), ids=WRONG_WRITES)
def test_a_wrong_write_is_refused_and_writes_nothing(change: dict, message: str):
    [(key_cache, value_cache, _, _)] = new_cache(1, 2, 4, 2, 3)
    key, value = numbered(2)
    caches = {"key_cache": key_cache, "value_cache": value_cache}
    with pytest.raises(BadInput, match=message):
        write(**({"key": key, "value": value, **caches, "slot_mapping": torch.tensor([4, 5])} | change))
    assert key_cache.count_nonzero() == value_cache.count_nonzero() == 0


@pytest.mark.parametrize("backend", QUANTISED_BACKENDS)
def test_a_text_read_in_chunks_or_token_by_token_gives_the_rows_of_one_prompt(backend: str):
    random = torch.Generator().manual_seed(0)
    query, key, value = torch.randn(3, 11, 2, 8, generator=random, dtype=torch.float64)
    blocks, block_size = torch.tensor([[3, 1, 2]]), 4
    slots = torch.tensor([int(blocks[0, i // block_size]) * block_size + i % block_size for i in range(11)])

    def read(chunks: list[int]) -> Tensor:
        [(key_cache, value_cache, _, _)] = new_cache(1, 3, block_size, 2, 8, torch.float64)
        rows, start = [], 0
        for chunk in chunks:
            new = slice(start, start + chunk)
            write(key[new], value[new], key_cache, value_cache, slots[new])
            start += chunk
            rows.append(
                attend(
                    query[new],
                    key_cache,
                    value_cache,
                    block_tables=blocks,
                    context_lens=torch.tensor([start]),
                    query_start_loc=torch.tensor([0, chunk]),
                    scale=8**-0.5,
                    backend=backend,
                )
            )
        return torch.cat(rows)

    whole = read([11])
    assert torch.allclose(read([4, 1, 6]), whole, rtol=1e-12, atol=0)
    assert torch.allclose(read([1] * 11), whole, rtol=1e-12, atol=0)
