"""The drawing of kvlib's parts says what the sources import, and cannot show an import that goes up."""

import re

import pytest

from kvlib.errors import BadInput
from kvlib.show.imports import RANK, imported_parts, is_package, purpose, without_shortcuts
from kvlib.show.parts import parts

DIRECT = without_shortcuts(imported_parts())


def reached(part, imported):
    return imported[part].union(*(reached(other, imported) for other in imported[part]))


def test_each_part_stands_in_the_drawing_and_those_below_come_earlier_in_the_order():
    svg = parts(DIRECT).svg
    heights = {name: float(re.search(rf'y="([\d.]+)"[^>]*>{name}<', svg)[1]) for name in RANK}
    assert sorted(RANK, key=heights.get, reverse=True) == list(RANK)


def test_an_import_more_is_an_arrow_more():
    without = {"errors": set(), "engine": set()}
    assert parts(without | {"engine": {"errors"}}).svg.count("<path") > parts(without).svg.count("<path")


def test_the_text_of_the_drawing_says_what_each_part_imports():
    text = parts(DIRECT).alt
    assert all(f"{name} to {', '.join(sorted(others))}" in text for name, others in DIRECT.items() if others)


@pytest.mark.parametrize("imported", [{"errors": {"engine"}, "engine": set()}, {"errors": {"errors"}}])
def test_an_import_that_goes_up_is_not_drawn(imported):
    with pytest.raises(BadInput, match="errors imports"):
        parts(imported)


def test_without_shortcuts_each_part_still_reaches_what_it_imports_and_no_arrow_can_be_spared():
    imported = imported_parts()
    assert all(imported[part] <= reached(part, DIRECT) for part in imported)
    for part, others in DIRECT.items():
        for other in others:
            assert other not in reached(part, DIRECT | {part: others - {other}})


@pytest.mark.parametrize("part", RANK)
def test_each_part_says_in_one_sentence_what_it_is_for(part):
    assert re.fullmatch(r"[^`]{15,120}\.", purpose(part))


def test_a_folder_is_a_package_and_a_file_a_module():
    assert (is_package("engine"), is_package("sizing")) == (True, False)
