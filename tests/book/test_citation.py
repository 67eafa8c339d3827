"""BibTeX from CITATION.cff: every field of it, names and titles as they are written there."""

import importlib.util

import pybtex.database
import yaml

from .test_numbers import BOOK

_spec = importlib.util.spec_from_file_location("citation", BOOK / "ext" / "citation.py")
extension = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(extension)

CFF = yaml.safe_load(extension.CFF.read_text(encoding="utf-8"))


def parsed(work: dict) -> pybtex.database.Entry:
    [entry] = pybtex.database.parse_string(extension.bibtex(work), "bibtex").entries.values()
    return entry


def test_the_paper_has_all_its_authors_and_where_it_stands() -> None:
    paper = CFF["references"][0]
    entry = parsed(paper)
    names = [
        (" ".join(person.first_names + person.middle_names), *person.last_names) for person in entry.persons["author"]
    ]
    assert names == [(each["given-names"], each["family-names"]) for each in paper["authors"]]
    assert entry.type == "inproceedings"
    assert entry.key == "Kwon2023"
    assert entry.fields["booktitle"] == paper["collection-title"]
    assert entry.fields["doi"] == paper["doi"]


def test_the_book_is_by_whom_the_file_says_and_keeps_its_capitals() -> None:
    book = CFF["preferred-citation"]
    entry = parsed(book)
    assert entry.type == "book"
    assert entry.fields["title"] == "{" + book["title"] + "}"
    assert str(entry.persons["author"][0]) == "{" + book["authors"][0]["name"] + "}"
    assert entry.fields["year"] == str(book["year"])


def test_a_changed_file_changes_what_is_cited() -> None:
    entry = parsed({**CFF["preferred-citation"], "year": 2031, "url": "https://book.example"})
    assert entry.fields["year"] == "2031"
    assert entry.fields["url"] == "https://book.example"
    assert entry.key.endswith("2031")
