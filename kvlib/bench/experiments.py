"""The experiments of the paper's section 6 that a simulator can repeat, each a function of a seed that returns numbers.

Every argument can be pickled, so that a sweep may run many of them at once.
"""

import math
from itertools import islice

from kvlib.bench.lengths import LENGTHS
from kvlib.bench.server import server_cost, server_memory
from kvlib.serving.lengths import sharegpt
from kvlib.serving.metrics import Result
from kvlib.serving.sharing import beam_saving, parallel_saving
from kvlib.serving.simulator import simulate
from kvlib.serving.workload import all_at_once, poisson

TRACE_S = {"alpaca": 1200, "translation": 600}  # simulated seconds of arrivals; the paper's hour for the others
HOUR_S = 3600
LIMIT_S = 0.2  # seconds a token: where the curves of figure 12a are compared
BEAMS = {"alpaca": 6000, "sharegpt": 600}  # beams followed, of all requests together
SEARCHES = 3  # interpolations; a fourth moves a rate by less than 1 %


def batching(seed: int, policy: str, lengths: str, rate_per_s: float) -> Result:
    """A trace at this rate, averaged over its own time: who still waits or runs at its end is cut off."""
    duration_s = TRACE_S.get(lengths, HOUR_S)
    arrivals = poisson(LENGTHS[lengths](seed), rate_per_s, seed, duration_s=duration_s)
    return simulate(arrivals, server_memory(policy), server_cost(policy), until_s=duration_s)


def queued(seed: int, policy: str, num_requests: int = 3000, until_s: float = 1500) -> Result:
    """ShareGPT requests that all wait at the start, so that memory is the only limit."""
    arrivals = all_at_once(sharegpt(seed), num_requests)
    return simulate(arrivals, server_memory(policy), server_cost(policy), until_s=until_s)


def latency_s(
    seed: int, policy: str, lengths: str, rate_per_s: float, block_size: int = 16, num_shared_tokens: int = 0
) -> float:
    """Mean normalized latency, seconds a token, over every request of a trace.

    Each prompt is `num_shared_tokens` tokens longer than the law's: a prefix that all have in common. Paged memory
    holds its full blocks once and computes them never; the others treat it as text like any other.
    """
    num_own_tokens = num_shared_tokens % block_size if policy == "paged" else num_shared_tokens
    num_held_once = num_shared_tokens - num_own_tokens
    pairs = ((num_own_tokens + prompt, output) for prompt, output in LENGTHS[lengths](seed))
    memory = server_memory(policy, block_size=block_size, num_slots_taken=num_held_once)
    arrivals = poisson(pairs, rate_per_s, seed, duration_s=TRACE_S.get(lengths, HOUR_S))
    result = simulate(arrivals, memory, server_cost(policy, num_held_once))
    assert result.normalized_latency_s is not None
    return result.normalized_latency_s


def sustained_rate(seed: int, policy: str, lengths: str, low: float, high: float, num_shared_tokens: int = 0) -> float:
    """The rate, requests a second, at which the latency reaches LIMIT_S; NaN if not between `low` and `high`.

    The logarithm of the latency is taken as straight between two rates, again and again.
    """

    def excess(rate_per_s: float) -> float:
        latency = latency_s(seed, policy, lengths, rate_per_s, num_shared_tokens=num_shared_tokens)
        return math.log(latency / LIMIT_S)

    below, above = excess(low), excess(high)
    if not below < 0 < above:
        return math.nan
    for _ in range(SEARCHES):
        rate = low + (high - low) * below / (below - above)
        found = excess(rate)
        if found < 0:
            low, below = rate, found
        else:
            high, above = rate, found
    return low + (high - low) * below / (below - above)


def parallel(seed: int, lengths: str, num_samples: int) -> float:
    """Share of blocks saved by parallel sampling."""
    return parallel_saving(islice(LENGTHS[lengths](seed), 20_000), num_samples)


def beam(seed: int, lengths: str, beam_width: int) -> float:
    """Share of blocks saved by beam search, on the synthetic model of `kvlib.serving.sharing`."""
    return beam_saving(islice(LENGTHS[lengths](seed), BEAMS[lengths] // beam_width), beam_width, seed)
