"""What the paper claims and a simulator can repeat: every claim with its jobs, its tolerance and an honest word.

The tolerances say how far the assumptions carry; none was widened to let a claim pass. Fitted to the paper: the
outputs' spread (to one bar of figure 2), 8 ms and 0.25 ms of the time law (to figure 12a and to 132.44 in figure 13b),
theta of the beams (to figure 15). All else is predicted.
"""

from kvlib.bench.claims import Figure
from kvlib.bench.memory_claims import batched_alpaca, batched_sharegpt, memory_held, without_a_fit
from kvlib.bench.rate_claims import block_sizes, chatbot, rates, shared_prefix
from kvlib.bench.sharing_claims import beams_under_load, sharing


def figures() -> list[Figure]:
    """All of them, in the order of the paper."""
    return [
        memory_held(),
        without_a_fit(),
        rates(),
        batched_sharegpt(),
        batched_alpaca(),
        beams_under_load(),
        sharing(),
        shared_prefix(),
        chatbot(),
        block_sizes(),
    ]
