"""Rows that prove and time nothing: the interpreter's grid, on this device."""

import math
from typing import Any, NamedTuple

import torch

from kvlib.bench.gpu.machine import Machine
from kvlib.bench.gpu.pools import Pools
from kvlib.bench.kernels.problems import BOUNDS
from kvlib.bench.kernels.storing import NUM_BLOCKS, NUM_KV_HEADS, Store, copies_alike, writes_alike
from kvlib.bench.kernels.trials import Trial, outcome

SUITE = "grid"


class Proved(NamedTuple):
    """A trial of the grid."""

    trial: Trial

    @property
    def suite(self) -> str:
        return SUITE

    @property
    def fields(self) -> dict[str, Any]:
        """Those that are known beforehand."""
        name, case, kernel, *_ = self.trial
        context_lens = [context_len for _, context_len in case.sequences]
        return {
            "id": f"{SUITE}/{name}",
            "suite": SUITE,
            "impl": "naive" if kernel == "naive" else "kvlib",
            "variant": name,
            "batch": len(context_lens),
            "ctx_kind": "ragged",
            "ctx_sum": sum(context_lens),
            "ctx_max": max(context_lens),
            "nq": case.num_kv_heads * case.group_size,
            "nkv": case.num_kv_heads,
            "d": case.head_size,
            "page": case.block_size,
            "q_dtype": str(self.dtypes[0])[6:],
            "kv_dtype": str(self.dtypes[1])[6:],
            "window": case.window,
            "splits": self.trial.num_splits if kernel == "decode" else None,
            "bn": self.trial.tokens if kernel == "decode" else None,
        }

    @property
    def dtypes(self) -> tuple[torch.dtype, torch.dtype]:
        return self.trial.case.dtype, self.trial.case.quantised or self.trial.case.dtype

    def num_bytes(self, machine: Machine) -> int:
        return 0

    def fill(self, pools: Pools, machine: Machine) -> dict[str, Any]:
        """The other fields: error and status. Raises what the kernels do."""
        return checked(outcome(self.trial, machine.device), self.dtypes[0])

    def warm_up(self, machine: Machine) -> None:
        """Have its kernels compiled."""
        outcome(self.trial, machine.device)


class Stored(NamedTuple):
    """New keys and values written, and blocks copied, bit for bit as `kvlib.attention` does it."""

    store: Store

    @property
    def suite(self) -> str:
        return SUITE

    @property
    def fields(self) -> dict[str, Any]:
        """Those that are known beforehand."""
        return {
            "id": f"{SUITE}/write-{self.store.name}",
            "suite": SUITE,
            "impl": "kvlib",
            "variant": f"write-{self.store.name}",
            "batch": 1,
            "ctx_kind": "equal",
            "ctx_sum": NUM_BLOCKS * self.store.block_size,
            "ctx_max": NUM_BLOCKS * self.store.block_size,
            "nq": NUM_KV_HEADS,
            "nkv": NUM_KV_HEADS,
            "d": self.store.head_size,
            "page": self.store.block_size,
            "q_dtype": str(self.dtypes[0])[6:],
            "kv_dtype": str(self.dtypes[1])[6:],
        }

    @property
    def dtypes(self) -> tuple[torch.dtype, torch.dtype]:
        dtype, quantised = self.store.dtypes
        return dtype, quantised or dtype

    def num_bytes(self, machine: Machine) -> int:
        return 0

    def fill(self, pools: Pools, machine: Machine) -> dict[str, Any]:
        """The other fields: no error, or an infinite one. Raises what the kernels do."""
        alike = writes_alike(self.store, machine.device) and copies_alike(self.store, machine.device)
        return checked(0.0 if alike else math.inf, self.dtypes[0])

    def warm_up(self, machine: Machine) -> None:
        """Have its kernels compiled."""
        self.fill(Pools(machine), machine)


def checked(rel_err: float, dtype: torch.dtype) -> dict[str, Any]:
    """The fields of a row whose output has this error."""
    right = rel_err <= BOUNDS[dtype]
    return {
        "rel_err": rel_err if math.isfinite(rel_err) else None,
        "finite": math.isfinite(rel_err),
        "status": "ok" if right else "wrong",
        "note": "" if right else f"relative error {rel_err:.2g}, of which {BOUNDS[dtype]:.2g} is allowed",
    }
