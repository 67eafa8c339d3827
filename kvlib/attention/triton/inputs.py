"""What every kernel asks of its tensors, said in words before anything is launched. Nothing here waits for the GPU."""

from collections.abc import Mapping

import torch
from torch import Tensor

from kvlib.attention.batch import INTEGER, Batch
from kvlib.attention.cache import check_caches, check_dtype, check_tensors
from kvlib.attention.quantised import LARGEST
from kvlib.attention.scoring import Scoring, check_scoring
from kvlib.attention.triton.device import INTERPRETED, Device, device_of
from kvlib.attention.triton.tiles import MAX_GROUP, MAX_HEAD_SIZE
from kvlib.checks import whole
from kvlib.errors import BadInput

DTYPES = (torch.float16, torch.bfloat16, torch.float32)


def check_attention(
    query: Tensor,
    key_cache: Tensor,
    value_cache: Tensor,
    tables: Mapping[str, Tensor],
    scoring: Scoring,
) -> Device:
    """The device that these arguments of an attention kernel are on; raises BadInput unless it can compute them.

    tables: block_tables [num_seqs, max_blocks], context_lens [num_seqs] and perhaps query_start_loc [num_seqs + 1].
    Shapes, dtypes and strides are checked, not the numbers in the tensors: reading those would make the host wait.
    """
    check_tensors(query=query, **tables)
    check_caches(key_cache, value_cache)
    device = check_places(query=query, key_cache=key_cache, value_cache=value_cache, **tables)
    num_kv_heads, head_size = key_cache.shape[2:]
    if query.dim() != 3 or query.shape[2] != head_size or query.shape[1] == 0 or query.shape[1] % num_kv_heads:
        raise BadInput(
            f"query has shape {list(query.shape)}; expected [num_tokens, num_heads, {head_size}] with a multiple of "
            f"{num_kv_heads} heads, as key_cache has {num_kv_heads} KV heads of size {head_size}"
        )
    if head_size > MAX_HEAD_SIZE:
        raise BadInput(f'head_size is {head_size}; the Triton kernels take 1 to {MAX_HEAD_SIZE}: take backend "gather"')
    if query.shape[1] // num_kv_heads > MAX_GROUP:
        raise BadInput(
            f"query has {query.shape[1]} heads for {num_kv_heads} KV heads; the Triton kernels take groups of at most "
            f'{MAX_GROUP}: take backend "gather"'
        )
    check_dtype("query", query, key_cache)
    check_computable("query", query, device)
    check_rows(query=query, key_cache=key_cache, value_cache=value_cache)
    _check_tables(tables)
    for name, given in (("k_scale", scoring.k_scale), ("v_scale", scoring.v_scale)):
        check_scale(name, given, key_cache)
    check_scoring(scoring)
    return device


def check_places(**tensors: Tensor) -> Device:
    """The device that all these tensors are on. Raises BadInput where they are apart, or no kernel can run."""
    (first, tensor), *rest = tensors.items()
    for name, other in rest:
        if other.device != tensor.device:
            raise BadInput(f"{name} is on {other.device} and {first} on {tensor.device}; expected one device for all")
    return device_of(tensor)


def check_computable(name: str, tensor: Tensor, device: Device) -> None:
    """Raise BadInput for a dtype that the kernels, or the kernels on this device, do not compute with."""
    if tensor.dtype not in DTYPES:
        raise BadInput(
            f"{name} has dtype {tensor.dtype}; the Triton kernels take {', '.join(map(str, DTYPES))}: convert it, or "
            'take backend "dense"'
        )
    if tensor.dtype != torch.bfloat16:
        return
    if INTERPRETED:
        raise BadInput(
            f"{name} has dtype torch.bfloat16, whose arithmetic Triton's interpreter gets wrong; take torch.float16 or "
            'torch.float32 there, or backend "gather"'
        )
    if not device.has_bfloat16:
        raise BadInput(
            f"{name} has dtype torch.bfloat16, which needs compute capability 8.0; {device.name} has "
            f"{'.'.join(map(str, device.capability))}: take torch.float16"
        )


def check_rows(**tensors: Tensor) -> None:
    """Raise BadInput unless the numbers of each head lie side by side; all other strides are free."""
    for name, tensor in tensors.items():
        if tensor.stride(-1) != 1 and tensor.shape[-1] > 1:
            raise BadInput(
                f"{name} has stride {tensor.stride(-1)} in its last dimension; the kernels read the numbers of a head "
                f"in a row: expected 1, as {name}.contiguous() has"
            )


