"""The grid of problems as the tests of this folder take it: which case goes to which backend of this machine."""

import torch

from kvlib.attention import BACKENDS
from kvlib.bench.kernels.grid import grid, masked_grid, quantised_grid
from kvlib.bench.kernels.problems import Case
from kvlib.native import library

GRID = grid()
QUANTISED_GRID = quantised_grid()
MASKED_GRID = masked_grid()

QUANTISED_BACKENDS = ("dense", "gather", "paged")  # those that read quantised caches, and every dtype
# native needs a compiler; triton has a grid of its own, as its interpreter takes a second for each case
BACKENDS_HERE = tuple(name for name in BACKENDS if name != "triton" and (name != "native" or library()))


def backends_for(case: Case) -> tuple[str, ...]:
    """The backends of this machine that solve `case`: native and gather refuse what they are not made for."""
    native = case.dtype == torch.float32 and not (case.quantised or case.window or case.softcap)
    refusing = {"native": not native, "gather": case.softcap is not None}
    return tuple(name for name in BACKENDS_HERE if not refusing.get(name))
