"""Sphinx extension: sources are cited by their key in book/references.bib, and one page lists them all.

{cite}`key` shows author and year, or the entry's `shorthand`, as a link to the entry in the list that the directive
{references} draws. An unknown key is a warning, and so is a key whose entry no page lists. sphinxcontrib-bibtex does
more, and its lists have roles that axe objects to.
"""

from difflib import get_close_matches
from functools import cache
from pathlib import Path

from docutils import nodes
from pybtex.database import Entry, Person, parse_file
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.std import StandardDomain
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.typing import ExtensionMetadata

BIB = Path(__file__).parents[1] / "references.bib"

logger = logging.getLogger(__name__)


@cache
def sources() -> dict[str, Entry]:
    return dict(parse_file(str(BIB), bib_format="bibtex").entries)


def shown(entry: Entry) -> str:
    """How the text names a source: "Shazeer 2019", "Milakov and Gimelshein 2018", "Kwon et al. 2023"."""
    if "shorthand" in entry.fields:
        return str(entry.fields["shorthand"])
    names = [_plain(" ".join(person.prelast_names + person.last_names)) for person in entry.persons["author"]]
    if len(names) > 3 or "others" in names:
        return f"{names[0]} et al. {entry.fields['year']}"
    return f"{_listed(names)} {entry.fields['year']}"


class CiteRole(SphinxRole):
    """The source whose key is the role's text, as a link to its entry."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        self.env.note_dependency(str(BIB))
        entry = sources().get(self.text)
        if entry is None:
            near = ", ".join(get_close_matches(self.text, sources())) or "none"
            message = "book/references.bib has no source %r; near it: %s"
            logger.warning(message, self.text, near, location=self.get_location())
            return [nodes.problematic(self.rawtext, self.text)], []
        link = addnodes.pending_xref(
            self.rawtext,
            nodes.inline("", shown(entry)),
            refdomain="std",
            reftype="ref",
            reftarget=_anchor(self.text),
            refexplicit=True,
            refwarn=True,
            refdoc=self.env.docname,
        )
        self.set_source_info(link)
        return [link], []


class ReferenceList(SphinxDirective):
    """All sources, in the order in which the text would name them."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(BIB))
        items = nodes.bullet_list(classes=["references"])
        targets = self.env.get_domain("std")
        assert isinstance(targets, StandardDomain)
        for key, entry in sorted(sources().items(), key=lambda item: shown(item[1]).lower()):
            item = nodes.list_item("", nodes.paragraph("", "", *_description(entry)), ids=[_anchor(key)])
            items += item
            targets.note_hyperlink_target(_anchor(key), self.env.docname, _anchor(key), shown(entry))
        return [items]


def _description(entry: Entry) -> list[nodes.Node]:
    fields = {name: _plain(str(text)) for name, text in entry.fields.items()}
    authors = _listed([_name(person) for person in entry.persons["author"]])
    where = [fields[name] for name in ("booktitle", "journal", "publisher", "howpublished") if name in fields]
    where += [f"volume {fields['volume']}, number {fields['number']}"] if "volume" in fields else []
    where += [f"pages {fields['pages'].replace('--', '–')}"] if "pages" in fields else []
    where += [fields["year"]] if "year" in fields else []
    description: list[nodes.Node] = [
        nodes.strong("", shown(entry)),
        nodes.Text(f". {authors.rstrip('.')}. "),
        nodes.emphasis("", fields["title"]),
        nodes.Text(f". {', '.join(where)}."),
    ]
    for text, address in _links(fields):
        description += [nodes.Text(" "), nodes.reference("", text, refuri=address)]
    return description


def _links(fields: dict[str, str]) -> list[tuple[str, str]]:
    forms = {
        "doi": ("doi:{}", "https://doi.org/{}"),
        "eprint": ("arXiv {}", "https://arxiv.org/abs/{}"),
        "url": ("{}", "{}"),
    }
    given = [(form, fields[name]) for name, form in forms.items() if name in fields]
    return [(text.format(value), address.format(value)) for (text, address), value in given]


def _name(person: Person) -> str:
    parts = person.first_names + person.middle_names + person.prelast_names + person.last_names
    return _plain(" ".join(parts))


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _plain(text: str) -> str:
    return text.replace("{", "").replace("}", "")


def _anchor(key: str) -> str:
    return f"source-{key}"


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_role("cite", CiteRole())
    app.add_directive("references", ReferenceList)
    return {"version": "1", "env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
