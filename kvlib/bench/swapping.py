"""Swapping against recomputing, measured on this machine: the blocks of one sequence copied out and in, or computed.

The engine's own worker does both: whole blocks, one after another, a copy for the keys and one for the values of each
layer (Kwon et al., SOSP 2023, sections 4.5 and 7.3). On a CPU both memories are the same one, so what shows is the
cost of a copy and of its bytes, not that of a link between two memories.
"""

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import NamedTuple

from kvlib.checks import whole
from kvlib.engine.allocation import allocate
from kvlib.engine.decoders import Decoders
from kvlib.engine.settings import Settings
from kvlib.engine.worker import Chunk, Worker
from kvlib.errors import BadInput
from kvlib.memory import SwapBlockManager
from kvlib.models.model import Model
from kvlib.serving.request import Step

SEQ = "sequence"


class Measured(NamedTuple):
    """One block size: the copies that moving the sequence there and back takes, and the seconds of each way."""

    block_size: int
    num_copies: int
    swap_s: float
    recompute_s: float


def measure(
    model: Model, num_tokens: int, block_sizes: Sequence[int] = (1, 4, 16, 64, 256), *, rounds: int = 2
) -> Iterator[Measured]:
    """Measure a sequence of `num_tokens` tokens for each block size in turn: the shortest of `rounds` times.

    The cache of each is as large as the sequence, and freed before the next. Raises BadInput for a number of tokens
    the model's context cannot hold, and BadConfig for a size, or a cache that does not fit.
    """
    sizes = [whole("block_size", size) for size in block_sizes]
    whole("rounds", rounds)
    longest = model.decoder.config.context_length
    if whole("num_tokens", num_tokens, 1, BadInput) > longest:
        raise BadInput(f"num_tokens is {num_tokens}; the model's context holds at most {longest}")
    return (_measure(model, num_tokens, size, rounds) for size in sizes)


def _measure(model: Model, num_tokens: int, block_size: int, rounds: int) -> Measured:
    num_blocks = -(-num_tokens // block_size)
    chosen = Settings(block_size=block_size, num_blocks=num_blocks, preemption="swap", num_host_blocks=num_blocks)
    manager = SwapBlockManager(num_blocks, block_size, num_host_blocks=num_blocks)
    worker = Worker(Decoders(model), manager, allocate(model, chosen))
    manager.admit(SEQ, num_tokens)
    prompt = Chunk(SEQ, 0, [token % model.decoder.config.vocab_size for token in range(num_tokens)])
    swaps, computations = [], []
    num_copies = 0
    for _ in range(rounds):
        start = perf_counter()
        worker.compute([prompt])
        computations.append(perf_counter() - start)
        out, back = Step(), Step()
        out.swap_outs = manager.swap_out([SEQ])
        back.swap_ins = manager.swap_in([SEQ])
        start = perf_counter()
        worker.move(out)
        worker.move(back)
        swaps.append(perf_counter() - start)
        num_copies = 2 * len(worker.caches) * (len(out.swap_outs) + len(back.swap_ins))
    return Measured(block_size, num_copies, min(swaps), min(computations))
