"""How many requests run at once under a learner's scheduler, beside figure 13 of the PagedAttention paper."""

from collections.abc import Callable
from statistics import fmean
from typing import Any, NamedTuple

from kvlib.bench.lengths import LENGTHS
from kvlib.bench.policies import LEDGER, NAMES, POLICIES, RESERVING
from kvlib.bench.server import quoted, server_cost, server_memory
from kvlib.grading.exercises.scheduling.drive import Driven
from kvlib.serving.counted import CountedBlocks
from kvlib.serving.simulator import simulate
from kvlib.serving.workload import Arrival, poisson

SUFFIX = {"sharegpt": "", "alpaca": "-alpaca"}  # of the ledger's ids
ALLOWED = {"max": 0.5, "pow2": 5, "oracle": 5}  # per cent of the paper's number
ALLOWED_PAGED = {"sharegpt": 15, "alpaca": 10}
SEEDS = range(3)


class Batched(NamedTuple):
    """Requests batched on average under one system: the paper's number, the one found here, that of the book's longer
    run, and how far from the paper's is still near, in per cent of it."""

    system: str
    quoted: float
    found: float
    book: float
    allowed: float

    @property
    def apart(self) -> float:
        """How far ours is from the paper's, in per cent of it."""
        return 100 * (self.found / self.quoted - 1)

    @property
    def verdict(self) -> str:
        """ "inside", or that it is not."""
        return "inside" if abs(self.apart) <= self.allowed else "NOT reproduced"


def batched(scheduler: Callable[..., Any], lengths: str, rate_per_s: float, duration_s: float) -> list[Batched]:
    """The four systems of figure 13: three that reserve, with three seeds, and blocks under `scheduler`, with one.

    `lengths` is "sharegpt" or "alpaca". Raises Wrong as `Driven` does.
    """

    def workload(seed: int) -> list[Arrival]:
        return list(poisson(LENGTHS[lengths](seed), rate_per_s, seed, duration_s=duration_s))

    def reserved(policy: str, seed: int) -> float:
        memory, cost = server_memory(policy), server_cost(policy)
        return simulate(workload(seed), memory, cost, until_s=duration_s).mean_running

    def paged() -> float:
        memory = CountedBlocks(int(quoted("opt-13b-slots")) // 16, watermark=0)
        driven = Driven(scheduler, workload(SEEDS[0]), memory, server_cost("paged"), duration_s)
        while driven.step():
            pass
        return driven.result().mean_running

    return [
        Batched(
            NAMES[policy],
            quoted(f"{LEDGER[policy]}-batched{SUFFIX[lengths]}"),
            fmean(reserved(policy, seed) for seed in SEEDS) if policy in RESERVING else paged(),
            quoted(f"sim-{LEDGER[policy]}-batched{SUFFIX[lengths]}"),
            (ALLOWED | {"paged": ALLOWED_PAGED[lengths]})[policy],
        )
        for policy in POLICIES
    ]
