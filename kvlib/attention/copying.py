"""Whole blocks moved, in every layer: inside one memory for copy-on-write, between two for swapping.

Kwon et al. 2023, arXiv 2309.06180, sections 4.3 to 4.5.
"""

from collections.abc import Sequence

from kvlib.attention.cache import LayerCache, check_caches
from kvlib.errors import BadInput

Pairs = Sequence[tuple[int, int]]


def copy_blocks(caches: Sequence[LayerCache], copies: Pairs) -> None:
    """Copy whole blocks in every layer, one pair (source, target) of physical blocks after another.

    A later pair sees what an earlier one wrote. Raises BadInput, and copies nothing, when a block is outside
    a cache or is the null block.
    """
    check_copies(caches, copies)
    _copy(caches, caches, copies)


def check_copies(caches: Sequence[LayerCache], copies: Pairs) -> None:
    """Raises BadInput unless each pair is a source and a target in these caches, neither the null block."""
    _check_caches("caches", caches)
    _check_pairs("copies", copies, num_sources=_num_blocks(caches), num_targets=_num_blocks(caches))


def swap_blocks(source_caches: Sequence[LayerCache], target_caches: Sequence[LayerCache], swaps: Pairs) -> None:
    """Copy whole blocks in every layer from one set of caches to another, such as one in the host's memory.

    Each pair is (a physical block of source_caches, a physical block of target_caches). The source keeps what it has.
    The two sets may differ in their number of blocks and in device, and in nothing else: the scales of a quantised
    cache are equal too. Raises BadInput, and copies nothing, when they are not, or when a block is outside its cache
    or is the null block.
    """
    _check_caches("source_caches", source_caches)
    _check_caches("target_caches", target_caches)
    if len(source_caches) != len(target_caches):
        raise BadInput(
            f"source_caches has {len(source_caches)} layers and target_caches {len(target_caches)}; "
            "expected the same layers in both"
        )
    for layer, (source, target) in enumerate(zip(source_caches, target_caches)):
        if source.key.shape[1:] != target.key.shape[1:] or source.key.dtype != target.key.dtype:
            raise BadInput(
                f"in layer {layer}, blocks of source_caches are {list(source.key.shape[1:])} of {source.key.dtype}, "
                f"those of target_caches {list(target.key.shape[1:])} of {target.key.dtype}; expected equal blocks"
            )
        if _scales(source) != _scales(target):
            raise BadInput(
                f"in layer {layer}, the scales of source_caches and target_caches differ, so the same stored numbers "
                "would mean other keys and values; make both with the same scales"
            )
    _check_pairs("swaps", swaps, num_sources=_num_blocks(source_caches), num_targets=_num_blocks(target_caches))
    _copy(source_caches, target_caches, swaps)


def _copy(source_caches: Sequence[LayerCache], target_caches: Sequence[LayerCache], pairs: Pairs) -> None:
    for source_block, target_block in pairs:
        for source, target in zip(source_caches, target_caches):
            target.key[target_block] = source.key[source_block]
            target.value[target_block] = source.value[source_block]


def _num_blocks(caches: Sequence[LayerCache]) -> int:
    return min(len(layer.key) for layer in caches)


def _scales(layer: LayerCache) -> list[list[float]]:
    return [scale.tolist() for scale in (layer.key_scale, layer.value_scale) if scale is not None]


def _check_caches(name: str, caches: object) -> None:
    if not isinstance(caches, list | tuple) or isinstance(caches, LayerCache) or not caches:
        raise BadInput(f"{name} is {_named(caches)}; give a list with the LayerCache of each layer")
    for layer in caches:
        if not isinstance(layer, LayerCache):
            raise BadInput(f"{name} holds {_named(layer)}; give a list with the LayerCache of each layer")
        check_caches(layer.key, layer.value)


def _check_pairs(name: str, pairs: object, num_sources: int, num_targets: int) -> None:
    if not isinstance(pairs, list | tuple):
        raise BadInput(f"{name} is {_named(pairs)}; give a list of pairs (source, target)")
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise BadInput(f"{name} holds {_named(pair)}; give a list of pairs (source, target)")
        source, target = pair
        if not _is_block(source, num_sources) or not _is_block(target, num_targets):
            raise BadInput(
                f"{name} holds ({source!r}, {target!r}); expected physical blocks, a source from 1 to "
                f"{num_sources - 1} and a target from 1 to {num_targets - 1}, as block 0 is the null block"
            )


def _is_block(block: object, num_blocks: int) -> bool:
    return type(block) is int and 1 <= block < num_blocks


def _named(given: object) -> str:
    if isinstance(given, list | tuple):
        return f"a {type(given).__name__} of length {len(given)}"
    return f"of type {type(given).__name__}"
