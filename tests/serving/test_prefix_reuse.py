import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvlib.errors import BadConfig, BadInput
from kvlib.serving.prefix_reuse import PrefixReuse, prefix_reuse
from kvlib.serving.workload import Arrival

texts = st.lists(st.text("ab", min_size=1, max_size=12), min_size=1, max_size=12)


def workload(prompts, block_size):
    """Arrivals whose block ids stand for the text from the start to each block's end."""
    ids = {}
    for prompt in prompts:
        ends = [min(start + block_size, len(prompt)) for start in range(0, len(prompt), block_size)]
        yield Arrival(0.0, len(prompt), 1, tuple(ids.setdefault(prompt[:end], len(ids)) for end in ends))


def naive(prompts, block_size):
    """Tokens of each prompt that stand, block after block, at the beginning of an earlier one."""
    hits, seen = 0, []
    for prompt in prompts:
        known = 0
        for end in [*range(block_size, len(prompt), block_size), len(prompt)]:
            is_known = any(
                other[:end] == prompt[:end] and (end == len(other) or end % block_size == 0) for other in seen
            )
            if not is_known:
                break
            known = end
        hits += min(known, len(prompt) - 1)
        seen.append(prompt)
    return PrefixReuse(hits, sum(map(len, prompts)))


def test_a_prompt_hits_the_run_of_ids_that_came_before_it():
    arrivals = [
        Arrival(0.0, 1030, 1, (0, 1, 2)),  # 6 tokens in its last block
        Arrival(0.1, 1536, 1, (0, 1, 3)),  # hits two blocks
        Arrival(0.2, 1030, 1, (4, 1, 2)),  # the first id is new: the others do not count
        Arrival(0.3, 1030, 1, (0, 1, 2)),  # known whole: all but its last token
    ]
    assert prefix_reuse(arrivals) == PrefixReuse(1024 + 1029, 3 * 1030 + 1536)


def test_the_rate_is_the_share_of_hits():
    assert PrefixReuse(1, 4).rate == 0.25
    assert PrefixReuse(0, 4).rate == 0


@given(texts, st.integers(1, 4))
def test_ids_tell_as_much_as_comparing_every_prompt_with_all_earlier_ones(prompts, block_size):
    assert prefix_reuse(workload(prompts, block_size), block_size) == naive(prompts, block_size)


@given(texts, st.integers(1, 4))
def test_a_workload_that_comes_again_hits_all_but_one_token_of_each_prompt(prompts, block_size):
    once = prefix_reuse(workload(prompts, block_size), block_size)
    twice = prefix_reuse(workload(prompts * 2, block_size), block_size)
    assert twice.hit_tokens - once.hit_tokens == once.queried_tokens - len(prompts)
    assert twice.rate < 1


@pytest.mark.parametrize("ids", [(), (0,), (0, 1, 2, 3)])
def test_ids_that_do_not_cover_the_prompt_are_refused(ids):
    with pytest.raises(BadInput, match=rf"arrival 2 has {len(ids)} block ids for 1030 prompt tokens; .* each 512"):
        prefix_reuse([Arrival(0.0, 512, 1, (0,)), Arrival(0.0, 1030, 1, ids)])


def test_a_workload_of_nothing_is_refused():
    with pytest.raises(BadInput, match="there are no arrivals"):
        prefix_reuse([])


@pytest.mark.parametrize("block_size", [0, -1, 512.0, True])
def test_a_block_size_that_is_no_count_is_refused(block_size):
    with pytest.raises(BadConfig, match="block_size is "):
        prefix_reuse([], block_size)
