"""The attention kernels as functions of tensors: checked, tiled, launched. Only debug mode waits for the GPU."""

from collections.abc import Callable, Mapping

import torch
import triton
from torch import Tensor

from kvlib.attention.cache import check_caches
from kvlib.attention.quantised import LARGEST
from kvlib.attention.scoring import Scoring
from kvlib.attention.triton.arguments import combine_arguments, decode_arguments, naive_arguments, prefill_arguments
from kvlib.attention.triton.combine import combine_kernel
from kvlib.attention.triton.decode import decode_kernel
from kvlib.attention.triton.device import Device
from kvlib.attention.triton.inputs import check_attention, check_longest, check_numbers, check_output, check_row_each
from kvlib.attention.triton.naive import naive_kernel
from kvlib.attention.triton.prefill import prefill_kernel
from kvlib.attention.triton.tiles import (
    Tiles,
    check_tiles,
    choose_splits,
    decode_tiles,
    prefill_tiles,
    split_length,
)
from kvlib.attention.triton.workspace import Workspace
from kvlib.checks import whole
from kvlib.errors import BadInput

Choose = Callable[[Device, int, int, torch.dtype, torch.dtype], Tiles]


def paged_decode(
    query: Tensor,
    key_cache: Tensor,
    value_cache: Tensor,
    *,
    block_tables: Tensor,
    context_lens: Tensor,
    scale: float,
    max_context_len: int,
    window: int | None = None,
    softcap: float | None = None,
    k_scale: Tensor | None = None,
    v_scale: Tensor | None = None,
    query_start_loc: Tensor | None = None,
    output: Tensor | None = None,
    workspace: Workspace | None = None,
    tiles: Tiles | None = None,
    num_splits: int | None = None,
    debug: bool = False,
) -> Tensor:
    """Attention of one new token of each sequence over its paged context; returns `output`, [num_seqs, ...] of query.

    query [num_seqs, num_heads, head_size], row s the new token of sequence s: float16, bfloat16 (compute capability
        8.0 and up) or float32. With query_start_loc, [num_seqs + 1], query has the rows of all sequences, one after
        another; those with any other number of rows than one are left as they are.
    key_cache, value_cache, block_tables, context_lens, scale: as in `kvlib.attention.attend`, on the device of query.
    max_context_len: no context is longer. Only it decides the grid: in a captured CUDA graph give the longest that may
        come, and hand in output and workspace; then the graph stays right when tables and lengths change.
    window, softcap, k_scale, v_scale: as in `kvlib.attention.scoring.Scoring`.
    output: written to, like query in shape and dtype, strides free. workspace: room for the splits, `Workspace`.
    tiles, num_splits: chosen for the device where not given.
    debug: also checks the numbers in tables and lengths, for which the host waits for the device. Without it a table
        entry outside the cache reads memory that is not the cache's.

    Raises BadInput when an argument does not fit, and BadConfig when tiles need more shared memory than there is.
    """
    tables = _tables(block_tables, context_lens, query_start_loc)
    scoring = Scoring(scale, window, softcap, k_scale, v_scale)
    device = check_attention(query, key_cache, value_cache, tables, scoring)
    check_longest(max_context_len, block_tables, key_cache.shape[1])
    num_seqs, (num_kv_heads, head_size) = len(block_tables), key_cache.shape[2:]
    if query_start_loc is None:
        check_row_each(query, block_tables)
    if debug:
        check_numbers(tables, query, key_cache, max_context_len)
    output = check_output(output, query)
    tiles = _tiles(tiles, decode_tiles, device, query, key_cache)
    longest = min(max_context_len, window or max_context_len)
    if num_splits is None:
        num_splits = choose_splits(device, num_seqs, num_kv_heads, longest)
    whole("num_splits", num_splits, error=BadInput)
    split_len = split_length(num_splits, longest, tiles.tokens)
    if 0 in query.shape or num_seqs == 0:
        return output

    grid, launch = (num_kv_heads, num_seqs, num_splits), _options(tiles)
    inputs = (query, key_cache, value_cache, tables, scoring, device, tiles, split_len)
    if num_splits == 1:
        decode_kernel[grid](**decode_arguments(output, None, *inputs), **launch)
        return output
    sizes = (num_seqs, query.shape[1], num_splits, head_size, query.device)
    parts, log_sums = (workspace or Workspace(*sizes)).take(*sizes)
    decode_kernel[grid](**decode_arguments(parts, log_sums, *inputs), **launch)
    combine_kernel[(query.shape[1], num_seqs)](**combine_arguments(output, parts, log_sums, query_start_loc))
    return output


