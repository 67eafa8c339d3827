"""The checks of the lab *Race the kernel*: arithmetic that decides how fast a decode step can be."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil, isclose, log2
from typing import Any, NamedTuple

from kvlib.bench.gpu.cards import floor_us
from kvlib.chance import Chance
from kvlib.grading.exercise import Exercise, Exercises, Score, Seen, Wrong
from kvlib.grading.race.answers import NAMES, as_float, is_number, number, said, whole
from kvlib.grading.race.changes import CHANGES
from kvlib.grading.race.mistakes import UNIT, floor_mistakes, launch_mistakes, made, rounded, written
from kvlib.shown import shown

LEAST_SPLIT = 256  # tokens
SHARE_OF_BEST = 0.9
ROUNDING = 1e-9  # a share that is just nine tenths is enough, however it was computed

FLOORS = ((1, 1024, 8, 128, 2, 320), (64, 4096, 8, 128, 2, 1555), (36, 16384, 8, 128, 1, 3350), (3, 77, 4, 80, 4, 7700))

STEPS = (
    *((8, 80, 4096), (8, 432, 32768), (8, 660, 32768), (8, 740, 2000)),
    *((32, 116, 8192), (64, 432, 2048), (128, 660, 4096), (288, 432, 16384)),
    *((512, 80, 1024), (512, 432, 4096), (512, 740, 4096), (1024, 660, 200)),
)
"""One to 128 requests on the places of five cards. A context of 2,000 tokens has room for seven splits, not eight."""

TOO_SHORT = (8, 80, 300)
"""A step whose context cannot be split, though nine tenths of the places are idle."""

LAUNCHES = (
    (1, 4096, 320, 9.0),
    (1, 4096, 3350, 9.0),
    (16, 4096, 1555, 12.5),
    (64, 2048, 7700, 40.0),
    (128, 4096, 300, 2.0),
    (1, 4096, 1024, 8.0),
)
"""The times are made up. In the last, 2,000 tokens are read in just that time, and nothing is to be rounded."""


class Choice(NamedTuple):
    """Into how many splits a step was cut, the fewest that are enough, and the best share of places at work."""

    splits: int
    fewest: int
    best: float


def _floor(answer: Callable[..., Any], chance: Chance) -> Iterator[Seen]:
    found = [as_float(number(answer, "floor_us", case)) for case in FLOORS]
    expected = [floor_us(2 * a * b * c * d * e, gbps) for a, b, c, d, e, gbps in FLOORS]
    for case, us, right in zip(FLOORS, found, expected):
        if not isclose(us, right, rel_tol=1e-6):
            mistakes = floor_mistakes(FLOORS, NAMES["floor_us"])
            why = made(found, expected, mistakes) or rounded(found, expected)
            right_us, yours = written(right, us)
            raise Wrong(f"{said('floor_us', case)} is {right_us} µs, and yours gives {yours}{why}.")
    drawn = [
        (1 + chance.below(200), 1 + chance.below(30_000), 1 + chance.below(40), 64, 1 + chance.below(4), 320)
        for _ in range(8)
    ]
    yield Seen("the least time is the bytes over the bandwidth", [number(answer, "floor_us", case) for case in drawn])


def _predict(predicted: Any, chance: Chance) -> Iterator[Seen]:
    if not isinstance(predicted, Mapping):
        raise Wrong(f"predicted is {shown(predicted)}; it is a dict, a number for each change.")
    unknown = [name for name in predicted if name not in CHANGES]
    for name in CHANGES:
        value = predicted.get(name)
        if value is None or value is ...:
            other = f"; {shown(unknown[0])} is not in the table" if unknown else ""
            raise Wrong(f"Nothing is predicted for {name!r}{other}.")
        if not is_number(value):
            raise Wrong(f"{name!r} is {shown(value)}; predict a number, before you look.")
    ratios = {name: as_float(predicted[name]) / change.times for name, change in CHANGES.items()}
    wrong = [name for name, ratio in ratios.items() if not isclose(ratio, 1, rel_tol=0.01)]
    if wrong:
        raise Wrong(_all_alike(ratios) or _one_of(wrong, as_float(predicted[wrong[0]])))
    units = {name: 2 ** chance.below(40) for name in CHANGES}
    steps = {name: round(8 * log2(unit * as_float(predicted[name]))) for name, unit in units.items()}
    yield Seen("each change multiplies the time as it multiplies the bytes, in eighths of a doubling", steps)


def _all_alike(ratios: Mapping[str, float]) -> str:
    """What is wrong with all predictions, which are so many times the right ones; "" if that is nothing."""
    if all(isclose(ratio * CHANGES[name].times ** 2, 1, rel_tol=0.01) for name, ratio in ratios.items()):
        return "All are upside down: 2 stands for twice the time, not for twice the speed."
    first, *others = ratios.values()
    if first > 0 and all(isclose(ratio, first, rel_tol=0.03) for ratio in others):
        return f"All are {first:.4g} times too large: predict a factor, 1 for the same time, and not a time."
    return ""


def _one_of(wrong: Sequence[str], value: float) -> str:
    name, num_right = wrong[0], len(CHANGES) - len(wrong)
    right = f"{num_right or 'None'} of {len(CHANGES)} {'is' if num_right < 2 else 'are'} right."
    return f"{right} {name}: not {value:g} times, but {CHANGES[name].times:g}: {CHANGES[name].why}."


def _fill(answer: Callable[..., Any], chance: Chance) -> Iterator[Seen | Score]:
    drawn = [(1 + chance.below(600), 40 + chance.below(700), 100 + chance.below(30_000)) for _ in range(8)]
    choices = [_choice(answer, step) for step in (*STEPS, TOO_SHORT, *drawn)]
    yield Seen("nine tenths of the best share are at work", [choice.best for choice in choices])
    asked = choices[: len(STEPS)]
    yield Score("splits in all", sum(choice.splits for choice in asked), sum(choice.fewest for choice in asked))


def _choice(answer: Callable[..., Any], step: tuple[int, int, int]) -> Choice:
    """What `answer` chooses for a step; raises Wrong unless it is enough."""
    call = said("num_splits", step)
    splits = whole(number(answer, "num_splits", step), call, "give a whole number, 1 at least")
    if splits < 1:
        raise Wrong(f"{call} is {splits}; give a whole number, 1 at least.")
    num_programs, num_places, context_len = step
    most = max(1, context_len // LEAST_SPLIT)
    if splits > most:
        raise Wrong(
            f"{call} is {splits}, splits of {context_len / splits:.4g} tokens; they have {LEAST_SPLIT} at least, "
            "or there is one."
        )
    shares = [_at_work(num_programs * count, num_places) for count in range(1, most + 1)]
    enough = SHARE_OF_BEST * max(shares) * (1 - ROUNDING)
    if shares[splits - 1] < enough:
        raise Wrong(
            f"{call} is {splits}: {100 * shares[splits - 1]:.3g} % of the places are at work; "
            f"{100 * max(shares):.3g} % can be, and nine tenths of that are {100 * enough:.3g} %."
        )
    return Choice(splits, next(count for count, share in enumerate(shares, 1) if share >= enough), max(shares))


def _at_work(num_programs: int, num_places: int) -> float:
    """The share of the places that have a program, over all waves."""
    return num_programs / (ceil(num_programs / num_places) * num_places)


def _launch(answer: Callable[..., Any], chance: Chance) -> Iterator[Seen]:
    calls = [said("least_context", case) for case in LAUNCHES]
    found = [
        whole(number(answer, "least_context", case), call, "tokens are whole: round up, to an int")
        for case, call in zip(LAUNCHES, calls)
    ]
    for case, call, tokens in zip(LAUNCHES, calls, found):
        num_seqs, token_bytes, gbps, host_us = case
        reading, before = (floor_us(num_seqs * token_bytes * count, gbps) for count in (tokens, tokens - 1))
        if reading < host_us * (1 - ROUNDING):
            raise Wrong(f"{call} is {tokens}, read in {reading:.4g} µs: too few{_why(found)}.")
        if before >= host_us * (1 - ROUNDING):
            raise Wrong(f"{call} is {tokens}, and {tokens - 1} take {before:.4g} µs: enough already{_why(found)}.")
    drawn = [(1 + chance.below(64), 4096, 301 + 2 * chance.below(3500), 0.5 + chance.below(50)) for _ in range(8)]
    shortest = [whole(number(answer, "least_context", case), said("least_context", case), UNIT) for case in drawn]
    yield Seen("the shortest context that takes as long to read as to launch", shortest)


def _why(found: Sequence[int]) -> str:
    """The mistake in the shortest contexts, as the end of a sentence."""
    if max(found) <= 1:
        return f". None of yours is above 1: {UNIT}"
    right = [1000 * gbps * host_us / (num_seqs * token_bytes) for num_seqs, token_bytes, gbps, host_us in LAUNCHES]
    return made(found, right, launch_mistakes(LAUNCHES), slack=1)


EXERCISES = Exercises(
    {
        "floor": Exercise(_floor, f"{len(FLOORS)} steps, in numbers of 1, 2 and 4 bytes.", seeds=(1,)),
        "predict": Exercise(
            _predict,
            f"All {len(CHANGES)}: the least time follows the bytes of keys and values, and nothing else.",
            seeds=(1,),
        ),
        "fill": Exercise(_fill, f"{len(STEPS)} steps, nine tenths of the best share in each.", seeds=(1,)),
        "launch": Exercise(_launch, f"{len(LAUNCHES)} launches, the shortest context each.", seeds=(1,)),
    }
)
check, observe = EXERCISES.check, EXERCISES.observe
