"""The exercises of lab 10, *Quantised caches*: what a cache of few bits costs in bytes, and what it loses."""

from collections.abc import Iterator
from math import sqrt
from typing import Any

import torch
from torch import Tensor

from kvlib.chance import Chance
from kvlib.grading.exercise import Exercise, Exercises, Score, Seen, Wrong, check_callable
from kvlib.grading.exercises.quantising.bits import e4m3
from kvlib.grading.exercises.quantising.numbers import scales, store

ALLOWED = 0.01  # of the largest number of a channel


def _weigh(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    names = ("num_tokens", "block_size", "num_layers", "num_kv_heads", "head_size", "bits", "scales_per_block")
    check_callable(answer, *names)
    for bits in (8, 4):
        block_size = (16, 32)[chance.below(2)]
        head_size = (64, 128)[chance.below(2)]
        sizes = {
            "num_tokens": block_size * (1 + chance.below(9)) + 1 + chance.below(block_size - 1),
            "block_size": block_size,
            "num_layers": 3 + chance.below(30),
            "num_kv_heads": (3, 5, 8)[chance.below(3)],
            "head_size": head_size,
            "bits": bits,
            "scales_per_block": (1, block_size, head_size)[chance.below(3)],
        }
        given = answer(**sizes)
        try:
            number = float(given)
        except (TypeError, ValueError):
            raise Wrong(f"It returns {type(given).__name__}; expected a whole number of bytes.") from None
        yield Seen("the bytes are those of whole blocks and their scales", number, _weighed_wrong(number, **sizes))


def _weighed_wrong(number: float, **sizes: int) -> str:
    blocks = -(-sizes["num_tokens"] // sizes["block_size"])
    heads = sizes["num_layers"] * sizes["num_kv_heads"]
    numbers = sizes["block_size"] * sizes["head_size"]
    packed, scaled = numbers * sizes["bits"] / 8, 4 * sizes["scales_per_block"]
    right = 2 * blocks * heads * (packed + scaled)
    if number == right:
        return ""
    mistakes = {
        2 * blocks * heads * packed: "the scales are left out, and they are stored too",
        blocks * heads * (packed + scaled): "keys and values both are stored: twice as much",
        2 * blocks * heads * (numbers + scaled): "each number takes 8 bits, whatever `bits` says",
        2 * blocks * heads * (numbers * sizes["bits"] + scaled): "the numbers are counted in bits, not in bytes",
        2 * heads * (blocks * packed + scaled): "each block has scales of its own, not the cache as a whole",
        2 * blocks * heads * (packed + sizes["scales_per_block"]): "a scale is a float32, of four bytes",
        right / blocks * (sizes["num_tokens"] / sizes["block_size"]): "the last block is taken whole, full or not",
        right / blocks * (blocks - 1): "the last block is taken too, full or not",
    }
    why = mistakes.get(number, "count what a block has for one head, and then how many of those there are")
    asked = ", ".join(f"{name}={size}" for name, size in sizes.items())
    return f"For {asked} it says {number:,.0f} bytes; {why}."


def _compress(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    check_callable(answer, "keys")
    tokens, heads, size = 32, 2, 16
    loud = torch.tensor([chance.below(8) for _ in range(heads * size)]).view(1, heads, size)
    loud[0, 0, 0], loud[0, 1, 1] = 9, 9
    steps = torch.tensor([4 * (chance.below(61) - 30) for _ in range(tokens * heads * size)]).view(tokens, heads, size)
    steps[chance.below(tokens)] = 124
    keys = steps * 2.0**loud
    given = answer(keys=keys.clone())
    if not isinstance(given, tuple | list) or len(given) != 2 or not all(isinstance(each, Tensor) for each in given):
        raise Wrong(f"It returns {type(given).__name__}; expected two tensors, (stored, scale).")
    stored, scale = given
    if stored.dtype != torch.int8 or stored.shape != keys.shape:
        raise Wrong(f"stored is {stored.dtype} {list(stored.shape)}; expected torch.int8 {list(keys.shape)}.")
    try:
        read = (stored.float() * scale.float()).expand(keys.shape)
    except RuntimeError:
        raise Wrong(
            f"stored {list(stored.shape)} and scale {list(scale.shape)} cannot be multiplied; keep the dimensions that "
            "share a scale, with size 1."
        ) from None
    off = (read - keys).abs() / (124 * 2.0**loud)
    fault = "" if float(off.max()) <= ALLOWED else _lossy(off, stored, scale)
    yield Seen("every number comes back near enough", (read / (4 * 2.0**loud)).round().int().flatten().tolist(), fault)
    yield Score("bytes", stored.nbytes + scale.nbytes, keys.numel() + 2 * heads * size)


def _lossy(off: Tensor, stored: Tensor, scale: Tensor) -> str:
    head, channel = divmod(int(off.amax(0).argmax()), off.shape[2])
    worst = f"Channel {channel} of head {head} is off by {float(off.max()):.0%} of its largest number"
    lost = int((stored[:, head, channel] == 0).sum())
    tokens, heads, size = off.shape
    sharing: dict[tuple[int, ...], str] = {
        (1, 1, 1): "One scale serves the whole tensor",
        (1, heads, 1): "One scale serves a whole head",
        (tokens, heads, 1): "The scale is taken token by token, and loud and quiet channels share it",
        (tokens, 1, 1): "The scale is taken token by token, and loud and quiet channels share it",
        (1, 1, size): "The heads share the scale of a channel, and what is loud in one is quiet in the other",
    }
    quietest = stored[:, head, channel].abs().amax() < 100
    shared = sharing.get(tuple(scale.shape)) if quietest else None
    if shared is None:
        return f"{worst}. Is each number divided by the scale that you return with it, and rounded to the nearest?"
    return f"{worst}; {lost} of its {len(off)} numbers became 0. {shared}. Which numbers of a key are of one size?"


def _gap(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    check_callable(answer, "plain", "lossy")
    for odd in (5, 7 + 2 * chance.below(3)):
        half = (odd * odd + 1) // 2
        mean, error = (-1) ** chance.below(2) * (1 + chance.below(4)), 1 + chance.below(4)
        order = sorted(range(2 * half), key=lambda _: chance.bits())
        spread = torch.tensor([odd * error] * half + [-odd * error] * half, dtype=torch.float64)[order]
        plain = torch.tensor([float(chance.below(4000)) for _ in order], dtype=torch.float64)
        given = answer(plain=plain, lossy=plain + mean + spread)
        try:
            got_mean, got_error = map(float, given)
        except (TypeError, ValueError):
            raise Wrong(f"It returns {type(given).__name__}; expected two numbers, (mean, error).") from None
        seen = [round(1000 * got_mean), round(1000 * got_error)] if got_error == got_error else ["none"]
        fault = _unsure(got_mean, got_error, mean, error, 2 * half, plain, spread)
        yield Seen("the mean difference and its standard error", seen, fault)


def _unsure(got_mean: float, got_error: float, mean: int, error: int, count: int, plain: Tensor, spread: Tensor) -> str:
    said = f"For {count} tokens it returns a mean of {got_mean:g} and an error of {got_error:g}"
    if abs(got_mean - mean) > 1e-3:
        return f"{said}; the mean of lossy - plain is {mean}. Positive means that the lossy cache is worse."
    if abs(got_error - error) <= 1e-3:
        return ""
    deviation = float(spread.std())
    if abs(got_error - deviation) < 1e-3:
        return f"{said}: that is how far one token strays. The mean of n tokens strays less, by the root of n."
    if abs(got_error - deviation / count) < 1e-3:
        return f"{said}: divide by the root of n, not by n."
    if abs(got_error - float(spread.std(correction=0)) / sqrt(count)) < 1e-3:
        return f"{said}: the sum of squares is divided by n; the mean was taken from the same numbers, so by n - 1."
    if got_error > 2 * error:
        return (
            f"{said}, too much: tokens differ from each other far more than the caches do. Take the difference token "
            "by token first, and the deviation of that."
        )
    return f"{said}; the standard deviation of lossy - plain, by the root of n, is {error}."


EXERCISES = Exercises(
    {
        "store": Exercise(store, "To the nearest, and cut at the ends."),
        "scales": Exercise(scales, "Whoever shares it, the largest just fits."),
        "weigh": Exercise(_weigh, "Whole blocks, keys and values, scales included."),
        "bits": Exercise(e4m3, "All kinds of bytes, and zero."),
        "compress": Exercise(_compress, "No number is off by more than a hundredth of its channel's largest."),
        "gap": Exercise(_gap, "Token by token, and with the error of the mean."),
    }
)
check, observe = EXERCISES.check, EXERCISES.observe
