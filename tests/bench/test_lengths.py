"""Lengths that only the comparison with the paper needs."""

from itertools import islice
from statistics import mean

import pytest

from kvlib.bench.chat import chat
from kvlib.bench.translation import translation


@pytest.mark.parametrize("law", [chat, translation])
def test_a_seed_decides_every_pair(law):
    first, again, other = (list(islice(law(seed), 50)) for seed in (3, 3, 4))
    assert first == again != other


def test_chats_are_cut_at_1024_and_have_the_lists_means():
    pairs = list(islice(chat(0), 20_000))
    assert all(1 <= prompt <= 1024 and 2 <= answer <= 1024 for prompt, answer in pairs)
    assert mean(prompt for prompt, _ in pairs) == pytest.approx(790, rel=0.02)
    assert mean(answer for _, answer in pairs) == pytest.approx(439, rel=0.02)
    assert mean(prompt == 1024 for prompt, _ in pairs) == pytest.approx(0.6, abs=0.04)


def test_translations_have_the_means_that_were_guessed():
    pairs = list(islice(translation(0), 20_000))
    assert mean(prompt for prompt, _ in pairs) == pytest.approx(35, rel=0.03)
    assert mean(output for _, output in pairs) == pytest.approx(42, rel=0.03)
    assert min(min(pair) for pair in pairs) >= 1
