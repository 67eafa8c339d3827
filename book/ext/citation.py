"""Sphinx extension: {cite-this}, the book and the paper that it explains as BibTeX, made from CITATION.cff."""

from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import kvlib

CFF = Path(kvlib.__file__).parents[1] / "CITATION.cff"
TYPES = {"book": "book", "conference-paper": "inproceedings"}
FIELDS = {"title": "title", "collection-title": "booktitle", "year": "year", "doi": "doi", "url": "url"}


class CiteThis(SphinxDirective):
    """A box of BibTeX with an entry each."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(CFF))
        cff = yaml.safe_load(CFF.read_text(encoding="utf-8"))
        text = "\n\n".join(bibtex(work) for work in (cff["preferred-citation"], *cff["references"]))
        return [nodes.literal_block(text, text, language="bibtex")]


def bibtex(work: dict[str, Any]) -> str:
    """The entry of one work of a CITATION.cff. Braces keep a name or a title as it is written there."""
    authors = work["authors"]
    fields = {"author": " and\n            ".join(author(each) for each in authors)}
    fields |= {theirs: str(work[ours]) for ours, theirs in FIELDS.items() if ours in work}
    fields["title"] = f"{{{fields['title']}}}"
    first = authors[0].get("family-names") or work["title"].split(":")[0]
    key = "".join(letter for letter in first if letter.isalnum()) + str(work["year"])
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@{TYPES[work['type']]}{{{key},\n{lines}\n}}"


def author(who: dict[str, str]) -> str:
    return f"{{{who['name']}}}" if "name" in who else f"{who['family-names']}, {who['given-names']}"


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("cite-this", CiteThis)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
