"""The pictures of labs 0 and 2 say their numbers to those who do not see them."""

import pytest

from kvlib.grading.exercises.measuring.pictures import batches, matrices, runs, steps, stopwatch
from kvlib.grading.exercises.sizing.pictures import card, heads, last_blocks, lengths

PICTURES = [
    (matrices({"query": (576, 576), "key": (192, 576)}), "query 576 x 576, key 192 x 576."),
    (steps(500_000_000, 100_000_000, (1, 4)), "1: 600 MB, 4: 900 MB."),
    (stopwatch([2, 0.5, 1.25]), "runs of 0.5, 1.25 seconds"),
    (runs([22, 20, 48]), "3 runs: fastest 20 ms, median 22 ms, mean 30 ms."),
    (batches({1: 44, 2: 88}, {1: 30}, 400), "44 at 1, 88 at 2. Decode reached 30 at 1. Prefill does 400."),
    (heads(8, 2), "Query heads, which ask: 8; KV heads, which are stored: 2."),
    (lengths({"hidden_size": 2560, "all heads": 4096}, "numbers"), "numbers: hidden_size 2,560, all heads 4,096."),
    (card(40, 0.9, 10), "Of 40 GiB: weights 9.3, cache 26.7, not the engine's 4.0."),
    (last_blocks(50, (8, 64)), "slots that stay empty: 6 of blocks of 8, 14 of blocks of 64."),
]


@pytest.mark.parametrize(("picture", "said"), PICTURES, ids=[said for _, said in PICTURES])
def test_a_picture_says_its_numbers(picture, said):
    assert said in picture.alt
