import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvlib.chance import Chance
from kvlib.errors import BadConfig, BadInput
from kvlib.memory import BlockManager
from kvlib.serving.sharing import beam_block_steps, beam_saving, genealogy, parallel_block_steps, parallel_saving

lengths = st.tuples(st.integers(1, 40), st.integers(1, 40))
block_sizes = st.integers(1, 9)


def counted(manager, seqs):
    """(saved, without sharing) in blocks, read from the tables as they are now."""
    named = [block for seq in seqs for block in manager.table(seq).blocks]
    assert manager.pool.num_blocks - manager.num_free_blocks == len(set(named))
    return len(named) - len(set(named)), len(named)


def run(num_prompt_tokens, block_size, parents_of_steps):
    """Let the real manager fork, write and free as `parents_of_steps` says; sums of blocks after each step's writes."""
    width = max((len(parents) for parents in parents_of_steps), default=1)
    manager = BlockManager(2 * width * (num_prompt_tokens + len(parents_of_steps)), block_size)
    manager.admit((0, 0), num_prompt_tokens)
    beams, saved, without = [(0, 0)], 0, 0
    for step, parents in enumerate(parents_of_steps, 1):
        children = [(step, number) for number in range(len(parents))]
        for child, parent in zip(children, parents):
            manager.fork(beams[parent], child)
        for beam in beams:
            manager.free(beam)
        beams = children
        for beam in beams:
            manager.append(beam)
        more_saved, more_without = counted(manager, beams)
        saved += more_saved
        without += more_without
    return saved, without


@given(pair=lengths, block_size=block_sizes, num_samples=st.integers(1, 6))
def test_parallel_samples_save_to_the_block_what_the_manager_shares(pair, block_size, num_samples):
    num_prompt_tokens, num_output_tokens = pair
    manager = BlockManager(num_samples * 80, block_size)
    manager.admit(0, num_prompt_tokens)
    for sample in range(1, num_samples):
        manager.fork(0, sample)
    saved = without = 0
    for _ in range(num_output_tokens - 1):
        for sample in range(num_samples):
            manager.append(sample)
        more_saved, more_without = counted(manager, range(num_samples))
        saved += more_saved
        without += more_without
    assert parallel_block_steps(*pair, num_samples, block_size) == (saved, without)


@given(pair=lengths, block_size=block_sizes, width=st.integers(1, 5), data=st.data())
def test_beams_of_any_genealogy_save_to_the_block_what_the_manager_shares(pair, block_size, width, data):
    parents = st.lists(st.integers(0, width - 1), min_size=width, max_size=width)
    later = data.draw(st.lists(parents, min_size=max(0, pair[1] - 2), max_size=max(0, pair[1] - 2)))
    steps = ([[0] * width, *later])[: pair[1] - 1]
    assert beam_block_steps(*pair, steps, block_size) == run(pair[0], block_size, steps)


@given(pair=lengths, block_size=block_sizes, width=st.integers(1, 5), seed=st.integers(0, 99))
def test_the_search_saves_what_the_manager_shares_when_it_is_driven_by_the_same_search(pair, block_size, width, seed):
    steps = list(itertools.islice(genealogy(width, 0.4, Chance(seed)), pair[1] - 1))
    expected = run(pair[0], block_size, steps)
    assert beam_block_steps(*pair, genealogy(width, 0.4, Chance(seed)), block_size) == expected
    if pair[1] > 1:
        assert beam_saving([pair], width, seed, block_size=block_size) == expected[0] / expected[1]


@given(pair=lengths, block_size=block_sizes, num_samples=st.integers(2, 6))
def test_beams_that_never_merge_save_what_samples_save(pair, block_size, num_samples):
    first = [[0] * num_samples]
    apart = itertools.chain(first, itertools.repeat(list(range(num_samples))))
    assert beam_block_steps(*pair, apart, block_size) == parallel_block_steps(*pair, num_samples, block_size)


@given(width=st.integers(1, 6), theta=st.floats(0.01, 100), seed=st.integers(0, 2**64 - 1))
def test_each_step_keeps_the_width_and_every_parent_is_a_beam_of_the_step_before(width, theta, seed):
    steps = list(itertools.islice(genealogy(width, theta, Chance(seed)), 20))
    assert steps[0] == [0] * width
    assert all(len(step) == width and set(step) <= set(range(width)) for step in steps)


def kept_without_a_shortcut(width, theta, chance, num_steps):
    """Every proposal of every beam is broken off its stick, then the best are kept."""
    weights, steps = [1.0], []
    for _ in range(num_steps):
        proposals = []
        for parent, weight in enumerate(weights):
            left = weight
            for _ in range(max(2 * width, 8)):
                piece = left * (1 - (1 - chance.fraction()) ** (1 / theta))
                proposals.append((piece, parent))
                left -= piece
        best = sorted(proposals, reverse=True)[:width]
        steps.append([parent for _, parent in best])
        weights = [weight / best[0][0] for weight, _ in best]
    return steps


def mean_survivors(steps):
    return sum(len(set(parents)) for parents in steps) / len(steps)


