"""The glossary: each term is in order, links to a chapter that speaks of it, and is there when a page names it."""

import re
from pathlib import Path

import pytest

BOOK = Path(__file__).parents[2] / "book"
TEXT = (BOOK / "glossary.md").read_text(encoding="utf-8")
GLOSSARIES = re.findall(r":::\{glossary\}\n(.*?)\n:::\n", TEXT, re.DOTALL)
ENTRIES = [dict(re.findall(r"^(\S[^\n]*)\n((?:  [^\n]*\n?)+)", part, re.MULTILINE)) for part in GLOSSARIES]
OTHERS = {"continuous batching", "hit", "parallel sampling"}  # what others call a thing that the book has
TERMS = {term: meaning for part in ENTRIES for term, meaning in part.items()}


def letters(text: str) -> str:
    """Without marks, spaces and capitals, so that `BlockPool` and *block* pool are one."""
    return re.sub(r"\W|_", "", text).lower()


def test_there_are_enough_terms_and_the_parts_of_the_machines_stand_apart() -> None:
    assert len(GLOSSARIES) == 2
    assert len(ENTRIES[0]) >= 40


@pytest.mark.parametrize("part", ENTRIES)
def test_terms_are_in_the_order_of_the_alphabet(part: dict[str, str]) -> None:
    assert list(part) == sorted(part, key=str.lower)


def test_no_term_stands_twice() -> None:
    assert len(TERMS) == sum(map(len, ENTRIES)) == sum(part.count("\n\n") + 1 for part in GLOSSARIES)


@pytest.mark.parametrize("term", TERMS)
def test_a_term_links_to_a_page_that_has_its_words(term: str) -> None:
    pages = re.findall(r"\]\(([\w-]+\.md)\)\.\s*$", TERMS[term])
    assert len(pages) == 1, "one link, at the end"
    text = (BOOK / pages[0]).read_text(encoding="utf-8")
    assert term in OTHERS or all(letters(word) in letters(text) for word in term.split(", "))


@pytest.mark.parametrize("page", sorted(BOOK.glob("*.md")), ids=lambda page: page.stem)
def test_every_term_that_a_page_names_is_in_the_glossary(page: Path) -> None:
    named = re.findall(r"\{term\}`(?:[^`<]*<)?([^`>]+)>?`", page.read_text(encoding="utf-8"))
    assert {name.lower() for name in named} <= {term.lower() for term in TERMS}


def test_each_row_of_the_three_vocabularies_has_a_word_for_each() -> None:
    table = TEXT.partition("## Three vocabularies")[2].partition("## Terms")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")][2:]
    assert len(rows) >= 15
    assert [row for row in rows if len(row) != 4 or not all(row)] == []
