"""The arguments of each kernel by name, from tensors and tiles: for a launch, and for compiling without one.

The tensors may lie on torch's "meta" device: then nothing can be launched, and everything can be compiled.
"""

from collections.abc import Mapping

import torch
import triton
from torch import Tensor

from kvlib.attention.scoring import Scoring
from kvlib.attention.triton.device import INTERPRETED, Device
from kvlib.attention.triton.tiles import Tiles, padded

Arguments = dict[str, object]


def naive_arguments(
    output: Tensor,
    query: Tensor,
    key_cache: Tensor,
    value_cache: Tensor,
    tables: Mapping[str, Tensor],
    scale: float,
) -> Arguments:
    """Of `naive_kernel`, whose grid is (num_seqs, num_heads)."""
    block_size, num_kv_heads, head_size = key_cache.shape[1:]
    return {
        "output": output,
        "query": query,
        "key_cache": key_cache,
        "value_cache": value_cache,
        "block_tables": tables["block_tables"],
        "context_lens": tables["context_lens"],
        "scale": scale,
        **_strides(output, query, key_cache, value_cache, tables),
        "GROUP": query.shape[1] // num_kv_heads,
        "HEAD_SIZE": head_size,
        "BLOCK_SIZE": block_size,
        "SLOTS": triton.next_power_of_2(block_size),
        "DIMS": triton.next_power_of_2(head_size),
    }


def decode_arguments(
    output: Tensor,
    log_sums: Tensor | None,
    query: Tensor,
    key_cache: Tensor,
    value_cache: Tensor,
    tables: Mapping[str, Tensor],
    scoring: Scoring,
    device: Device,
    tiles: Tiles,
    split_len: int,
) -> Arguments:
    """Of `decode_kernel`, whose grid is (num_kv_heads, num_seqs, num_splits).

    output is [num_tokens, num_heads, head_size], or [num_seqs, num_heads, num_splits, head_size] beside log_sums.
    """
    return {
        "log_sums": log_sums,
        **_attention(output, query, key_cache, value_cache, tables, scoring, device),
        "split_len": split_len,
        "output_split": 0 if log_sums is None else output.stride(2),
        "SPLIT": log_sums is not None,
        **_sizes(tiles, key_cache),
    }


def combine_arguments(
    output: Tensor, parts: Tensor, log_sums: Tensor, query_start_loc: Tensor | None, splits_at_once: int = 16
) -> Arguments:
    """Of `combine_kernel`, whose grid is (num_heads, num_seqs)."""
    num_splits, head_size = parts.shape[2:]
    return {
        "output": output,
        "parts": parts,
        "log_sums": log_sums,
        "query_start_loc": query_start_loc,
        "num_splits": num_splits,
        "output_row": output.stride(0),
        "output_head": output.stride(1),
        "HEAD_SIZE": head_size,
        "SPLITS": splits_at_once,
        "DIMS": padded(head_size),
    }


def prefill_arguments(
    output: Tensor,
    query: Tensor,
    key_cache: Tensor,
    value_cache: Tensor,
    tables: Mapping[str, Tensor],
    scoring: Scoring,
    device: Device,
    tiles: Tiles,
    least_queries: int,
) -> Arguments:
    """Of `prefill_kernel`, whose grid is (num_kv_heads, num_seqs, tiles of the longest new part)."""
    return {
        **_attention(output, query, key_cache, value_cache, tables, scoring, device),
        "least_queries": least_queries,
        **_sizes(tiles, key_cache),
    }


def write_arguments(
    source: Tensor, cache: Tensor, slot_mapping: Tensor, scale: Tensor | None, device: Device
) -> Arguments:
    """Of `write_kernel` for the keys or the values of new tokens; its grid is (num_tokens, num_kv_heads)."""
    num_blocks, block_size, _, head_size = cache.shape
    return {
        "source": source,
        "cache": as_codes(cache, device, written=True),
        "slot_mapping": slot_mapping,
        "scale": scale,
        "num_slots": num_blocks * block_size,
        "source_row": source.stride(0),
        "source_head": source.stride(1),
        "cache_block": cache.stride(0),
        "cache_slot": cache.stride(1),
        "cache_head": cache.stride(2),
        "HEAD_SIZE": head_size,
        "BLOCK_SIZE": block_size,
        "DIMS": padded(head_size),
    }


def copy_arguments(cache: Tensor, sources: Tensor, targets: Tensor) -> Arguments:
    """Of `copy_kernel` for the keys or the values of one layer; its grid is (num_copies, block_size, num_kv_heads)."""
    return {
        "cache": cache.view(torch.uint8) if cache.itemsize == 1 else cache,
        "sources": sources,
        "targets": targets,
        "cache_block": cache.stride(0),
        "cache_slot": cache.stride(1),
        "cache_head": cache.stride(2),
        "HEAD_SIZE": cache.shape[3],
        "DIMS": padded(cache.shape[3]),
    }


def as_codes(cache: Tensor, device: Device, written: bool = False) -> Tensor:
    """`cache`, or its bytes where it is e4m3 and the kernel makes or reads the bits itself."""
    if cache.dtype == torch.float8_e4m3fn and (written or INTERPRETED or not device.has_e4m3):
        return cache.view(torch.uint8)
    return cache


def _attention(
    output: Tensor,
    query: Tensor,
    key_cache: Tensor,
    value_cache: Tensor,
    tables: Mapping[str, Tensor],
    scoring: Scoring,
    device: Device,
) -> Arguments:
    return {
        "output": output,
        "query": query,
        "key_cache": as_codes(key_cache, device),
        "value_cache": as_codes(value_cache, device),
        "block_tables": tables["block_tables"],
        "context_lens": tables["context_lens"],
        "query_start_loc": tables.get("query_start_loc"),
        "k_scale": scoring.k_scale,
        "v_scale": scoring.v_scale,
        "scale": float(scoring.scale),
        **_strides(output, query, key_cache, value_cache, tables),
        "GROUP": query.shape[1] // key_cache.shape[2],
        "WINDOW": scoring.window or 0,
        "SOFTCAP": float(scoring.softcap or 0),
    }


def _strides(
    output: Tensor, query: Tensor, key_cache: Tensor, value_cache: Tensor, tables: Mapping[str, Tensor]
) -> Arguments:
    names = ("key_block", "key_slot", "key_head", "value_block", "value_slot", "value_head")
    return {
        "output_row": output.stride(0),
        "output_head": output.stride(1),
        "query_row": query.stride(0),
        "query_head": query.stride(1),
        **dict(zip(names, (*key_cache.stride()[:3], *value_cache.stride()[:3]))),
        "table_row": tables["block_tables"].stride(0),
    }


def _sizes(tiles: Tiles, key_cache: Tensor) -> Arguments:
    _, block_size, _, head_size = key_cache.shape
    return {
        "HEAD_SIZE": head_size,
        "BLOCK_SIZE": block_size,
        "ROWS": tiles.rows,
        "TOKENS": tiles.tokens,
        "DIMS": padded(head_size),
    }
