"""Numbers in few bits, on a grid with a scale. Scales are powers of two, so that results are exact."""

from collections.abc import Iterator
from math import log2
from typing import Any

import torch
from torch import Tensor

from kvlib.chance import Chance
from kvlib.grading.exercise import Score, Seen, Wrong, check_callable

FAR = (-0.375, -0.25, 0.0, 0.25, 0.375)  # of a step from the nearest: never half way


def store(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    """`store(x, scale, bits)` -> int8."""
    check_callable(answer, "x", "scale", "bits")
    for bits in (8, 3 + chance.below(3)):
        most = 2 ** (bits - 1) - 1
        for beyond in (False, True):
            scale = torch.tensor([2.0 ** (chance.below(7) - 3) for _ in range(3)]).view(1, 3, 1)
            whole = [most, -most, *(chance.below(2 * most + 1) - most for _ in range(22))]
            if beyond:
                whole = [number + (-1) ** chance.below(2) * (most + chance.below(most)) for number in whole]
            steps = torch.tensor([number + FAR[chance.below(len(FAR))] for number in whole]).view(2, 3, 4)
            expected = torch.tensor(whole).clamp(-most, most).view(2, 3, 4)
            stored = answer(x=steps * scale, scale=scale, bits=bits)
            if not isinstance(stored, Tensor) or stored.dtype != torch.int8 or stored.shape != steps.shape:
                raise Wrong(f"It returns {said(stored)}; expected torch.int8 {list(steps.shape)}, as x is.")
            yield Seen(
                f"what lies {'beyond the grid is stored as its end' if beyond else 'in the grid goes to the nearest'}",
                stored.flatten().tolist(),
                _stored_wrong(steps, stored, expected, bits, scale),
            )


def _stored_wrong(steps: Tensor, stored: Tensor, expected: Tensor, bits: int, scale: Tensor) -> str:
    off = (stored != expected).nonzero()
    if not len(off):
        return ""
    most = 2 ** (bits - 1) - 1
    at = tuple(off[0].tolist())
    where = f"In {bits} bits, {float(steps[at]):g} steps of the scale are stored as {int(stored[at])}"
    if torch.equal(stored, steps.round().clamp(-most - 1, most).to(torch.int8)):
        return f"{where}. The grid is symmetric, {-most} to {most}: the last negative number is left out."
    if torch.equal(stored, steps.round().to(torch.int32).to(torch.int8)) or torch.equal(
        stored, steps.round().clamp(-128, 127).to(torch.int8)
    ):
        return f"{where}. The grid ends at {most}: cut what lies beyond, before the cast to int8, which wraps round."
    if torch.equal(stored, steps.clamp(-most, most).trunc().to(torch.int8)):
        return f"{where}: the cast cuts the fraction off. Round to the nearest before it."
    if torch.equal(stored, (steps * scale).round().clamp(-most, most).to(torch.int8)):
        return f"{where}: x is rounded as it is. Divide it by the scale first."
    return f"{where}; expected {int(expected[at])}: x / scale, rounded to the nearest, cut at {-most} and {most}."


def scales(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    """`scales(x, shared, bits)`: x's shape, with 1 in the dimensions that share a scale."""
    check_callable(answer, "x", "shared", "bits")
    for shared in ((0, 1, 2), (0, 2), (2,), (0,)):
        bits = (8, 4, 3)[chance.below(3)]
        most = 2 ** (bits - 1) - 1
        shape = [4, 2, 6]
        kept = [1 if dim in shared else size for dim, size in enumerate(shape)]
        powers = torch.tensor([chance.below(9) - 4 for _ in range(torch.Size(kept).numel())]).view(kept)
        x = _loud(chance, shape, shared, most) * 2.0**powers
        silent = len(shared) < 3
        if silent:
            x = torch.where((torch.arange(powers.numel()) == 0).view(kept), 0, x)
        got = answer(x=x, shared=shared, bits=bits)
        if not isinstance(got, Tensor) or list(got.shape) != kept:
            raise Wrong(
                f"For x {shape} and shared={shared} it returns {said(got)}; expected a tensor {kept}: a dimension "
                "that shares a scale stays, with size 1 (keepdim=True)."
            )
        flat, right = got.flatten().tolist(), (2.0**powers).flatten().tolist()
        if silent and not 0 < flat[0] < float("inf"):
            raise Wrong(
                f"Numbers that are all zero get the scale {flat[0]:g}, and 0 / {flat[0]:g} is no number to store. Any "
                "scale above 0 is right for them."
            )
        flat, right = flat[silent:], right[silent:]
        seen = [round(100 * log2(scale)) if 0 < scale < float("inf") else "none" for scale in flat]
        yield Seen(
            f"with shared={shared}, the largest is stored as the end of the grid", seen, _scale(flat, right, bits)
        )


def _loud(chance: Chance, shape: list[int], shared: tuple[int, ...], most: int) -> Tensor:
    """Numbers below `most` in size, and among those that share a scale one that is -most."""
    x = torch.tensor([chance.below(2 * most - 1) - most + 1 for _ in range(torch.Size(shape).numel())]).view(shape)
    x[tuple(chance.below(size) if dim in shared else slice(None) for dim, size in enumerate(shape))] = -most
    return x.float()


def _scale(got: list[float], right: list[float], bits: int) -> str:
    most = 2 ** (bits - 1) - 1
    if all(abs(scale / good - 1) < 1e-4 for scale, good in zip(got, right)):
        return ""
    for words, times in (
        (f"The grid of {bits} bits ends at {most}, not at {most + 1}: divide by {most}.", most / (most + 1)),
        (f"It returns the largest numbers; a scale is the largest / {most}.", most),
        (f"A grid of {bits} bits has two sides: it ends at {most}, and not at {2**bits - 1}.", most / (2**bits - 1)),
    ):
        if all(abs(scale / good - times) < 1e-4 for scale, good in zip(got, right)):
            return words
    return (
        f"In {bits} bits, a scale is {got[0]:g}, where the number farthest from zero, / {most}, is {right[0]:g}. Is a "
        "large negative number as large to it as a positive one?"
    )


def said(given: Any) -> str:
    """What kind of thing an answer returned."""
    return f"{given.dtype} {list(given.shape)}" if isinstance(given, Tensor) else type(given).__name__
