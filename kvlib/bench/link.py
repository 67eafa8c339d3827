"""Swapping on the paper's server, by a law of two terms: what a copy costs, and what its bytes cost on the link.

OPT-13B on an A100, whose blocks go to the host's memory and back over PCIe (Kwon et al., SOSP 2023, section 7.3).
"""

from kvlib.bench.server import quoted, server_cost, server_memory
from kvlib.checks import whole
from kvlib.serving.batch import Batch, SimulatedRequest
from kvlib.serving.lengths import sharegpt
from kvlib.serving.simulator import Simulation
from kvlib.serving.workload import poisson

LINK_REACHED = 0.8  # prior: what large copies usually reach of a data sheet's PCIe
COPY_S = 3e-6  # prior: to start one copy takes a few microseconds


def swap_s(num_tokens: int, block_size: int, copy_s: float = COPY_S) -> float:
    """Seconds to move the blocks of a sequence out and in again: a copy for the keys and one for the values of each
    block in each layer, whole blocks. `copy_s` is what a copy costs beside its bytes."""
    num_blocks = -(-whole("num_tokens", num_tokens) // whole("block_size", block_size))
    copies_a_block = 2 * int(quoted("opt-13b-layers"))
    copy_bytes = block_size * quoted("opt-13b-token-bytes") / copies_a_block
    bytes_per_s = quoted("a100-pcie") / 2 * 1e9 * LINK_REACHED  # the data sheet counts both directions
    return 2 * num_blocks * copies_a_block * (copy_s + copy_bytes / bytes_per_s)


def recompute_s(num_tokens: int, num_running: int = 0, num_kv_tokens: int = 0) -> float:
    """Seconds by which an iteration of `num_running` sequences that read `num_kv_tokens` tokens becomes longer when
    another of `num_tokens` tokens is computed in it; with nobody running, the whole iteration."""
    law = server_cost("paged")
    with_it = law.seconds(num_running + 1, num_running + num_tokens, num_kv_tokens + num_tokens)
    return with_it - law.seconds(num_running, num_running, num_kv_tokens) if num_running else with_it


class _Yields(Batch):
    def __init__(self) -> None:
        super().__init__()
        self.held: list[int] = []  # tokens

    def preempt_latest(self) -> SimulatedRequest:
        request = super().preempt_latest()
        self.held.append(request.num_tokens - 1)  # the newest of them is not stored yet
        return request


def yielded_tokens(rate: float, seed: int = 0, *, duration_s: float = 3600) -> list[int]:
    """How many tokens each request stores that yields in an hour of the server with ShareGPT's lengths, `rate` requests
    a second; one that yields again is listed again. Errors are those of `poisson`."""
    arrivals = poisson(sharegpt(seed=seed), rate, seed=seed, duration_s=duration_s)
    simulation = Simulation(arrivals, server_memory("paged"), server_cost("paged"), until_s=duration_s)
    simulation.batch = yields = _Yields()
    while simulation.step():
        pass
    return yields.held
