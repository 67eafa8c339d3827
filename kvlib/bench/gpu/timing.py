"""How long a call takes on a GPU: the median of many, each beginning with an L2 cache of no use, twice.

`do_bench` times single calls. Below GRAPH_BELOW_US an event and a launch weigh too much: there, and where Python is
slower than the GPU, LAUNCHES calls are captured in a CUDA graph and its replays are timed.
"""

import gc
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from statistics import median
from time import perf_counter
from typing import NamedTuple

import torch
from triton.testing import do_bench

Call = Callable[[], object]
GRAPH_BELOW_US = 30
LAUNCHES = 20  # in a graph
REPLAYS = 50
FLUSHED_BYTES = 256 * 10**6  # written between replays
WARMUP_MS, REPEAT_MS = 25, 100
TRIAL_WARMUP_MS, TRIAL_REPEAT_MS = 5, 20


class Timing(NamedTuple):
    """Microseconds of one call: the median, what a fifth is below, what a fifth is above, the median of a second run,
    and the time until a call returns to Python. graph: timed in a CUDA graph. All None where nothing can be timed."""

    us_p50: float | None = None
    us_p20: float | None = None
    us_p80: float | None = None
    us_p50_repeat: float | None = None
    host_us: float | None = None
    graph: bool | None = None


class Stopwatch:
    """Times calls on one GPU. l2_bytes: of its second cache."""

    def __init__(self, device: torch.device, l2_bytes: int) -> None:
        self._flushed = torch.empty(max(FLUSHED_BYTES, 2 * l2_bytes), dtype=torch.int8, device=device)

    def time(self, calls: Sequence[Call]) -> Timing:
        """One call of these, which differ in the memory they read, and take turns."""
        turns = cycle(calls)
        host_us = median(host_time(next(turns)) for _ in range(10))
        estimate = median(benched(turns, TRIAL_WARMUP_MS, TRIAL_REPEAT_MS))
        replay = self._replay(turns) if estimate < max(GRAPH_BELOW_US, host_us) else None
        first, second = (
            sorted(self._replayed(replay) if replay else benched(turns, WARMUP_MS, REPEAT_MS)) for _ in range(2)
        )
        return Timing(median(first), at_share(first, 0.2), at_share(first, 0.8), median(second), host_us, bool(replay))

    def _replay(self, turns: Iterator[Call]) -> Call | None:
        try:
            return captured(lambda: [next(turns)() for _ in range(LAUNCHES)])
        except RuntimeError:  # others' code may do what no graph can hold; host_us says what its time is worth then
            return None

    def _replayed(self, replay: Call) -> list[float]:
        events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(REPLAYS)]
        for start, end in events:
            self._flushed.zero_()
            start.record()
            replay()
            end.record()
        torch.cuda.synchronize()
        return [start.elapsed_time(end) * 1000 / LAUNCHES for start, end in events]


def captured(call: Call) -> Call:
    """A CUDA graph of the launches of `call`, as a function that replays it."""
    graph = torch.cuda.CUDAGraph()
    # A compiled kernel that Python happens to free during the capture would break it.
    gc.collect()
    gc.disable()
    try:
        with torch.cuda.graph(graph):
            call()
    finally:
        gc.enable()
    return graph.replay


def host_time(call: Call) -> float:
    """Microseconds until the call returns to Python."""
    torch.cuda.synchronize()
    start = perf_counter()
    call()
    return (perf_counter() - start) * 1e6


def benched(turns: Iterator[Call], warmup_ms: int, repeat_ms: int) -> list[float]:
    """Microseconds of each call. Left alone, do_bench gives their mean."""
    return [ms * 1000 for ms in do_bench(lambda: next(turns)(), warmup_ms, repeat_ms, return_mode="all")]


def at_share(ordered: Sequence[float], share: float) -> float:
    """The number that this share of them is below."""
    return ordered[round(share * (len(ordered) - 1))]
