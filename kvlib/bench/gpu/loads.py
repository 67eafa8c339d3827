"""What the kernels are asked for: a batch of contexts."""

from random import Random
from typing import Any, NamedTuple

import torch

DTYPES = {"fp16": (torch.float16, torch.float16), "bf16": (torch.bfloat16, torch.bfloat16)}
DTYPES["e4m3"] = (torch.float16, torch.float8_e4m3fn)
"""By short name: the dtype of the query and that of the caches."""


class Load(NamedTuple):
    """One decode step of one layer: a new token of each sequence over the context of its own.

    name: stands in the ids of rows. context_lens, block_size: in tokens. dtype: one of DTYPES.
    """

    name: str
    context_lens: tuple[int, ...]
    num_heads: int = 32
    num_kv_heads: int = 8
    head_size: int = 128
    block_size: int = 16
    dtype: str = "fp16"

    @property
    def batch(self) -> int:
        return len(self.context_lens)

    @property
    def query_dtype(self) -> torch.dtype:
        return DTYPES[self.dtype][0]

    @property
    def cache_dtype(self) -> torch.dtype:
        return DTYPES[self.dtype][1]

    @property
    def longest(self) -> int:
        return max(self.context_lens)

    @property
    def is_ragged(self) -> bool:
        return len(set(self.context_lens)) > 1

    @property
    def kv_bytes(self) -> int:
        """Bytes of the keys and values of all contexts."""
        return 2 * sum(self.context_lens) * self.num_kv_heads * self.head_size * self.cache_dtype.itemsize

    @property
    def fields(self) -> dict[str, Any]:
        """As a row of the measurement file has them."""
        return {
            "batch": self.batch,
            "ctx_kind": "ragged" if self.is_ragged else "equal",
            "ctx_sum": sum(self.context_lens),
            "ctx_max": self.longest,
            "nq": self.num_heads,
            "nkv": self.num_kv_heads,
            "d": self.head_size,
            "page": self.block_size,
            "q_dtype": str(self.query_dtype)[6:],
            "kv_dtype": str(self.cache_dtype)[6:],
            "kv_bytes": self.kv_bytes,
        }


def equal(batch: int, context_len: int, **sizes: Any) -> Load:
    """`batch` sequences of one length."""
    return Load(f"{batch}x{context_len}", (context_len,) * batch, **sizes)


def even_lengths(batch: int, longest: int, **sizes: Any) -> Load:
    """Lengths drawn evenly from 1 to `longest`; one has all of it."""
    random = Random(0)
    lengths = [longest, *(random.randint(1, longest) for _ in range(batch - 1))]
    return Load(f"{batch}x1..{longest}-even", tuple(lengths), **sizes)


def long_tail(batch: int, longest: int, **sizes: Any) -> Load:
    """Lengths whose logarithms are drawn evenly, so that most are short; one has all of `longest`."""
    random = Random(0)
    lengths = [longest, *(round(longest ** random.random()) for _ in range(batch - 1))]
    return Load(f"{batch}x1..{longest}-tail", tuple(lengths), **sizes)
