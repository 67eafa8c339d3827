"""Well-known mistakes in the arithmetic of the lab *Race the kernel*: which of them makes an answer what it is."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from math import floor, isclose, prod

Factors = Mapping[str, Sequence[float]]
"""What each mistake multiplies the right answer with, a factor for each case; the name ends "which is ..."."""

UNIT = "a GB/s is 1,000 bytes a microsecond"


def floor_mistakes(cases: Sequence[Sequence[float]], names: Sequence[str]) -> Factors:
    """Of the least time. A case has a value for each of `names`; the last is the bandwidth."""
    always = {
        "with the keys or the values alone": 0.5,
        "in bits: a byte has 8": 8,
        "with a GB of 2**30 bytes: a data sheet's has 10**9": 1e9 / 2**30,
        f"in milliseconds: {UNIT}": 1e-3,
        f"in seconds: {UNIT}": 1e-6,
        f"in nanoseconds: {UNIT}": 1e3,
    }
    forgotten = {f"without {name}": [1 / case[place] for case in cases] for place, name in enumerate(names[:-1])}
    return forgotten | {words: [factor] * len(cases) for words, factor in always.items()}


def launch_mistakes(cases: Sequence[Sequence[float]]) -> Factors:
    """Of the shortest context. A case has num_seqs, token_bytes, gbps and host_us."""
    always = {
        "half: token_bytes has both keys and values": 0.5,
        "with bits for bytes: a byte has 8": 1 / 8,
        "with a GB of 2**30 bytes: a data sheet's has 10**9": 2**30 / 1e9,
        f"a thousand times too few: {UNIT}": 1e-3,
        f"a thousand times too many: {UNIT}": 1e3,
        f"a million times too many: {UNIT}": 1e6,
    }
    forgotten = {
        "without num_seqs": [num_seqs for num_seqs, _, _, _ in cases],
        "without token_bytes": [token_bytes for _, token_bytes, _, _ in cases],
        "without host_us": [1 / host_us for _, _, _, host_us in cases],
    }
    return forgotten | {words: [factor] * len(cases) for words, factor in always.items()}


def made(found: Sequence[float], right: Sequence[float], mistakes: Factors, slack: float = 0) -> str:
    """Which one or two of `mistakes` make `found` of `right`, as the end of a sentence; "" if none do.

    slack: by how much an answer may be off in each case because it is rounded.
    """

    def are(numbers: Sequence[float]) -> bool:
        return all(isclose(one, other, rel_tol=1e-6, abs_tol=slack) for one, other in zip(found, numbers))

    for count in (0, 1, 2):  # with none of them nothing is said, so that no two stand for it that undo each other
        for names in combinations(mistakes, count):
            expected = [each * prod(factors) for each, *factors in zip(right, *(mistakes[name] for name in names))]
            if max(expected) > 2 * slack and are(expected):
                return f", which is {' and '.join(names)}" if names else ""
    return ""


def rounded(found: Sequence[float], right: Sequence[float]) -> str:
    """Whether `found` is `right` with digits left out, as the end of a sentence; "" if not."""

    cuts: list[Callable[[float], float]] = [floor, *(partial(round, ndigits=digits) for digits in range(7))]
    fits = [all(isclose(one, cut(other), rel_tol=1e-6) for one, other in zip(found, right)) for cut in cuts]
    if fits[0]:
        return ", which is cut to a whole number: divide with /"
    return ": do not round" if any(fits) else ""


def written(right: float, found: float) -> tuple[str, str]:
    """Both with so many digits that they do not look alike."""
    texts = [(f"{right:.{digits}g}", f"{found:.{digits}g}") for digits in (4, 8, 17)]
    return next(((one, other) for one, other in texts if one != other), texts[-1])
