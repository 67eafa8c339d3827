import pytest

from kvlib.errors import BadConfig, BadInput
from kvlib.memory import PrefixHasher
from kvlib.memory.pages import Pages
from kvlib.memory.radix_manager import RadixManager


def test_keys_are_the_tokens_of_each_full_block():
    single, double = Pages().start(), Pages(2).start()
    for keys in (single, double):
        keys.extend([5, 6])
        keys.extend([7])
        assert keys.num_tokens == 3
    assert single.keys == [5, 6, 7]
    assert double.keys == [(5, 6)]
    double.extend([8])
    assert double.keys == [(5, 6), (7, 8)]


def test_keys_do_not_depend_on_how_many_tokens_come_at_once():
    at_once, in_turn = Pages(2).start(salt="a"), Pages(2).start(salt="a")
    at_once.extend([5, 6, 7, 8, 9])
    for token in [5, 6, 7, 8, 9]:
        in_turn.extend([token])
    assert at_once.keys == in_turn.keys


@pytest.mark.parametrize("keys_of", [Pages, PrefixHasher])
@pytest.mark.parametrize("block_size", [1, 2])
def test_extra_keys_of_different_kinds_never_meet(keys_of, block_size):
    """vllm-project/vllm#44706, sgl-project/sglang#24638: an adapter and a salt of one text met in the cache."""
    manager, start = RadixManager(100, block_size), keys_of(block_size).start
    kinds = [{}, {"adapter": "a"}, {"salt": "a"}, {"salt": b"a"}, {"adapter": 1}, {"adapter": "1"}]
    kinds += [{"adapter": "a", "salt": ""}, {"adapter": "", "salt": "a"}]
    for number, extra in enumerate(kinds):
        keys = start(**extra)
        keys.extend([1, 2, 3, 4])
        assert manager.admit(number, 5, keys.keys) == 0
        manager.publish(number, keys.keys)
        assert manager.admit((number, "again"), 5, keys.keys) == 4


@pytest.mark.parametrize("tokens", [["a"], [-1], [2**32], [1.5]])
def test_a_token_that_is_no_id_is_refused(tokens):
    keys = Pages().start()
    with pytest.raises(BadInput, match="cannot have keys"):
        keys.extend([1, *tokens])
    assert keys.keys == []


def test_an_extra_key_of_another_kind_is_refused():
    with pytest.raises(BadInput, match=r"adapter is \('a', 1\)"):
        Pages().start(adapter=("a", 1))
    with pytest.raises(BadConfig, match="block_size is 0"):
        Pages(0)
