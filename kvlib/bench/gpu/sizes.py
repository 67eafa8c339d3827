"""The loads of a run, and what the ablations try: on a GPU, and tiny in the interpreter."""

from typing import NamedTuple

from kvlib.bench.gpu.loads import Load, equal, even_lengths, long_tail


class Sizes(NamedTuple):
    """The loads of one run.

    decode: all with equal lengths. big: of those, the one that fills a GPU, and long: the one that does not. ragged:
    lengths that differ. groups: `big` with other numbers of heads. tokens, stages, warps, blocks, splits: what the
    ablations try. num_trials, num_stores: of the grid, of attention and of writing.
    """

    decode: tuple[Load, ...]
    big: Load
    long: Load
    ragged: tuple[Load, ...]
    groups: tuple[Load, ...]
    tokens: tuple[int, ...]
    stages: tuple[int, ...]
    warps: tuple[int, ...]
    blocks: tuple[int, ...]
    splits: tuple[int, ...]
    flex_block: int
    num_trials: int
    num_stores: int


_SHAPES = ((1, 1024), (1, 4096), (4, 8192), (8, 2048), (16, 4096), (36, 16384), (64, 1024), (128, 4096))
BIG, LONG = equal(64, 4096), equal(1, 32768)
ON_A_GPU = Sizes(
    decode=(BIG, LONG, *(equal(*shape) for shape in _SHAPES)),
    big=BIG,
    long=LONG,
    ragged=(even_lengths(64, 8192), long_tail(64, 8192)),
    groups=(
        BIG._replace(name=f"{BIG.name}-group1", num_kv_heads=32),
        BIG._replace(name=f"{BIG.name}-group8", num_heads=64),
    ),
    tokens=(32, 64, 128),
    stages=(2, 3, 5),
    warps=(4, 8),
    blocks=(1, 8, 16, 24, 64, 256),
    splits=(1, 2, 4, 8, 16, 32, 64),
    flex_block=128,
    num_trials=64,
    num_stores=12,
)
"""Heads of Llama-3-8B."""

_TINY = {"num_heads": 4, "num_kv_heads": 2, "head_size": 32}
_TINY_BIG, _TINY_LONG = equal(2, 80, **_TINY), equal(1, 600, **_TINY)
INTERPRETED = Sizes(
    decode=(_TINY_BIG, _TINY_LONG),
    big=_TINY_BIG,
    long=_TINY_LONG,
    ragged=(even_lengths(3, 90, **_TINY), long_tail(3, 90, **_TINY)),
    groups=(
        _TINY_BIG._replace(name=f"{_TINY_BIG.name}-group1", num_kv_heads=4),
        _TINY_BIG._replace(name=f"{_TINY_BIG.name}-group3", num_heads=6),
    ),
    tokens=(32, 64, 128),
    stages=(2, 3, 5),
    warps=(4, 8),
    blocks=(1, 8, 16, 24, 64, 256),
    splits=(1, 3),
    flex_block=128,
    num_trials=20,
    num_stores=4,
)
"""As small as still takes every path: two splits, a ragged batch, blocks larger and smaller than a tile."""
