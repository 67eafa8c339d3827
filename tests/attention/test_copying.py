import pytest
import torch

from kvlib.attention import LayerCache, copy_blocks, new_cache, swap_blocks
from kvlib.errors import BadInput


def numbered(num_layers: int, num_blocks: int, block_size: int = 1, first: int = 0) -> list[LayerCache]:
    """Block b of layer l holds first + 10 * l + b in every key, and less than zero as much in every value."""
    caches = new_cache(num_layers, num_blocks, block_size, 1, 2)
    for layer, (key_cache, value_cache, _, _) in enumerate(caches):
        for block in range(len(key_cache)):
            key_cache[block] = first + 10 * layer + block
            value_cache[block] = -(first + 10 * layer + block)
    return caches


def blocks(layer: LayerCache) -> list[float]:
    """The number in each block; keys and values, and all slots of a block, have to agree on it."""
    numbers = layer.key.flatten(1)
    assert torch.equal(layer.value.flatten(1), -numbers)
    assert torch.equal(numbers, numbers[:, :1].expand_as(numbers))
    return numbers[:, 0].tolist()


def test_a_copied_block_is_equal_in_every_layer_and_no_other_block_changes():
    caches = numbered(3, 4, block_size=2)
    copy_blocks(caches, [(2, 4)])
    assert [blocks(layer) for layer in caches] == [[10 * i + block for block in (0, 1, 2, 3, 2)] for i in range(3)]


def test_copies_happen_in_the_order_given():
    caches = numbered(1, 4)
    copy_blocks(caches, [(1, 2), (2, 3), (4, 2)])
    assert blocks(caches[0]) == [0, 1, 4, 1, 4]


def test_a_swapped_block_lands_in_every_layer_of_the_other_memory_and_stays_where_it_was():
    caches, host = numbered(3, 4, block_size=2), numbered(3, 2, block_size=2, first=100)
    swap_blocks(caches, host, [(4, 1), (1, 2)])
    assert [blocks(layer) for layer in host] == [[100 + 10 * i, 10 * i + 4, 10 * i + 1] for i in range(3)]
    assert [blocks(layer) for layer in caches] == [blocks(layer) for layer in numbered(3, 4)]


def test_a_block_swapped_out_and_in_again_elsewhere_is_the_block_it_was():
    caches, host = numbered(2, 4), numbered(2, 2, first=100)
    swap_blocks(caches, host, [(3, 2)])
    for layer in caches:
        layer.key[3] = layer.value[3] = -1  # somebody else's by now
    swap_blocks(host, caches, [(2, 1)])
    assert [layer.key[1, 0, 0, 0].item() for layer in caches] == [3, 13]


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.int8])
def test_the_codes_of_a_quantised_block_are_copied_as_they_are(dtype: torch.dtype):
    caches = new_cache(2, 3, 2, 1, 4, dtype, scales=[(1.0, 2.0)] * 2)
    host = new_cache(2, 1, 2, 1, 4, dtype, scales=[(1.0, 2.0)] * 2)
    for layer in caches:
        layer.key[2], layer.value[2] = torch.tensor([-3, 5, 0, 7]).to(dtype), torch.tensor([1, 2, -3, 4]).to(dtype)
    copy_blocks(caches, [(2, 3)])
    swap_blocks(caches, host, [(3, 1)])
    for layer, other in zip(caches, host):
        assert torch.equal(other.key[1].view(torch.uint8), layer.key[2].view(torch.uint8))
        assert torch.equal(other.value[1].view(torch.uint8), layer.value[2].view(torch.uint8))


@pytest.mark.parametrize("pair", [(0, 1), (1, 0), (5, 1), (1, 5), (-1, 1)])
def test_a_copy_of_the_null_block_or_outside_the_cache_is_refused_before_any_copy(pair: tuple[int, int]):
    caches = numbered(1, 4)
    with pytest.raises(BadInput, match=rf"copies holds \({pair[0]}, {pair[1]}\); expected .* from 1 to 4"):
        copy_blocks(caches, [(1, 2), pair])
    assert blocks(caches[0]) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("pair", [(0, 1), (1, 0), (5, 1), (1, 3), (-1, 1)])
def test_a_swap_outside_either_memory_is_refused_before_any_copy(pair: tuple[int, int]):
    caches, host = numbered(1, 4), numbered(1, 2, first=100)
    with pytest.raises(BadInput, match=r"swaps holds .*; expected .* a source from 1 to 4 and a target from 1 to 2"):
        swap_blocks(caches, host, [(1, 2), pair])
    assert blocks(host[0]) == [100, 101, 102]


@pytest.mark.parametrize("copies", [None, [1, 2], [(1, 2, 3)], zip([1], [2]), [(1.0, 2)], [("1", 2)], [(1, True)]])
def test_copies_that_are_no_pairs_of_whole_numbers_are_refused_before_any_copy(copies: object):
    caches = numbered(1, 4)
    with pytest.raises(BadInput, match=r"^copies .*(give a list of pairs|expected physical blocks)"):
        copy_blocks(caches, copies)
    assert blocks(caches[0]) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (None, "caches is of type NoneType; give a list with the LayerCache of each layer"),
        ([], "caches is a list of length 0; give a list with"),
        (numbered(1, 1)[0], "caches is a LayerCache of length 4; give a list with"),
        ([tuple(numbered(1, 1)[0])], "caches holds a tuple of length 4; give a list with"),
        ([LayerCache([0.0], [0.0])], "key_cache is of type list; give a torch.Tensor"),
    ],
    ids=["None", "no layer", "one layer", "tuples", "lists"],
)
def test_what_is_no_cache_of_each_layer_is_refused(wrong: object, message: str):
    with pytest.raises(BadInput, match=message):
        copy_blocks(wrong, [(1, 1)])
    with pytest.raises(BadInput, match=f"target_{message}" if message.startswith("caches") else message):
        swap_blocks(numbered(1, 1), wrong, [(1, 1)])


UNLIKE = {
    "layers": (new_cache(2, 1, 4, 2, 8), "source_caches has 1 layers and target_caches 2"),
    "block size": (new_cache(1, 1, 3, 2, 8), r"in layer 0, blocks of source_caches are \[4, 2, 8\] .* \[3, 2, 8\]"),
    "heads": (new_cache(1, 1, 4, 1, 8), r"\[4, 1, 8\] of torch.float32; expected equal blocks"),
    "dtype": (new_cache(1, 1, 4, 2, 8, torch.float64), r"those of target_caches \[4, 2, 8\] of torch.float64"),
}


@pytest.mark.parametrize(("other", "message"), UNLIKE.values(), ids=UNLIKE)
def test_a_swap_between_memories_of_other_blocks_is_refused(other: list[LayerCache], message: str):
    with pytest.raises(BadInput, match=message):
        swap_blocks(new_cache(1, 3, 4, 2, 8), other, [(1, 1)])


@pytest.mark.parametrize("scales", [(1.0, 2.5), (1.5, 2.0), (2.0, 1.0)])
def test_a_swap_between_memories_of_other_scales_is_refused(scales: tuple[float, float]):
    caches, host = (new_cache(1, 3, 4, 2, 8, torch.int8, scales=[pair]) for pair in ((1.0, 2.0), scales))
    with pytest.raises(BadInput, match="in layer 0, the scales of source_caches and target_caches differ"):
        swap_blocks(caches, host, [(1, 1)])