def paged_prefill(
    query: Tensor,
    key_cache: Tensor,
    value_cache: Tensor,
    *,
    block_tables: Tensor,
    context_lens: Tensor,
    query_start_loc: Tensor,
    max_query_len: int,
    scale: float,
    window: int | None = None,
    softcap: float | None = None,
    k_scale: Tensor | None = None,
    v_scale: Tensor | None = None,
    output: Tensor | None = None,
    tiles: Tiles | None = None,
    least_queries: int = 1,
    debug: bool = False,
) -> Tensor:
    """Causal attention of the new tokens of each sequence, a prompt or a chunk of one, over its paged context.

    query [num_tokens, num_heads, head_size]: the rows of all sequences, one after another, as query_start_loc,
        [num_seqs + 1], says. max_query_len: no sequence has more of them.
    least_queries: sequences with fewer rows are left as they are in `output`; 2 leaves out those that decode.
    All else as in `paged_decode`.
    """
    tables = _tables(block_tables, context_lens, query_start_loc)
    scoring = Scoring(scale, window, softcap, k_scale, v_scale)
    device = check_attention(query, key_cache, value_cache, tables, scoring)
    whole("max_query_len", max_query_len, 0, BadInput)
    if debug:
        check_numbers(tables, query, key_cache, block_tables.shape[1] * key_cache.shape[1])
    output = check_output(output, query)
    tiles = _tiles(tiles, prefill_tiles, device, query, key_cache)
    num_kv_heads = key_cache.shape[2]
    tokens_in_tile = tiles.rows // (query.shape[1] // num_kv_heads)
    grid = (num_kv_heads, len(block_tables), triton.cdiv(max_query_len, tokens_in_tile))
    if 0 not in (*grid, *query.shape):
        arguments = prefill_arguments(
            output, query, key_cache, value_cache, tables, scoring, device, tiles, least_queries
        )
        prefill_kernel[grid](**arguments, **_options(tiles))
    return output


def naive(
    query: Tensor,
    key_cache: Tensor,
    value_cache: Tensor,
    *,
    block_tables: Tensor,
    context_lens: Tensor,
    scale: float,
    output: Tensor | None = None,
) -> Tensor:
    """What `paged_decode` computes, by the first kernel; arguments as there. It takes no quantised cache."""
    tables = _tables(block_tables, context_lens, None)
    check_caches(key_cache, value_cache)
    if key_cache.dtype in LARGEST:
        raise BadInput(
            f"key_cache has dtype {key_cache.dtype}; the first kernel reads numbers as they are: take paged_decode"
        )
    check_attention(query, key_cache, value_cache, tables, Scoring(scale))
    check_row_each(query, block_tables)
    output = check_output(output, query)
    if 0 not in query.shape:
        arguments = naive_arguments(output, query, key_cache, value_cache, tables, scale)
        naive_kernel[tuple(query.shape[:2])](**arguments)
    return output


def _tables(block_tables: Tensor, context_lens: Tensor, query_start_loc: Tensor | None) -> Mapping[str, Tensor]:
    tables = {"block_tables": block_tables, "context_lens": context_lens}
    return tables if query_start_loc is None else {**tables, "query_start_loc": query_start_loc}


def _tiles(given: Tiles | None, choose: Choose, device: Device, query: Tensor, key_cache: Tensor) -> Tiles:
    head_size, group_size = query.shape[2], query.shape[1] // key_cache.shape[2]
    if given is None:
        return choose(device, head_size, group_size, query.dtype, key_cache.dtype)
    check_tiles(given, device, head_size, group_size, query.dtype, key_cache.dtype)
    return given


def _options(tiles: Tiles) -> dict[str, int]:
    return {"num_warps": tiles.num_warps, "num_stages": tiles.num_stages}
