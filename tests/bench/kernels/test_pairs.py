from itertools import combinations, product

import pytest

from kvlib.bench.kernels.pairs import pairwise

SETTINGS = {
    "two": {"a": (1, 2, 3), "b": (None, "x")},
    "many": {name: tuple(range(2 + i)) for i, name in enumerate("abcdefg")},
    "one value": {"a": (1,), "b": (1, 2), "c": (7,)},
    "equal values": {"a": (1, 2), "b": (1, 2), "c": (1, 2)},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_any_two_values_of_two_settings_meet_in_a_row(settings: dict):
    rows = pairwise(settings)
    for one, other in combinations(settings, 2):
        assert {(row[one], row[other]) for row in rows} == set(product(settings[one], settings[other]))


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_every_row_has_every_setting_and_the_rows_are_always_the_same(settings: dict):
    rows = pairwise(settings)
    assert all(list(row) == list(settings) for row in rows)
    assert rows == pairwise(settings)


def test_the_rows_are_few():
    assert len(pairwise(SETTINGS["many"])) < 2 * 7 * 8  # 7 * 8 pairs of the two largest, 40,320 combinations
