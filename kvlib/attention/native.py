"""Attention in C, which reads keys and values where they lie: the walk of `kvlib.attention.paged`, compiled.

The keys of a decode row pass through the processor once, and nothing is gathered. A query row gives the same bits
whatever else is in the batch, in chunks of any size and blocks of any size.
"""

import ctypes
from functools import lru_cache
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from kvlib import native as kernels
from kvlib.attention.batch import Batch
from kvlib.attention.scoring import Scoring
from kvlib.errors import BadInput
from kvlib.native.kernels import Paged, constant


class Rows(NamedTuple):
    """What each query row of a batch sees, int64.

    blocks: the block tables of all sequences, one after another. tables [num_tokens]: where in `blocks` the row's
    own table begins. lens [num_tokens]: the tokens that the row sees, 0 for a row without a context.
    """

    blocks: Tensor
    tables: Tensor
    lens: Tensor


def native(query: Tensor, key_cache: Tensor, value_cache: Tensor, batch: Batch, scoring: Scoring) -> Tensor:
    """Attention by kernels.c, on as many threads as torch has.

    Shapes as in `kvlib.attention.attend`, float32 on the CPU only, without window and soft cap: raises BadInput
    otherwise, and where the kernels cannot be had. A cache whose head size is no multiple of the vector length, or
    whose keys and values do not lie alike with each head in a row, is copied first.
    """
    library = kernels.library()
    if library is None:
        raise BadInput(f"backend is 'native', which cannot be had: {kernels.why_not()}; or take 'gather'")
    for name, given in (("window", scoring.window), ("softcap", scoring.softcap)):
        if given is not None:
            raise BadInput(f"{name} is {given}; backend 'native' has none: take 'dense' or 'paged'")
    for name, tensor in (("query", query), ("key_cache", key_cache), ("value_cache", value_cache)):
        if tensor.dtype != torch.float32 or tensor.device.type != "cpu":
            raise BadInput(
                f"{name} is {tensor.dtype} on {tensor.device}; backend 'native' takes torch.float32 on the CPU: "
                "take 'gather'"
            )
    head_size, padding = query.shape[2], -query.shape[2] % constant(library, "lanes")
    if padding:
        query, key_cache, value_cache = (F.pad(tensor, (0, padding)) for tensor in (query, key_cache, value_cache))
    if key_cache.stride() != value_cache.stride() or key_cache.stride(3) != 1:
        key_cache, value_cache = key_cache.contiguous(), value_cache.contiguous()
    query = query.contiguous()
    output = torch.zeros_like(query)  # [num_tokens, num_heads, head_size]
    num_tokens, num_heads, padded_size = query.shape
    num_kv_heads = key_cache.shape[2]
    addresses = (tensor.data_ptr() for tensor in (key_cache, value_cache, *query_rows(batch)))
    steps = key_cache.stride()[:3]
    group = num_heads // num_kv_heads
    paged = Paged(*addresses, *steps, batch.block_size, num_kv_heads, group, padded_size, scoring.scale)
    threads = torch.get_num_threads()
    library.attend(output.data_ptr(), query.data_ptr(), ctypes.byref(paged), num_tokens, threads)
    return output[..., :head_size]


@lru_cache(maxsize=1)  # once a step: all layers hand in the same batch
def query_rows(batch: Batch) -> Rows:
    """The rows of the batch as the kernel reads them."""
    tables, lens = [0] * batch.num_tokens, [0] * batch.num_tokens
    begin = 0
    for rows, context_len, blocks in batch.sequences:
        tables[rows] = [begin] * (rows.stop - rows.start)
        lens[rows] = range(context_len - (rows.stop - rows.start) + 1, context_len + 1)
        begin += len(blocks)
    blocks = torch.cat([torch.empty(0, dtype=torch.int64), *(sequence.blocks for sequence in batch.sequences)])
    return Rows(blocks, torch.tensor(tables), torch.tensor(lens))
