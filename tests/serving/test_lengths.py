import json
from importlib import resources
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvlib.errors import BadConfig, BadInput
from kvlib.serving.lengths import alpaca, from_pairs, sharegpt, sharegpt_first_turns

LAWS = [sharegpt, alpaca, sharegpt_first_turns]
RECORDS = json.loads(resources.files("kvlib.data").joinpath("lengths.json").read_text(encoding="utf-8"))
N = 40_000
seeds = st.integers(0, 2**64)
pairs = st.tuples(st.integers(1, 5000), st.integers(1, 5000))


def drawn(law, seed=0, n=N, **limits):
    return list(islice(law(seed, **limits), n))


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def shares(counts):
    """Percent of `counts` in (limit / 2, limit], by limit, a power of two."""
    limits = [1 << (count - 1).bit_length() for count in counts]
    return {limit: 100 * limits.count(limit) / len(limits) for limit in set(limits)}


def farthest(ours, real):
    return max(abs(ours.get(limit, 0) - real.get(limit, 0)) for limit in {*ours, *real})


@pytest.mark.parametrize("law", LAWS)
@given(seed=seeds, longest=st.integers(64, 3000))
def test_pairs_are_two_counts_that_fit_the_limit_and_a_seed_gives_them_again(law, seed, longest):
    given_pairs = drawn(law, seed, 8, longest=longest)
    assert given_pairs == drawn(law, seed, 8, longest=longest)
    for pair in given_pairs:
        assert [type(count) for count in pair] == [int, int]
        assert min(pair) >= 1
        assert sum(pair) <= longest


@pytest.mark.parametrize("law", LAWS)
def test_another_seed_gives_other_pairs(law):
    assert drawn(law, 0, 20) != drawn(law, 1, 20)


@pytest.mark.parametrize("law", LAWS)
def test_a_lower_limit_leaves_out_what_is_longer_and_nothing_else(law):
    assert drawn(law, 5, 50, longest=300) == [pair for pair in drawn(law, 5, 2000) if sum(pair) <= 300][:50]


def test_sharegpt_has_the_papers_means_after_the_limit_has_cut_it():
    lengths = [pair for seed in range(3) for pair in drawn(sharegpt, seed)]
    assert mean(given for given, _ in lengths) == pytest.approx(161.31, rel=0.01)
    assert mean(written for _, written in lengths) == pytest.approx(337.99, rel=0.01)
    assert min(map(min, lengths)) == 1


