"""The page on vLLM and SGLang: what it says is dated, and says in which files of which version it was read."""

import re
from datetime import date
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "book" / "today.md").read_text(encoding="utf-8")
TABLE = re.search(r"```\{list-table\}\n(.*?)\n```", TEXT, re.DOTALL)[1]
ROWS = [re.split(r"^  - ", row, flags=re.MULTILINE) for row in re.split(r"^\* - ", TABLE, flags=re.MULTILINE)[2:]]
TOPICS = (
    "block|alloc|prefix|hash|salt|evict|preempt|swap|copy-on-write|chunked|order|quantised|backends|sliding|metrics"
)

row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].split("*")[2])


@row
def test_a_row_says_when_it_was_read(row: list[str]) -> None:
    assert date(2026, 1, 1) < date.fromisoformat(row[0].split()[-1]) <= date.today()


@row
def test_a_cell_begins_with_its_version_and_ends_with_its_files(row: list[str]) -> None:
    assert len(row) == 3
    for cell, name, package in zip(row[1:], ("vLLM", "SGLang"), ("vllm", "sglang"), strict=True):
        assert re.match(rf"\*\*{name} \d+\.\d+\.\d+\.\*\* \S", cell)
        files = cell.strip().rpartition("\n\n")[2].strip()
        assert re.fullmatch(rf"`{package}/[\w/]+\.py`(,\s+`{package}/[\w/]+\.py`)*", files)


def test_the_versions_are_those_of_the_list_of_references() -> None:
    bib = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    for version in set(re.findall(r"\*\*(\w+ \d+\.\d+\.\d+)\.\*\*", TABLE)):
        assert f"shorthand = {{{version}}}" in bib


@pytest.mark.parametrize("topic", TOPICS.split("|"))
def test_nothing_of_what_readers_ask_for_is_missing(topic: str) -> None:
    assert any(topic in row[0].lower() for row in ROWS)
