"""The requests of the replay: long prompts, half of which begin with one of a few system prompts.

Everything follows from the seed by SplitMix64, so two people who see the same digest replay the same requests.
"""

import hashlib
from collections import namedtuple
from collections.abc import Iterable, Iterator

from kvlib.chance import WORD, mix
from kvlib.checks import whole
from kvlib.errors import MissingPackage

try:
    import numpy as np
except ImportError as error:
    raise MissingPackage("making the requests needs numpy; run: pip install numpy") from error

NUM_SYSTEM_PROMPTS = 20
SYSTEM_LENGTH, PROMPT_LENGTH, OUTPUT_LENGTH = (512, 1024), (512, 4096), (128, 512)  # tokens, uniform
VOCABULARY = 128_000
LENGTHS, SYSTEMS, PROMPTS, OUTPUTS = 1, 2, 3, 4  # streams of chance

RecordedRequest = namedtuple("RecordedRequest", "prompt output")
RecordedRequest.__doc__ = "Token ids that a client sent, and those it was answered with: two lists of ints."


def make_requests(num_requests: int = 2000, seed: int = 0) -> Iterator[RecordedRequest]:
    """`num_requests` requests in the order in which they arrive."""
    whole("num_requests", num_requests), whole("seed", seed, 0)
    for number in range(num_requests):
        conversation = number * 8
        want = _between(PROMPT_LENGTH, seed, LENGTHS, conversation)
        system: list[int] = []
        if _fraction(seed, LENGTHS, conversation + 1) < 0.5:
            index = int(_fraction(seed, LENGTHS, conversation + 2) * NUM_SYSTEM_PROMPTS)
            system = _tokens(_between(SYSTEM_LENGTH, seed, SYSTEMS, -1 - index & WORD), seed, SYSTEMS, index)
        own = _tokens(max(1, want - len(system)), seed, PROMPTS, number)
        num_outputs = _between(OUTPUT_LENGTH, seed, LENGTHS, (number << 20) + 3)
        yield RecordedRequest(system + own, _tokens(num_outputs, seed, OUTPUTS, number))


def digest(requests: Iterable[RecordedRequest]) -> str:
    """SHA-256 of all token ids, four bytes each, lowest first: prompt and output of each request in turn."""
    total = hashlib.sha256()
    for request in requests:
        for tokens in request:
            total.update(np.array(tokens, "<i4").tobytes())
    return total.hexdigest()


def _between(bounds: tuple[int, int], *place: int) -> int:
    low, high = bounds
    return low + mix(*place) % (high - low + 1)


def _fraction(*place: int) -> float:
    return (mix(*place) >> 11) / (1 << 53)


def _tokens(count: int, *place: int) -> list[int]:
    """SplitMix64's own sequence from a starting point, reduced to the vocabulary."""
    bits = np.uint64(mix(*place)) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    return (bits % np.uint64(VOCABULARY)).tolist()