def check_scale(name: str, scale: Tensor | None, cache: Tensor) -> None:
    """Raise BadInput unless `scale` is float32 [num_kv_heads] for a quantised cache, and None for any other."""
    quantised = cache.dtype in LARGEST
    if not quantised and scale is not None:
        raise BadInput(f"{name} is given, but a cache of {cache.dtype} holds numbers as they are; leave {name} out")
    if not quantised:
        return
    num_kv_heads = cache.shape[-2]
    expected = f"expected a float32 tensor [{num_kv_heads}] on {cache.device}, a scale for each KV head"
    if not isinstance(scale, Tensor):
        raise BadInput(f"{name} is of type {type(scale).__name__} for a cache of {cache.dtype}; {expected}")
    if scale.dtype != torch.float32 or list(scale.shape) != [num_kv_heads] or scale.device != cache.device:
        raise BadInput(f"{name} has shape {list(scale.shape)} and dtype {scale.dtype} on {scale.device}; {expected}")
    if not scale.is_contiguous():
        raise BadInput(f"{name} has stride {scale.stride(0)}; give {name}.contiguous()")


def check_longest(max_context_len: int, block_tables: Tensor, block_size: int) -> None:
    """Raise BadInput if the longest context that may come is longer than a row of the block tables."""
    room = block_tables.shape[1] * block_size
    if whole("max_context_len", max_context_len, 0, BadInput) > room:
        raise BadInput(
            f"max_context_len is {max_context_len}, but block_tables has {block_tables.shape[1]} columns for blocks of "
            f"{block_size}, which hold {room} tokens; give wider tables or a smaller max_context_len"
        )


def check_row_each(query: Tensor, block_tables: Tensor) -> None:
    """Raise BadInput unless query has one row for each sequence."""
    if len(query) != len(block_tables):
        raise BadInput(f"query has {len(query)} rows; expected {len(block_tables)}, one for each row of block_tables")


def check_numbers(tables: Mapping[str, Tensor], query: Tensor, key_cache: Tensor, max_context_len: int) -> None:
    """Raise BadInput unless the tables name blocks of this cache, and fit together: this reads them, and waits."""
    num_blocks, block_size = key_cache.shape[:2]
    starts = tables.get("query_start_loc")
    if starts is None:
        starts = torch.arange(len(query) + 1)
    batch = Batch(tables["block_tables"], tables["context_lens"], starts, block_size=block_size)
    batch.check_blocks(num_blocks)
    if batch.num_tokens > len(query):
        raise BadInput(
            f"query_start_loc ends with {batch.num_tokens}, but query has {len(query)} rows; expected the rows of query"
        )
    longest = max(tables["context_lens"].tolist(), default=0)
    if longest > max_context_len:
        raise BadInput(f"max_context_len is {max_context_len}, but a context has {longest} tokens; give the longest")


def _check_tables(tables: Mapping[str, Tensor]) -> None:
    if tables["block_tables"].dim() != 2:
        shape = list(tables["block_tables"].shape)
        raise BadInput(f"block_tables has shape {shape}; expected [num_seqs, max_blocks]")
    num_seqs, max_blocks = tables["block_tables"].shape
    if num_seqs and not max_blocks:
        raise BadInput(f"block_tables has shape [{num_seqs}, 0]; expected a column for each block of a context")
    for name, length in (("context_lens", num_seqs), ("query_start_loc", num_seqs + 1)):
        if name in tables and list(tables[name].shape) != [length]:
            raise BadInput(
                f"{name} has shape {list(tables[name].shape)}; expected [{length}], as block_tables has {num_seqs} rows"
            )
    for name, tensor in tables.items():
        if tensor.dtype not in INTEGER:
            raise BadInput(f"{name} has dtype {tensor.dtype}; expected torch.int32 or torch.int64")
        if tensor.shape[-1] > 1 and tensor.stride(-1) != 1:
            raise BadInput(f"{name} has stride {tensor.stride(-1)} in its last dimension; give {name}.contiguous()")


def check_output(output: Tensor | None, query: Tensor) -> Tensor:
    """`output`, or room like query; raises BadInput unless it has query's shape, dtype and device."""
    if output is None:
        return torch.zeros_like(query, memory_format=torch.contiguous_format)
    check_tensors(output=output)
    if output.shape != query.shape or output.dtype != query.dtype or output.device != query.device:
        raise BadInput(
            f"output has shape {list(output.shape)} and dtype {output.dtype} on {output.device}; expected "
            f"{list(query.shape)} and {query.dtype} on {query.device}, as query has"
        )
    check_rows(output=output)
    return output
