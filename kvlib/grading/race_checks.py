"""The checks of the lab *Race the kernel*: arithmetic that decides how fast a decode step can be."""

from collections.abc import Callable, Mapping, Sequence
from math import ceil, isclose
from typing import Any

from kvlib.bench.gpu.cards import floor_us
from kvlib.errors import BadInput
from kvlib.grading.kernel_checks import Verdict
from kvlib.grading.race_changes import CHANGES
from kvlib.grading.trials import Wrong
from kvlib.shown import shown

LEAST_SPLIT = 256  # tokens
SHARE_OF_BEST = 0.9

FLOORS = ((1, 1024, 8, 128, 2, 320), (64, 4096, 8, 128, 2, 1555), (36, 16384, 8, 128, 1, 3350), (3, 77, 4, 80, 4, 7700))
"""num_seqs, context_len, num_kv_heads, head_size, number_bytes, gbps."""
NAMES = ("num_seqs", "context_len", "num_kv_heads", "head_size", "number_bytes")

STEPS = (
    *((8, 80, 4096), (8, 432, 32768), (8, 660, 32768), (8, 740, 1024)),
    *((32, 116, 8192), (64, 432, 2048), (128, 660, 4096), (288, 432, 16384)),
    *((512, 80, 1024), (512, 432, 4096), (512, 740, 4096), (1024, 660, 200)),
)
"""num_programs, num_places, context_len: one to 128 requests on the places of five cards."""

LAUNCHES = (
    (1, 4096, 320, 9.0),
    (1, 4096, 3350, 9.0),
    (16, 4096, 1555, 12.5),
    (64, 2048, 7700, 40.0),
    (128, 4096, 300, 2.0),
)
"""num_seqs, token_bytes, gbps, host_us; the times are made up."""


def check(exercise: str, answer: Any) -> Verdict:
    """Whether `answer`, a function or what was predicted, is right; the same verdict each time.

    An answer that raises is wrong; only an exercise that is not known raises BadInput.
    """
    if exercise not in CHECKS:
        raise BadInput(f"exercise is {exercise!r}; known are {', '.join(CHECKS)}")
    try:
        return Verdict(exercise, True, CHECKS[exercise](answer))
    except Wrong as wrong:
        return Verdict(exercise, False, str(wrong))


def _floor(answer: Callable[..., Any]) -> str:
    found = [_number(answer, *case) for case in FLOORS]
    expected = [floor_us(2 * a * b * c * d * e, gbps) for a, b, c, d, e, gbps in FLOORS]
    for case, us, right in zip(FLOORS, found, expected):
        if not isclose(us, right, rel_tol=1e-6):
            why = _mistake([us / right for us, right in zip(found, expected)])
            raise Wrong(f"{_call('floor_us', case)} is {right:.4g} µs, and yours gives {us:.4g}{why}.")
    return f"{len(FLOORS)} steps, in numbers of 1, 2 and 4 bytes."


def _mistake(ratios: Sequence[float]) -> str:
    """What makes an answer so many times the right one."""
    mistakes = {
        "what comes out when only the keys are counted, or only the values": [0.5] * len(ratios),
        "milliseconds: a GB/s is 1,000 bytes a microsecond": [1e-3] * len(ratios),
        "seconds: a GB/s is 1,000 bytes a microsecond": [1e-6] * len(ratios),
        "nanoseconds: a GB/s is 1,000 bytes a microsecond": [1e3] * len(ratios),
        "what comes out when a GB has 2**30 bytes; a data sheet's has 10**9": [1e9 / 2**30] * len(ratios),
    }
    for place, name in enumerate(NAMES):
        mistakes[f"what comes out without {name}"] = [1 / case[place] for case in FLOORS]
    for words, factors in mistakes.items():
        if all(isclose(ratio, factor, rel_tol=1e-6) for ratio, factor in zip(ratios, factors)):
            return f", {words}"
    return ""


def _predict(predicted: Any) -> str:
    if not isinstance(predicted, Mapping):
        raise Wrong(f"predicted is {shown(predicted)}; it is a dict, a number for each change.")
    for name in CHANGES:
        value = predicted.get(name, ...)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise Wrong(f"{name} is {shown(value)}; predict a number, before you look.")
    wrong = [name for name, change in CHANGES.items() if not isclose(predicted[name], change.times, rel_tol=0.01)]
    if wrong:
        name = wrong[0]
        right = f"{len(CHANGES) - len(wrong)} of {len(CHANGES)} are right. "
        raise Wrong(f"{right}{name}: not {predicted[name]:g} times, but {CHANGES[name].times:g}: {CHANGES[name].why}.")
    return f"All {len(CHANGES)}: the least time follows the bytes of keys and values, and nothing else."


def _fill(answer: Callable[..., Any]) -> str:
    used = fewest = 0
    for step in STEPS:
        splits = _number(answer, *step)
        num_programs, num_places, context_len = step
        if type(splits) is not int or splits < 1:
            raise Wrong(f"{_call('num_splits', step)} is {shown(splits)}; give a whole number, 1 at least.")
        most = max(1, context_len // LEAST_SPLIT)
        if splits > most:
            raise Wrong(
                f"{_call('num_splits', step)} is {splits}, splits of {ceil(context_len / splits)} tokens; they have "
                f"{LEAST_SPLIT} at least, or there is one."
            )
        shares = [_at_work(num_programs * count, num_places) for count in range(1, most + 1)]
        enough = SHARE_OF_BEST * max(shares)
        if shares[splits - 1] < enough:
            raise Wrong(
                f"{_call('num_splits', step)} is {splits}: {100 * shares[splits - 1]:.0f} % of the places are at work, "
                f"and {100 * max(shares):.0f} % can be."
            )
        used += splits
        fewest += next(count for count, share in enumerate(shares, 1) if share >= enough)
    score = ", the fewest that do" if used == fewest else f"; {fewest} would do"
    return f"{len(STEPS)} steps are cut into {used} splits in all{score}."


def _at_work(num_programs: int, num_places: int) -> float:
    """The share of the places that have a program, over all waves."""
    return num_programs / (ceil(num_programs / num_places) * num_places)


def _launch(answer: Callable[..., Any]) -> str:
    for case in LAUNCHES:
        num_seqs, token_bytes, gbps, host_us = case
        tokens = _number(answer, *case)
        if type(tokens) is not int:
            raise Wrong(f"{_call('least_context', case)} is {shown(tokens)}; tokens are whole, an int: round up.")
        reading, before = (floor_us(num_seqs * token_bytes * count, gbps) for count in (tokens, tokens - 1))
        if reading < host_us * (1 - 1e-9):
            raise Wrong(f"{_call('least_context', case)} is {tokens}, which is read in {reading:.4g} µs: too few.")
        if before >= host_us * (1 + 1e-9):
            raise Wrong(
                f"{_call('least_context', case)} is {tokens}; {tokens - 1} take {before:.4g} µs: enough already."
            )
    return f"{len(LAUNCHES)} launches, the shortest context each."


def _number(answer: Callable[..., Any], *arguments: float) -> Any:
    try:
        value = answer(*arguments)
    except Exception as error:
        raise Wrong(f"It raises {type(error).__name__}: {str(error).partition(chr(10))[0]}.") from error
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Wrong(f"It returns {shown(value)} for {arguments}; give a number.")
    return value


def _call(name: str, arguments: Sequence[float]) -> str:
    return f"{name}({', '.join(map(str, arguments))})"


CHECKS: dict[str, Callable[[Any], str]] = {"floor": _floor, "predict": _predict, "fill": _fill, "launch": _launch}
