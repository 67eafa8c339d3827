"""Every row of a run, suite by suite, in the order in which they are measured: what matters most comes first."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import torch
from torch.nn.attention import SDPBackend

from kvlib.bench.gpu.baselines import contiguous, flex, gathered
from kvlib.bench.gpu.ceilings import copied, read, read_paged
from kvlib.bench.gpu.change import NOTHING, Change
from kvlib.bench.gpu.contestants import first_kernel, ours
from kvlib.bench.gpu.loads import DTYPES, Load
from kvlib.bench.gpu.machine import Machine
from kvlib.bench.gpu.measure import Timed
from kvlib.bench.gpu.pools import Pools
from kvlib.bench.gpu.proof import Proved, Stored
from kvlib.bench.gpu.replay import Captured
from kvlib.bench.gpu.sizes import Sizes
from kvlib.bench.gpu.suites import chosen
from kvlib.bench.kernels.kernel_grid import ON_A_GPU, trials
from kvlib.bench.kernels.storing import stores

SDPA = {
    "sdpa-flash": SDPBackend.FLASH_ATTENTION,
    "sdpa-cudnn": SDPBackend.CUDNN_ATTENTION,
    "sdpa-math": SDPBackend.MATH,
}
"""torch's own attention on contiguous keys and values, by name of the row."""


class Entry(Protocol):
    """A row before it is measured. fields: those known beforehand. dtypes: of the query and of the caches."""

    @property
    def suite(self) -> str: ...
    @property
    def fields(self) -> dict[str, Any]: ...
    @property
    def dtypes(self) -> tuple[torch.dtype, torch.dtype]: ...

    def num_bytes(self, machine: Machine) -> int:
        """Bytes of the caches that it makes."""

    def fill(self, pools: Pools, machine: Machine) -> dict[str, Any]:
        """The other fields, measured. Raises what the code under test does."""

    def warm_up(self, machine: Machine) -> None:
        """Have its kernels compiled."""


def plan(sizes: Sizes, suites: Sequence[str]) -> list[Entry]:
    """The rows of these suites and of env."""
    makers = {"env": _env, "grid": _grid, "decode": _decode, "ablations": _ablations, "baselines": _baselines}
    return [entry for suite in chosen(suites) for entry in makers[suite](sizes)]


def _env(sizes: Sizes) -> Iterator[Entry]:
    yield Timed("env", "copy", sizes.big, copied, compiles=False)
    yield Timed("env", "read", sizes.big, read)
    yield Timed("env", "paged-read", sizes.big, read_paged)


def _grid(sizes: Sizes) -> Iterator[Entry]:
    yield Captured(sizes.ragged[0])
    yield Captured(sizes.long)
    yield from map(Proved, _some(trials(ON_A_GPU), sizes.num_trials))
    yield from map(Stored, _some(stores(ON_A_GPU), sizes.num_stores))


def _some(everything: Sequence[Any], number: int) -> Sequence[Any]:
    """About so many of them, from the first to the last."""
    return everything[:: max(1, len(everything) // number)]


def _decode(sizes: Sizes) -> Iterator[Entry]:
    for load in (*sizes.decode, *sizes.ragged):
        yield from (Timed("decode", "kvlib", load._replace(dtype=dtype), ours) for dtype in DTYPES)
    yield from (Timed("decode", "kvlib", load, ours) for load in sizes.groups)


def _ablations(sizes: Sizes) -> Iterator[Entry]:
    for load in (sizes.big, sizes.long):
        for change in changes(sizes):
            yield Timed("ablations", "kvlib", load, ours, change)
        for block_size in sizes.blocks:
            change = Change(f"block={block_size}")
            yield Timed("ablations", "kvlib", load._replace(block_size=block_size), ours, change)


def changes(sizes: Sizes) -> Iterator[Change]:
    """What the ablations try, but for the block size, which is the load's."""
    yield NOTHING
    yield Change("heads unpacked", packed=False)
    yield Change("int64 ids", wide_ids=True)
    yield Change("rows=4", rows=4)
    yield from (Change(f"splits={splits}", num_splits=splits) for splits in sizes.splits)
    yield from (Change(f"tokens={tokens}", tokens=tokens) for tokens in sizes.tokens)
    yield from (Change(f"stages={stages}", num_stages=stages) for stages in sizes.stages)
    yield from (Change(f"warps={warps}", num_warps=warps) for warps in sizes.warps)
    yield Change("blocks in order", shuffled=False)
    yield Change("odd stride", odd_stride=True)


def _baselines(sizes: Sizes) -> Iterator[Entry]:
    for load in (*sizes.ragged, sizes.big):
        yield from _rivals(load, sizes)
    yield from (Timed("baselines", "naive", load, first_kernel) for load in (sizes.big, sizes.long, *sizes.ragged))
    for impl, backend in SDPA.items():
        yield Timed("baselines", impl, sizes.big, contiguous(backend), compiles=False)
    for load in sizes.ragged:
        yield from _rivals(load._replace(dtype="bf16"), sizes)


def _rivals(load: Load, sizes: Sizes) -> Iterator[Entry]:
    yield Timed("baselines", "gather-sdpa", load, gathered, compiles=False)
    yield Timed("baselines", "flex", load._replace(block_size=sizes.flex_block), flex, compiles=False)
