"""The course on the first page: every chapter and every lab once, its points added from the labs."""

import importlib.util
import re

import pytest
import yaml

from kvlib.grading.lab import Cell
from kvlib.grading.labs import Lab

from .test_numbers import BOOK

_spec = importlib.util.spec_from_file_location("course", BOOK / "ext" / "course.py")
extension = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(extension)

TOC = yaml.safe_load((BOOK.parent / "_toc.yml").read_text(encoding="utf-8"))
PARTS = {part["caption"]: [page["file"].split("/")[1] for page in part["chapters"]] for part in TOC["parts"]}
FIRST_PAGE = (BOOK / "index.md").read_text(encoding="utf-8")


@pytest.fixture
def weeks() -> list[dict]:
    return yaml.safe_load(re.search(r"^```\{course\}\n(.*?)^```$", FIRST_PAGE, re.MULTILINE | re.DOTALL)[1])


def test_it_takes_as_many_weeks_as_it_says(weeks: list[dict]) -> None:
    assert len(weeks) == 7
    assert "seven weeks" in FIRST_PAGE


@pytest.mark.parametrize(("part", "key"), [("Chapters", "chapters"), ("Labs", "labs")])
def test_every_chapter_and_every_lab_has_one_week(weeks: list[dict], part: str, key: str) -> None:
    assert sorted(name for week in weeks for name in week[key]) == sorted(PARTS[part])


def test_no_lab_comes_before_the_chapters_that_it_asks_for(weeks: list[dict]) -> None:
    read = set()
    for week in weeks:
        read |= {int(name[:2]) for name in week["chapters"]}
        for name in week["labs"]:
            text = (extension.LABS / f"{name}.md").read_text(encoding="utf-8")
            asked = re.search(r"[Cc]hapters? (\d+)(?: (?:and|to) (\d+))?", text)
            assert {int(number) for number in asked.groups() if number} <= read if asked else True, name


def test_the_points_are_those_of_the_labs_whatever_these_are() -> None:
    def lab(*points: int) -> Lab:
        tags = [("answer", f"ex:e{each}", f"points:{each}") for each in points]
        return Lab("lab", [Cell("markdown", "words"), *(Cell("code", "pass", each) for each in tags)])

    weeks = [{"chapters": ["a", "b"], "labs": ["1", "2"]}, {"chapters": [], "labs": ["3"]}]
    lines = list(extension.rows(weeks, {"1": lab(3, 4), "2": lab(5), "3": lab(1, 2)}))
    assert lines[2] == "| 1 | [](/book/a.md)<br>[](/book/b.md) | [](/labs/1.md)<br>[](/labs/2.md) | 12 |"
    assert lines[3].endswith("| 3 |")
    assert lines[4].endswith("| 15 |")
