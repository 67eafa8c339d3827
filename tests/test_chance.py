import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvlib.chance import Chance, mix
from kvlib.errors import BadConfig

N = 20_000
words = st.integers(0, 2**64 - 1)
seeds = st.integers(0, 2**70)


def moments(draws):
    mean = sum(draws) / len(draws)
    return mean, math.sqrt(sum((draw - mean) ** 2 for draw in draws) / len(draws))


def draw(method, *arguments, seed=0, n=N):
    chance = Chance(seed)
    return [getattr(chance, method)(*arguments) for _ in range(n)]


@pytest.mark.parametrize(
    ("triple", "bits"),
    [
        ((0, 0, 0), 0x238275BC38FCBE91),
        ((1, 2, 3), 0xD0734750FDE362B3),
        ((2**64 - 1, 6, 1 << 20), 0x1D23358B5C8FA854),
        ((7, 3, 2**64 - 5), 0xE5E787A23192175C),
    ],
)
def test_mix_gives_the_same_bits_everywhere(triple, bits):
    assert mix(*triple) == bits


def test_one_round_of_the_mixing_is_the_published_generator():
    """SplitMix64 from state 0 begins with 0xE220A8397B1DCDAF; streams undo one another's index by exclusive or."""
    assert mix(0, 0xE220A8397B1DCDAF, 0xE220A8397B1DCDAF) == 0xE220A8397B1DCDAF


@given(words, words, words)
def test_the_low_64_bits_of_each_number_decide(seed, stream, index):
    assert mix(seed + 2**64, stream + 2**64, index - 2**64) == mix(seed, stream, index)
    assert 0 <= mix(seed, stream, index) < 2**64


@given(seeds, st.integers(0, 9), st.integers(1, 20))
def test_draw_number_i_is_the_mix_of_seed_stream_and_i(seed, stream, n):
    chance = Chance(seed, stream)
    assert [chance.bits() for _ in range(n)] == [mix(seed, stream, index) for index in range(n)]


@given(seeds)
def test_drawing_from_one_stream_shifts_no_other(seed):
    alone, beside, other = Chance(seed, 1), Chance(seed, 1), Chance(seed, 2)
    others = []
    for _ in range(5):
        others.append(other.bits())
        assert alone.bits() == beside.bits()
    assert len({*others, *(mix(seed, 1, index) for index in range(5))}) == 10


@given(seeds, st.integers(1, 2**40))
def test_below_stays_below_and_a_fraction_is_a_53_bit_share(seed, n):
    assert 0 <= Chance(seed).below(n) < n
    fraction = Chance(seed).fraction()
    assert 0 <= fraction < 1
    assert (fraction * 2**53).is_integer()


def test_below_gives_each_number_its_share():
    drawn = draw("below", 7)
    assert max(abs(drawn.count(number) - N / 7) for number in range(7)) < 5 * math.sqrt(N / 7)


@pytest.mark.parametrize(
    ("method", "arguments", "mean", "deviation"),
    [
        ("fraction", (), 0.5, math.sqrt(1 / 12)),
        ("exponential", (3.0,), 3.0, 3.0),
        ("normal", (), 0.0, 1.0),
        ("gamma", (1.0, 5.0), 5.0, 5.0),
        ("gamma", (1.3, 2.0), 2.6, 2.0 * math.sqrt(1.3)),
        ("gamma", (50.0, 0.1), 5.0, 0.1 * math.sqrt(50)),
        ("lognormal", (4.0, 0.25), 4.0 * math.exp(1 / 32), 4.0 * math.exp(1 / 32) * math.sqrt(math.exp(1 / 16) - 1)),
    ],
)
def test_each_law_has_its_mean_and_deviation(method, arguments, mean, deviation):
    drawn_mean, drawn_deviation = moments(draw(method, *arguments))
    assert drawn_mean == pytest.approx(mean, abs=5 * deviation / math.sqrt(N))
    assert drawn_deviation == pytest.approx(deviation, rel=0.05)


def test_half_of_a_lognormal_lies_below_its_median():
    below = sum(length < 60 for length in draw("lognormal", 60.0, 1.4))
    assert below == pytest.approx(N / 2, abs=5 * math.sqrt(N / 4))


def test_an_exponential_forgets_how_long_it_has_waited():
    gaps = draw("exponential", 1.0)
    longer_than = [sum(gap > age for gap in gaps) for age in (0, 1, 2)]
    assert longer_than[1] / longer_than[0] == pytest.approx(math.exp(-1), abs=0.02)
    assert longer_than[2] / longer_than[1] == pytest.approx(math.exp(-1), abs=0.03)


@pytest.mark.parametrize("seed", [None, 1.0, "7", True, -1, float("nan")])
def test_a_seed_that_is_no_whole_number_is_refused_by_name(seed):
    with pytest.raises(BadConfig, match=r"seed is .* give a whole number"):
        Chance(seed)
    with pytest.raises(BadConfig, match=r"stream is .* give a whole number"):
        Chance(0, seed)


@pytest.mark.parametrize("shape", [0.99, 0, -1, float("nan")])
def test_a_gamma_of_a_shape_that_the_method_does_not_cover_is_refused(shape):
    with pytest.raises(BadConfig, match=r"shape is .* at least 1"):
        Chance(0).gamma(shape, 1.0)


@pytest.mark.parametrize("n", [0, -3, 2.0, True])
def test_there_is_nothing_below_less_than_one(n):
    with pytest.raises(BadConfig, match="n is "):
        Chance(0).below(n)
