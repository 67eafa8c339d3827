"""A lab is chosen by its name or its number, with a leading zero or without."""

import pytest

from kvlib.errors import BadLab
from kvlib.grading.labs import chosen

LABS = {"01-sums": None, "10-more": None, "11-last": None}


@pytest.mark.parametrize("name", ["1", "01", "01-sums"])
def test_a_lab_is_chosen_by_number_or_name(name):
    assert list(chosen(LABS, [name])) == ["01-sums"]


@pytest.mark.parametrize("name", ["0", "01-", "1x", "-1", ""])
def test_what_is_neither_is_refused_with_what_is_known(name):
    with pytest.raises(BadLab, match="known are 01-sums, 10-more, 11-last, and their numbers alone"):
        chosen(LABS, [name])
