"""One timed row: prepared, checked against float64, timed, checked again."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from kvlib.bench.gpu.change import NOTHING, Change
from kvlib.bench.gpu.contestants import Contestant, Prepared, splits_of
from kvlib.bench.gpu.loads import Load
from kvlib.bench.gpu.machine import Machine
from kvlib.bench.gpu.pool import answers, checked_sequences, new_pool, pool_bytes
from kvlib.bench.gpu.pools import Pools
from kvlib.bench.gpu.watch import watched
from kvlib.bench.kernels.problems import BOUNDS, error

MINIATURE = (300, 300)  # contexts that compile the kernel of any load with as many splits


def row_id(suite: str, impl: str, load: Load, change: Change = NOTHING) -> str:
    """The id of a row, unique in a run."""
    return "/".join(filter(None, (suite, impl, load.name, load.dtype, change.name)))


class Timed(NamedTuple):
    """A row to time: `contestant`, named `impl`, on `load` with `change`. compiles: whether it has a kernel of ours."""

    suite: str
    impl: str
    load: Load
    contestant: Contestant
    change: Change = NOTHING
    compiles: bool = True

    @property
    def fields(self) -> dict[str, Any]:
        """Those that are known beforehand."""
        load = self.load
        return {
            "id": row_id(self.suite, self.impl, load, self.change),
            "suite": self.suite,
            "impl": self.impl,
            "variant": self.change.name,
            **load.fields,
        }

    @property
    def dtypes(self) -> tuple[torch.dtype, torch.dtype]:
        return self.load.query_dtype, self.load.cache_dtype

    def num_bytes(self, machine: Machine) -> int:
        """Of the caches."""
        return pool_bytes(self.load, machine.l2_bytes)

    def fill(self, pools: Pools, machine: Machine) -> dict[str, Any]:
        """The other fields: times, errors, status. Raises what the contestant does."""
        pool = pools.take(self.load, self.change)
        prepared = self.contestant(pool, self.change, machine)
        expected = prepared.expected or [answers(pool, table) for table in pool.tables[: len(prepared.calls)]]
        _poison(prepared.owned)
        with watched(prepared.kernel) as compiled:
            outputs = [call() for call in prepared.calls]
        before = self._errors(outputs, expected, prepared)
        _poison(prepared.owned)
        timing = machine.time(prepared.calls)
        machine.synchronize()
        # Calls that were not timed were not made again: what they own is poison still.
        after = before if timing.us_p50 is None else self._errors(outputs, expected, prepared)
        rel_err, max_abs = (max(pair) for pair in zip(before, after))
        bound = prepared.bound or BOUNDS[self.load.query_dtype]
        right = rel_err <= bound
        return {
            "rot_bytes": len(prepared.calls) * self.load.kv_bytes,
            **timing._asdict(),
            "rel_err": rel_err if math.isfinite(rel_err) else None,
            "max_abs": max_abs if math.isfinite(max_abs) else None,
            "finite": math.isfinite(max_abs),
            **compiled,
            **prepared.details,
            "status": "ok" if right else "wrong",
            "note": prepared.note if right else f"relative error {rel_err:.2g}, of which {bound:.2g} is allowed",
        }

    def warm_up(self, machine: Machine) -> None:
        """Have its kernel compiled, on a load as small as has the same one."""
        if not self.compiles:
            return
        load, change = self.load, self.change
        change = change._replace(num_splits=splits_of(load, change, machine))
        miniature = load._replace(context_lens=MINIATURE)
        pool = new_pool(miniature, machine.device, 0, shuffled=change.shuffled, odd_stride=change.odd_stride)
        self.contestant(pool, change, machine).calls[0]()

    def _errors(self, outputs: Sequence[Tensor], expected: Sequence[Tensor], prepared: Prepared) -> tuple[float, float]:
        """The largest relative error of a checked row, and the largest absolute one; infinite where any output is not
        finite."""
        relative = absolute = 0.0
        for output, wanted in zip(outputs, expected, strict=True):
            rows, wanted = output.flatten(1), wanted.flatten(1)
            if not bool(rows.isfinite().all()):
                return math.inf, math.inf
            if prepared.expected is None:
                rows = rows[checked_sequences(self.load)]
            relative = max(relative, error(rows, wanted))
            absolute = max(absolute, float((rows.double() - wanted).abs().max()))
        return relative, absolute


def _poison(outputs: Sequence[Tensor]) -> None:
    for output in outputs:
        output.fill_(math.nan)
