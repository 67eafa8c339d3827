"""The picture of two prompts shows one box as far as their keys agree, and two from there on."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvlib.errors import BadInput
from kvlib.memory import PrefixHasher
from kvlib.show.chains import chains
from kvlib.show.figures import INK, sequence_colour


def keyed(token_ids, block_size=2):
    keys = PrefixHasher(block_size).start()
    keys.extend(token_ids)
    return [(key, f"block {place}") for place, key in enumerate(keys.keys)]


def boxes(picture, colour):
    return len(re.findall(rf"<path[^>]*fill: [^;]*{colour}", picture.svg))


@settings(max_examples=25)
@given(
    one=st.lists(st.integers(0, 1), min_size=2, max_size=8),
    other=st.lists(st.integers(0, 1), min_size=2, max_size=8),
)
def test_prompts_share_a_box_for_each_full_block_before_they_part(one, other):
    common = next((at for at, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
    picture = chains([keyed(one), keyed(other)])
    shared = common // 2
    assert boxes(picture, INK) == shared
    assert boxes(picture, sequence_colour(0)) == len(one) // 2 - shared
    assert boxes(picture, sequence_colour(1)) == len(other) // 2 - shared


def test_each_box_has_the_first_digits_of_the_key_and_the_text():
    prompts = [keyed([1, 1, 2, 2]), keyed([1, 1, 3, 3])]
    picture = chains(prompts)
    keys = [key.hex()[:6] for key, _ in (prompts[0][0], prompts[0][1], prompts[1][1])]
    assert re.findall(r"<text[^>]*>([^<]*)</text>", picture.svg) == [
        *("A", "B"),
        *(keys[0], "block 0", keys[1], "block 1", keys[2], "block 1"),
    ]
    assert f"block 1 of A and B has key {keys[0]} and the text “block 0”; block 2 of A has key {keys[1]}" in picture.alt


def test_a_prompt_of_fewer_blocks_ends_earlier():
    assert "block 2 of B" not in chains([keyed([1, 1, 2, 2]), keyed([1, 1])]).alt


@pytest.mark.parametrize("prompts", [[], [[], []]])
def test_prompts_without_a_full_block_are_refused_with_what_to_do(prompts):
    with pytest.raises(BadInput, match="give prompts of block_size tokens or more"):
        chains(prompts)
