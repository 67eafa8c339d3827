"""How fast this machine copies memory, to hold beside what an engine reads."""

import time

import torch

COPY_BYTES = 1 << 28  # far beyond any cache
REPEATS = 5


def copy_bytes_per_s() -> float:
    """Bytes read and written in a second by torch's copy of a large tensor, on as many threads as torch has; the best
    of REPEATS."""
    source = torch.ones(COPY_BYTES // 4)
    target = torch.empty_like(source).copy_(source)  # its pages are there before the clock runs
    return max(2 * COPY_BYTES / _seconds(source, target) for _ in range(REPEATS))


def _seconds(source: torch.Tensor, target: torch.Tensor) -> float:
    start = time.perf_counter()
    target.copy_(source)
    return time.perf_counter() - start