def test_sharegpt_has_the_shapes_that_its_docstring_gives():
    lengths = drawn(sharegpt)
    outputs = [written for _, written in lengths]
    assert (mean(n * n for n in outputs) / mean(outputs) ** 2 - 1) ** 0.5 == pytest.approx(0.858, abs=0.01)
    assert sorted(given for given, _ in lengths)[N // 2] == pytest.approx(73, abs=2)
    assert mean(i * o for i, o in lengths) / mean(outputs) == pytest.approx(153.7, rel=0.03)


# Of the 2,000 and the 5,498 real pairs that data/lengths.json keeps the quantiles of.
REAL = {
    alpaca: {
        "means": (18.64, 58.60),
        "mean of output squared": 6_986,
        "mean of input times output": 1_007,
        "outputs": {1: 1.6, 2: 1.9, 4: 2.6, 8: 9.4, 16: 15.5, 32: 14.3, 64: 16.1, 128: 29.0, 256: 8.5, 512: 1.2},
        "sums": {8: 0.1, 16: 2.1, 32: 22.5, 64: 26.9, 128: 34.2, 256: 12.5, 512: 1.9, 1024: 0.1},
    },
    sharegpt_first_turns: {
        "means": (163.75, 467.16),
        "mean of output squared": 296_639,
        "mean of input times output": 75_424,
        "outputs": {4: 0.6, 8: 0.3, 16: 0.9, 32: 2.5, 64: 4.9, 128: 7.7, 256: 9.0, 512: 29.2, 1024: 44.7},
        "sums": {32: 0.5, 64: 1.8, 128: 5.6, 256: 9.8, 512: 22.3, 1024: 46.6, 2048: 13.3},
    },
}


@pytest.mark.parametrize("law", REAL, ids=lambda law: law.__name__)
def test_quantiles_give_back_the_moments_that_memory_depends_on(law):
    inputs, outputs = zip(*drawn(law))
    assert (mean(inputs), mean(outputs)) == pytest.approx(REAL[law]["means"], rel=0.02)
    assert mean(n * n for n in outputs) == pytest.approx(REAL[law]["mean of output squared"], rel=0.02)
    assert mean(i * o for i, o in zip(inputs, outputs)) == pytest.approx(
        REAL[law]["mean of input times output"], rel=0.03
    )


@pytest.mark.parametrize("law", REAL, ids=lambda law: law.__name__)
def test_quantiles_give_back_what_a_power_of_two_holds_to_a_percent_of_all(law):
    lengths = drawn(law)
    assert farthest(shares([written for _, written in lengths]), REAL[law]["outputs"]) < 1
    assert farthest(shares([sum(pair) for pair in lengths]), REAL[law]["sums"]) < 1


def test_the_alpaca_prompt_has_the_opening_token_on_top_of_its_list():
    shortest = min(quantile for band in RECORDS["alpaca"]["inputs_by_output"] for quantile in band)
    assert min(given for given, _ in drawn(alpaca)) == shortest + 1


@pytest.mark.parametrize("name", RECORDS)
def test_every_record_names_its_source_and_its_quantiles_never_fall(name):
    record = RECORDS[name]
    assert "/" in record["source"]
    assert record["num_pairs"] > 1000
    for quantiles in (record["outputs"], *record["inputs_by_output"]):
        assert quantiles == sorted(quantiles)
        assert quantiles[0] >= 1


@given(st.lists(pairs, min_size=1, max_size=5), seeds)
def test_your_own_pairs_are_drawn_whole_and_again_for_the_same_seed(known, seed):
    first = list(islice(from_pairs(iter(known), seed), 30))
    assert set(first) <= set(known)
    assert first == list(islice(from_pairs(known, seed), 30))


def test_every_one_of_your_pairs_is_equally_likely():
    known = [(k, k) for k in range(1, 9)]
    counts = list(islice(from_pairs(known, 0), 8000))
    assert max(abs(counts.count(pair) - 1000) for pair in known) < 150


@pytest.mark.parametrize(
    ("known", "named"),
    [
        ([], "there are no pairs"),
        ([(1, 1), (1, 0)], "num_output_tokens of pair 2 is 0"),
        ([(1.0, 1)], "num_prompt_tokens of pair 1 is 1.0"),
        ([(1, 2, 3)], r"pair 1 of the lengths is \(1, 2, 3\)"),
        (["12"], "pair 1 of the lengths is '12'"),
    ],
)
def test_a_list_that_cannot_be_drawn_from_is_refused_at_the_call(known, named):
    with pytest.raises(BadInput, match=named):
        from_pairs(known, 0)


@pytest.mark.parametrize("seed", [None, "0", 0.0, True, -1])
@pytest.mark.parametrize("law", [*LAWS, lambda seed: from_pairs([(1, 1)], seed)])
def test_a_seed_that_is_no_whole_number_is_refused_at_the_call(law, seed):
    with pytest.raises(BadConfig, match=r"seed is .* give a whole number"):
        law(seed)


@pytest.mark.parametrize("longest", [63, 0, -1, 2048.0, None, True])
@pytest.mark.parametrize("law", LAWS)
def test_a_limit_that_hardly_any_pair_meets_is_refused_at_the_call(law, longest):
    with pytest.raises(BadConfig, match=r"longest is .* at least 64"):
        law(0, longest)