@pytest.mark.parametrize(("width", "theta"), [(2, 0.4), (4, 0.4), (6, 0.4), (2, 30), (5, 30)])
def test_leaving_off_a_stick_too_short_to_be_kept_changes_no_law(width, theta):
    quick = list(itertools.islice(genealogy(width, theta, Chance(1)), 4000))
    slow = kept_without_a_shortcut(width, theta, Chance(2), 4000)
    assert mean_survivors(quick) == pytest.approx(mean_survivors(slow), rel=0.03)


class Crumbs:
    """Breaks next to nothing off a stick, so that what is left never gets too short."""

    def __init__(self):
        self.num_drawn = 0

    def fraction(self):
        self.num_drawn += 1
        return 1e-9


@pytest.mark.parametrize(("width", "num_proposals"), [(1, 8), (4, 8), (5, 10)])
def test_a_beam_proposes_twice_the_width_and_at_least_eight(width, num_proposals):
    chance = Crumbs()
    next(genealogy(width, 0.4, chance))
    assert chance.num_drawn == num_proposals


def test_flatter_laws_let_fewer_beams_die_out():
    steps = [list(itertools.islice(genealogy(4, theta, Chance(0)), 2000)) for theta in (0.1, 0.4, 10)]
    survivors = [mean_survivors(each) for each in steps]
    assert survivors == sorted(survivors, reverse=True)


def test_two_samples_of_a_prompt_of_a_block_and_a_half_share_its_full_block():
    assert parallel_block_steps(24, 3, 2) == (2, 8)  # 2 steps; 1 + 2 blocks in use, 4 without sharing
    assert parallel_block_steps(15, 9, 2)[0] == 0
    assert parallel_block_steps(16, 1, 2) == (0, 0)


def test_requests_count_by_their_blocks_and_not_each_the_same():
    assert parallel_saving([(24, 3), (24, 3), (15, 2)], 2) == 4 / 18


def test_the_saving_of_one_sample_or_beam_is_nothing():
    assert parallel_saving([(40, 9)], 1) == 0
    assert beam_saving([(40, 9)], 1, 0) == 0


def test_no_width_saves_more_than_all_copies_but_one():
    pairs = [(40, 300), (100, 20)]
    for width in (2, 4, 6):
        assert parallel_saving(pairs, width) < beam_saving(pairs, width, 0) < (width - 1) / width


def test_the_same_seed_gives_the_same_saving_and_another_seed_another():
    pairs = [(20, 60)] * 5
    assert beam_saving(pairs, 4, 7) == beam_saving(pairs, 4, 7) != beam_saving(pairs, 4, 8)


def test_requests_of_one_length_are_searched_apart():
    one, two = (beam_saving([(20, 60)] * count, 4, 7) for count in (1, 2))
    assert one != two


PAIRS = [(20, 9)]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: parallel_saving(PAIRS, 0), BadConfig, "num_samples is 0"),
        (lambda: parallel_saving(PAIRS, 2.0), BadConfig, "num_samples is 2.0"),
        (lambda: parallel_saving(PAIRS, 2, block_size=0), BadConfig, "block_size is 0"),
        (lambda: parallel_saving([], 2), BadInput, "lengths is empty"),
        (lambda: parallel_saving([(9, 1), (30, 1)], 2), BadInput, "no output of 2 tokens"),
        (lambda: parallel_saving([(0, 5)], 2), BadInput, "num_prompt_tokens of pair 1 is 0"),
        (lambda: parallel_saving([(5, 2), (5, -1)], 2), BadInput, "num_output_tokens of pair 2 is -1"),
        (lambda: parallel_saving([(5, 4, 3)], 2), BadInput, r"pair 1 of the lengths is \(5, 4, 3\)"),
        (lambda: parallel_saving([7], 2), BadInput, "pair 1 of the lengths is 7"),
        (lambda: beam_saving(PAIRS, 0, 0), BadConfig, "beam_width is 0"),
        (lambda: beam_saving(PAIRS, 2, 0, block_size=0), BadConfig, "block_size is 0"),
        (lambda: beam_saving([], 2, 0), BadInput, "lengths is empty"),
        (lambda: beam_saving([(5, 0)], 2, 0), BadInput, "num_output_tokens of pair 1 is 0"),
        (lambda: parallel_block_steps(0, 5, 2), BadInput, "num_prompt_tokens is 0"),
        (lambda: beam_block_steps(5, 1.5, []), BadInput, "num_output_tokens is 1.5"),
        (lambda: beam_block_steps(5, 1, [], -16), BadConfig, "block_size is -16"),
        (lambda: beam_saving(PAIRS, 2, "1"), BadConfig, "seed is '1'"),
        (lambda: beam_saving(PAIRS, 2, 1.5), BadConfig, "seed is 1.5"),
        *[
            (lambda theta=theta: beam_saving(PAIRS, 2, 0, theta=theta), BadConfig, "theta is")
            for theta in (0, -1, float("nan"), float("inf"), True, "0.4")
        ],
    ],
)
def test_bad_input_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call()
