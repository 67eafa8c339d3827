"""A few combinations of settings in which any two values of two settings meet."""

import random
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

CANDIDATES = 30


def pairwise(settings: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Combinations, one value for each setting, such that every pair of values of two settings is in one of them.

    Greedy, after Cohen et al., "The AETG system", IEEE TSE 1997: of some candidates that hold a pair not met so far,
    the one with most such pairs is taken. The same settings give the same combinations.
    """
    chance = random.Random(0)
    missing = {((a, i), (b, j)) for a, b in combinations(settings, 2) for i in _places(settings, a)
               for j in _places(settings, b)}  # fmt: skip
    rows = []
    while missing:
        wanted = min(missing)
        row = max(
            ({name: chance.choice(_places(settings, name)) for name in settings} | dict(wanted)
             for _ in range(CANDIDATES)),
            key=lambda row: len(_pairs(row) & missing),
        )  # fmt: skip
        missing -= _pairs(row)
        rows.append({name: settings[name][place] for name, place in row.items()})
    return rows


def _places(settings: Mapping[str, Sequence[Any]], name: str) -> range:
    return range(len(settings[name]))


def _pairs(row: Mapping[str, int]) -> set[tuple[tuple[str, int], tuple[str, int]]]:
    return set(combinations(row.items(), 2))
