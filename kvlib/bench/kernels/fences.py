"""Problems in memory of our own making: up against pages that nobody may touch, or billions of numbers apart.

A number read or written outside its tensor then ends the process, in place of going unnoticed, and so does an offset
that was computed in 32 bits. For Linux, on a CPU, in a process of its own.
"""

import ctypes
import mmap

import torch
from torch import Tensor

from kvlib.attention import LayerCache
from kvlib.attention import triton as kernels
from kvlib.bench.kernels.problems import Problem

NO_ACCESS = 0
FAR = 2**31 + 2**20
"""More numbers than an int32 can count."""


def fenced(tensor: Tensor, behind: bool) -> Tensor:
    """A copy of `tensor`, of the same strides, with a page that nobody may touch right behind it, or right before."""
    first = tensor.storage_offset()
    last = first + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    numbers = tensor.as_strided((last + 1 - first,), (1,))
    inside = -(-numbers.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, inside + mmap.PAGESIZE)
    fence = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + (inside if behind else 0)
    if ctypes.CDLL(None, use_errno=True).mprotect(ctypes.c_void_p(fence), mmap.PAGESIZE, NO_ACCESS):
        raise OSError(ctypes.get_errno(), "mprotect")
    offset = inside - numbers.nbytes if behind else mmap.PAGESIZE
    copy = torch.frombuffer(memory, dtype=tensor.dtype, count=len(numbers), offset=offset)
    return copy.copy_(numbers).as_strided(tensor.shape, tensor.stride())


def fenced_problem(problem: Problem, behind: bool) -> Problem:
    """`problem` with a fence at each tensor; the block tables end with the longest context."""
    longest = -(-int(problem.tables["context_lens"].max()) // problem.key_cache.shape[1])
    tables = problem.tables | {"block_tables": problem.tables["block_tables"][:, :longest]}
    return problem._replace(
        query=fenced(problem.query, behind),
        key_cache=fenced(problem.key_cache, behind),
        value_cache=fenced(problem.value_cache, behind),
        tables={name: fenced(table.contiguous(), behind) for name, table in tables.items()},
        scales={name: fenced(scale, behind) for name, scale in problem.scales.items()},
    )


def far_blocks(problem: Problem) -> Problem:
    """`problem` with its blocks at the end of caches of more than 2^31 numbers, and its rows as far apart.

    Only what is used takes memory.
    """
    key_cache, value_cache = far_cache(problem.key_cache), far_cache(problem.value_cache)
    table, num_blocks = problem.tables["block_tables"], len(problem.key_cache)
    shifted = torch.where(table < num_blocks, table + len(key_cache) - num_blocks, table)
    tables = problem.tables | {"block_tables": shifted}
    return problem._replace(query=spread(problem.query, 0), key_cache=key_cache, value_cache=value_cache, tables=tables)


def far_heads(problem: Problem) -> Problem:
    """`problem` with more than 2^31 numbers from the first head to the last, of the query and of both caches."""
    query, key_cache, value_cache = problem[:3]
    return problem._replace(query=spread(query, 1), key_cache=spread(key_cache, 2), value_cache=spread(value_cache, 2))


def far_cache(cache: Tensor) -> Tensor:
    """A contiguous cache that ends with the blocks of `cache`; what lies before them was never touched."""
    num_blocks = len(cache) + -(-FAR // cache[0].numel())
    far = torch.empty((num_blocks, *cache.shape[1:]), dtype=cache.dtype)
    far[-len(cache) :] = cache
    return far


def spread(tensor: Tensor, dim: int) -> Tensor:
    """A copy of `tensor` with FAR numbers from the first along `dim`, which has two or more, to the last."""
    numbers = tensor.movedim(dim, 0)
    stride = -(-FAR // (len(numbers) - 1))
    everything = torch.empty(stride * len(numbers), dtype=tensor.dtype)
    copy = everything.as_strided(numbers.shape, (stride, *numbers[0].contiguous().stride()))
    return copy.copy_(numbers).movedim(0, dim)


def writes_far() -> bool:
    """Whether a token lands in the last slot of a cache of more than 2^31 numbers, and the copy of its block in the
    first."""
    key_cache, value_cache = (far_cache(torch.zeros(1, 16, 2, 64, dtype=torch.int8)) for _ in range(2))
    key, value = spread(9 * torch.randn(2, 2, 2, 64), 0).unbind(1)
    last, ones = len(key_cache) - 1, torch.ones(2)
    slots = torch.tensor([16 * last + 14, 16 * last + 15])
    kernels.write_cache(key, value, key_cache, value_cache, slots, k_scale=ones, v_scale=ones)
    kernels.copy_blocks([LayerCache(key_cache, value_cache, ones, ones)], [(last, 1)])
    pairs = ((key, key_cache), (value, value_cache))
    return all(torch.equal(cache[block, -2:].float(), rows.round()) for rows, cache in pairs for block in (last, 1))
