"""A row that proves a captured CUDA graph: it stays right when lengths and tables change, as they do at every step."""

import math
from typing import Any, NamedTuple

import torch

from kvlib.attention.triton import Workspace, paged_decode
from kvlib.bench.gpu.change import NOTHING
from kvlib.bench.gpu.contestants import splits_of
from kvlib.bench.gpu.loads import Load
from kvlib.bench.gpu.machine import Machine
from kvlib.bench.gpu.measure import row_id
from kvlib.bench.gpu.pool import answers, checked_sequences, pool_bytes
from kvlib.bench.gpu.pools import Pools
from kvlib.bench.gpu.proof import SUITE, checked
from kvlib.bench.kernels.problems import error


class Captured(NamedTuple):
    """A decode step captured while all contexts are empty, and replayed with those of `load` and another table."""

    load: Load

    @property
    def suite(self) -> str:
        return SUITE

    @property
    def fields(self) -> dict[str, Any]:
        """Those that are known beforehand."""
        return {
            "id": row_id(SUITE, "captured", self.load),
            "suite": SUITE,
            "impl": "kvlib",
            "variant": "captured with empty contexts, then replayed",
            **self.load.fields,
        }

    @property
    def dtypes(self) -> tuple[torch.dtype, torch.dtype]:
        return self.load.query_dtype, self.load.cache_dtype

    def num_bytes(self, machine: Machine) -> int:
        """Of the caches."""
        return pool_bytes(self.load, machine.l2_bytes)

    def fill(self, pools: Pools, machine: Machine) -> dict[str, Any]:
        """The other fields: error and status. Raises what the kernel does."""
        pool = pools.take(self.load, NOTHING)
        num_splits = splits_of(self.load, NOTHING, machine)
        workspace = Workspace(self.load.batch, self.load.num_heads, num_splits, self.load.head_size, machine.device)
        output, table = torch.full_like(pool.query, math.nan), torch.zeros_like(pool.tables[-1])
        context_lens = torch.zeros_like(pool.context_lens)

        def call() -> None:
            paged_decode(
                pool.query,
                pool.key_cache,
                pool.value_cache,
                block_tables=table,
                context_lens=context_lens,
                scale=pool.scale,
                max_context_len=self.load.longest,
                k_scale=pool.k_scale,
                v_scale=pool.v_scale,
                output=output,
                workspace=workspace,
                num_splits=num_splits,
            )

        call()  # compiled before the capture
        replay = machine.capture(call)
        output.fill_(math.nan)
        replay()
        empty = error(output, torch.zeros_like(output, dtype=torch.float64))
        table.copy_(pool.tables[-1])
        context_lens.copy_(pool.context_lens)
        output.fill_(math.nan)
        replay()
        full = error(output[checked_sequences(self.load)], answers(pool, pool.tables[-1]))
        finite = 0.0 if bool(output.isfinite().all()) else math.inf
        return {"splits": num_splits, **checked(max(empty, full, finite), self.dtypes[0])}

    def warm_up(self, machine: Machine) -> None:
        """Nothing: the decode suite has the same kernel compiled."""
