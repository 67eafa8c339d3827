"""Keys of full blocks: equal exactly where the beginnings, and whatever else decides the contents, are equal."""

import itertools
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvlib.errors import BadConfig, BadInput, MissingPackage
from kvlib.memory import BlockManager, PrefixHasher
from kvlib.memory.prefix import HASHES

texts = st.lists(st.integers(0, 2), max_size=20)
hashes = pytest.mark.parametrize("hash", HASHES)


def keys(text, hasher, **extra):
    prefix = hasher.start(**extra)
    prefix.extend(text)
    return prefix.keys


@given(one=texts, other=texts, block_size=st.integers(1, 4), hash=st.sampled_from(HASHES))
def test_two_keys_are_equal_exactly_if_all_up_to_the_blocks_end_is_equal(one, other, block_size, hash):
    hasher = PrefixHasher(block_size, hash)
    ours, theirs = keys(one, hasher), keys(other, hasher)
    assert len(ours) == len(one) // block_size
    for i, key in enumerate(ours):
        for j, another in enumerate(theirs):
            equal = one[: (i + 1) * block_size] == other[: (j + 1) * block_size]
            assert (key == another) == equal


@given(text=texts, cuts=st.lists(st.integers(0, 20)), block_size=st.integers(1, 4))
def test_keys_do_not_depend_on_how_the_tokens_come(text, cuts, block_size):
    hasher = PrefixHasher(block_size)
    prefix = hasher.start()
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    for start, stop in itertools.pairwise(edges):
        prefix.extend(text[start:stop])
        assert prefix.num_tokens == stop
    assert prefix.keys == keys(text, hasher)


@hashes
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"adapter": "sql"}, {}),
        ({"adapter": "sql"}, {"adapter": "law"}),
        ({"adapter": "sql"}, {"salt": "sql"}),
        ({"adapter": "sql", "version": 1}, {"adapter": "sql", "version": 2}),
        ({"version": 1}, {"version": "1"}),
        ({"version": "1"}, {"version": b"1"}),
        ({"adapter": "a", "salt": "b"}, {"adapter": "asaltb"}),
        ({"adapter": "ab", "salt": "c"}, {"adapter": "a", "salt": "bc"}),
        ({"salt": ""}, {}),
    ],
)
def test_what_else_decides_the_contents_keeps_every_block_apart(hash, one, other):
    hasher = PrefixHasher(4, hash)
    assert not set(keys([1] * 16, hasher, **one)) & set(keys([1] * 16, hasher, **other))


def test_the_order_in_which_the_extras_are_given_does_not_matter():
    hasher = PrefixHasher(4)
    assert keys([1] * 4, hasher, adapter="a", salt="b") == keys([1] * 4, hasher, salt="b", adapter="a")


def test_sha256_keys_are_the_same_in_every_process():
    program = (
        "from kvlib.memory import PrefixHasher\n"
        "prefix = PrefixHasher(2).start(salt='x')\nprefix.extend([5, 6, 7, 8])\nprint(prefix.keys)"
    )
    runs = {
        subprocess.check_output([sys.executable, "-c", program], text=True, env={"PYTHONHASHSEED": s}) for s in "12"
    }
    assert runs == {f"{keys([5, 6, 7, 8], PrefixHasher(2), salt='x')}\n"}


def test_xxh3_keys_start_from_a_root_that_nobody_knows():
    assert keys([1] * 4, PrefixHasher(4, "xxh3")) != keys([1] * 4, PrefixHasher(4, "xxh3"))
    assert len(keys([1] * 4, PrefixHasher(4, "xxh3"))[0]) == 16


@pytest.mark.parametrize("token", [-1, 2**32, 1.0, "a", None])
def test_a_token_that_is_none_is_refused_and_nothing_is_added(token):
    prefix = PrefixHasher(2).start()
    prefix.extend([1, 2, 3])
    with pytest.raises(BadInput, match="give a list of ids"):
        prefix.extend([4, token])
    assert prefix.num_tokens == 3
    prefix.extend([4])
    assert prefix.keys == keys([1, 2, 3, 4], PrefixHasher(2))


@pytest.mark.parametrize(
    ("make", "words"),
    [(lambda: PrefixHasher(0), "block_size is 0"), (lambda: PrefixHasher(4, "md5"), "hash is 'md5'; choose one of")],
)
def test_bad_settings_are_named(make, words):
    with pytest.raises(BadConfig, match=words):
        make()


def test_an_extra_that_cannot_be_told_from_others_is_refused():
    with pytest.raises(BadInput, match=r"adapter is 1\.5"):
        PrefixHasher(4).start(adapter=1.5)


def test_without_the_package_xxh3_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "xxhash", None)
    with pytest.raises(MissingPackage, match="pip install xxhash"):
        PrefixHasher(4, "xxh3")


def serve(requests, hash, block_size=4):
    """Tables at every admission in a pool of 12 blocks, the earliest request ending when a new one comes."""
    manager, hasher, tables, live = BlockManager(12, block_size), PrefixHasher(block_size, hash), [], []
    for number, text in enumerate(requests):
        while not manager.can_admit(len(text), keys(text, hasher)):
            manager.free(live.pop(0))
        manager.admit(number, len(text), keys(text, hasher))
        manager.publish(number, keys(text, hasher))
        live.append(number)
        tables.append(list(manager.table(number).blocks))
    return tables


@given(st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=40), max_size=12))
def test_the_hash_function_changes_no_table(requests):
    assert serve(requests, "sha256") == serve(requests, "xxh3")
