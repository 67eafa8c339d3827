"""Workload W: 32 requests of mixed lengths, all there at the start, for engines that write real tokens."""

from collections.abc import Iterator
from typing import NamedTuple

from kvlib.chance import Chance

NUM_REQUESTS, SEED = 32, 7
PROMPT_LENGTH, OUTPUT_LENGTH = (90, 0.7, 16, 256), (75, 0.6, 8, 128)  # log-normal: median, sigma, clipped to
PROMPTS, OUTPUTS, TOKENS = 1, 2, 3  # streams of chance


class Wanted(NamedTuple):
    """Prompt ids, and how many tokens are to be written after them, whatever they are."""

    prompt: list[int]
    num_tokens: int


def workload_w(vocab_size: int, num_requests: int = NUM_REQUESTS, seed: int = SEED) -> list[Wanted]:
    """`num_requests` prompts of random ids below `vocab_size`; 3,645 prompt tokens and 2,207 to write by default."""
    prompts, outputs = _lengths(seed, PROMPTS, *PROMPT_LENGTH), _lengths(seed, OUTPUTS, *OUTPUT_LENGTH)
    ids = Chance(seed, TOKENS)
    return [Wanted([ids.below(vocab_size) for _ in range(next(prompts))], next(outputs)) for _ in range(num_requests)]


def _lengths(seed: int, stream: int, median: float, sigma: float, least: int, most: int) -> Iterator[int]:
    chance = Chance(seed, stream)
    while True:
        yield min(most, max(least, round(chance.lognormal(median, sigma))))
