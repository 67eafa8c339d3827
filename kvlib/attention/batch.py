"""Where the sequences of one step stand in the cache: checked once, then read by every layer."""

from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from kvlib.attention.cache import check_tensors
from kvlib.checks import whole
from kvlib.errors import BadInput

INTEGER = (torch.int32, torch.int64)


class Sequence(NamedTuple):
    """One sequence of a batch.

    rows: its rows of query and output; the last of them stands at position context_len - 1.
    context_len: its tokens in the cache, the new ones included.
    blocks: [ceil(context_len / block_size)] physical blocks that hold them, in order.
    """

    rows: slice
    context_len: int
    blocks: Tensor

    @property
    def num_queries(self) -> int:
        return self.rows.stop - self.rows.start


class Batch:
    """The sequences of one step, for all layers of a model.

    block_tables [num_seqs, max_blocks], context_lens [num_seqs] and query_start_loc [num_seqs + 1] are int32
    or int64 tensors as `kvlib.attention.attend` describes them; block_size is in tokens. The tensors are kept,
    not copied: do not write to them while the batch is in use. `device` is where the cache lies, if not beside them:
    tables on the host are checked there, which waits for no GPU, and then moved.

    tables: the three tensors, by name.
    sequences: those that have query rows and a context. The rows of all others see nothing and stay zero.
    num_tokens: query rows of the batch. highest_block: the largest physical block in use, 0 if none.

    Raises BadInput when the three tensors do not fit together, when a block table is too short for its
    context, or when a used entry is the null block or negative.
    """

    def __init__(
        self,
        block_tables: Tensor,
        context_lens: Tensor,
        query_start_loc: Tensor,
        *,
        block_size: int,
        device: torch.device | None = None,
    ) -> None:
        check_tensors(block_tables=block_tables, context_lens=context_lens, query_start_loc=query_start_loc)
        _check_shapes(block_tables, context_lens, query_start_loc)
        self.block_size = whole("block_size", block_size, error=BadInput)
        contexts: list[int] = context_lens.tolist()
        starts: list[int] = query_start_loc.tolist()
        widths = [-(-context_len // block_size) for context_len in contexts]
        _check_lengths(contexts, starts)
        _check_widths(contexts, widths, block_tables.shape[1], block_size)
        self.num_tokens = starts[-1]
        self.highest_block = _highest_block(block_tables, widths)
        self.tables = {
            "block_tables": block_tables.to(device),
            "context_lens": context_lens.to(device),
            "query_start_loc": query_start_loc.to(device),
        }
        self.sequences = [
            Sequence(slice(start, stop), context_len, table[:width])
            for (start, stop), context_len, table, width in zip(
                pairwise(starts), contexts, self.tables["block_tables"], widths
            )
            if start < stop and context_len > 0
        ]

    def check_blocks(self, num_blocks: int) -> None:
        """Raise BadInput if a context lies in a block that a cache of `num_blocks` does not have."""
        if self.highest_block >= num_blocks:
            raise BadInput(
                f"block_tables names block {self.highest_block} inside a context; expected at most {num_blocks - 1}, "
                f"as key_cache has {num_blocks} blocks"
            )


def _check_shapes(block_tables: Tensor, context_lens: Tensor, query_start_loc: Tensor) -> None:
    if block_tables.dim() != 2:
        raise BadInput(f"block_tables has shape {list(block_tables.shape)}; expected [num_seqs, max_blocks]")
    num_seqs = len(block_tables)
    for name, tensor, length in (
        ("context_lens", context_lens, num_seqs),
        ("query_start_loc", query_start_loc, num_seqs + 1),
    ):
        if list(tensor.shape) != [length]:
            raise BadInput(
                f"{name} has shape {list(tensor.shape)}; expected [{length}], as block_tables has {num_seqs} rows"
            )
    for name, tensor in (
        ("block_tables", block_tables),
        ("context_lens", context_lens),
        ("query_start_loc", query_start_loc),
    ):
        if tensor.dtype not in INTEGER:
            raise BadInput(f"{name} has dtype {tensor.dtype}; expected torch.int32 or torch.int64")


def _check_lengths(contexts: list[int], starts: list[int]) -> None:
    if starts[0] != 0:
        raise BadInput(f"query_start_loc begins with {starts[0]}; expected 0, the first row of query")
    for s, (context_len, (start, stop)) in enumerate(zip(contexts, pairwise(starts))):
        if stop < start:
            raise BadInput(
                f"query_start_loc falls from {start} to {stop} at sequence {s}; "
                "expected cumulative counts of query rows, which never fall"
            )
        if context_len < 0:
            raise BadInput(f"context_lens[{s}] is {context_len}; expected 0 or more tokens")
        if stop - start > max(context_len, 1):
            raise BadInput(
                f"context_lens[{s}] is {context_len}, but sequence {s} has {stop - start} query rows; "
                "a context counts the new tokens too: write them to the cache first, then attend"
            )


def _check_widths(contexts: list[int], widths: list[int], max_blocks: int, block_size: int) -> None:
    for s, (context_len, width) in enumerate(zip(contexts, widths)):
        if width > max_blocks:
            raise BadInput(
                f"block_tables has {max_blocks} columns, but context_lens[{s}] is {context_len}, which takes "
                f"{width} blocks of {block_size}; give each sequence a table that covers its context"
            )


def _highest_block(block_tables: Tensor, widths: list[int]) -> int:
    columns = torch.arange(block_tables.shape[1], device=block_tables.device)
    used = columns < torch.tensor(widths, device=block_tables.device)[:, None]  # [num_seqs, max_blocks]
    if not used.any():
        return 0
    lowest, highest = block_tables[used].aminmax()
    if lowest < 1:
        s, column = (used & (block_tables < 1)).nonzero()[0].tolist()
        raise BadInput(
            f"block_tables[{s}, {column}] is {block_tables[s, column].item()}, inside the context of sequence "
            f"{s}; expected a physical block from 1 on, as block 0 is the null block and holds no token"
        )
    return int(highest)
