"""Sphinx extension: the prose takes its numbers from the ledger, and one page lists them all.

{num}`id` shows a number with its unit and {num-bare}`id` without; both link to its row in the table that the
directive {ledger} draws, and the row links back to every page that shows the number. An unknown id is a warning.
"""

from collections.abc import Iterable

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.typing import ExtensionMetadata

from kvlib import ledger
from kvlib.errors import UnknownNumber

logger = logging.getLogger(__name__)

COLUMNS = {"Number": 21, "What it is": 33, "Status and source": 31, "Shown in": 15}  # name: share of the width


class NumberRole(SphinxRole):
    """The number whose id is the role's text. Its link is set later, by LinkNumbers."""

    def __init__(self, with_unit: bool) -> None:
        super().__init__()
        self.with_unit = with_unit

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        self.env.note_dependency(str(ledger.PAPER))
        try:
            number = ledger.number(self.text)
        except UnknownNumber as error:
            logger.warning(str(error), location=self.get_location())
            return [nodes.problematic(self.rawtext, self.text)], []
        self.env.ledger_uses.setdefault(self.env.docname, set()).add(number.id)
        shown = number.text if self.with_unit else number.figure
        classes = ["num", f"num-{number.status}"]
        return [nodes.inline(self.rawtext, shown, classes=classes, ledger_id=number.id)], []


class LedgerTable(SphinxDirective):
    """The table of every number. Its last column is filled later, by LinkNumbers."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(ledger.PAPER))
        self.env.ledger_pages.add(self.env.docname)
        group = nodes.tgroup("", cols=len(COLUMNS))
        group += [nodes.colspec(colwidth=width) for width in COLUMNS.values()]
        group += nodes.thead("", _row([nodes.paragraph("", name)] for name in COLUMNS))
        group += nodes.tbody("", *(self.number_row(number) for number in ledger.load().values()))
        return [nodes.table("", group, classes=["cards", "ledger", "colwidths-given"])]

    def number_row(self, number: ledger.Number) -> nodes.row:
        status = nodes.inline("", number.status, classes=[f"num-{number.status}"])
        source = nodes.reference("", number.source, refuri=number.url) if number.url else nodes.Text(number.source)
        row = _row(
            [
                [nodes.paragraph("", "", nodes.strong("", f"{number.figure} {number.unit}".strip()))],
                [nodes.paragraph("", number.what), *_paragraphs(number.note), *_code(number.id)],
                [
                    nodes.paragraph("", "", status),
                    nodes.paragraph("", "", source, nodes.Text(f", {number.where}")),
                    *_code(number.derive),
                ],
                [nodes.paragraph("", "", nodes.inline("", "", ledger_uses_of=number.id))],
            ]
        )
        row["ids"].append(_anchor(number.id))
        return row


class LinkNumbers(SphinxPostTransform):
    """Links each number to its row, and each row to the pages that show its number."""

    default_priority = 400
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        for node in list(self.document.findall(nodes.inline)):
            if "ledger_id" in node and self.env.ledger_pages:
                number = ledger.number(node["ledger_id"])
                title = f"{number.what}; {number.status}: {number.source}, {number.where}"
                page = min(self.env.ledger_pages)
                link = self.link(page, node.astext(), _anchor(number.id), title)
                node.clear()
                node += link
            elif "ledger_uses_of" in node:
                id = node["ledger_uses_of"]
                pages = sorted(page for page, ids in self.env.ledger_uses.items() if id in ids)
                for page in pages:
                    node += [nodes.Text(", ")] if node.children else []
                    node += self.link(page, self.env.titles[page].astext())

    def link(self, page: str, text: str, anchor: str = "", title: str = "") -> nodes.reference:
        uri = self.app.builder.get_relative_uri(self.env.docname, page) + (anchor and f"#{anchor}")
        return nodes.reference("", text, internal=True, refuri=uri, **({"reftitle": title} if title else {}))


def _anchor(id: str) -> str:
    return f"num-{id}"


def _row(cells: Iterable[list[nodes.Node]]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", *cell) for cell in cells))


def _paragraphs(text: str) -> list[nodes.Node]:
    return [nodes.paragraph("", text)] if text else []


def _code(text: str) -> list[nodes.Node]:
    return [nodes.paragraph("", "", nodes.literal("", text))] if text else []


def start(app: Sphinx) -> None:
    for name, empty in (("ledger_uses", {}), ("ledger_pages", set())):
        if not hasattr(app.env, name):
            setattr(app.env, name, empty)
    for fault in ledger.check():
        logger.warning("data/paper.json: %s", fault)


def forget(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    env.ledger_uses.pop(docname, None)
    env.ledger_pages.discard(docname)


def merge(app: Sphinx, env: BuildEnvironment, docnames: list[str], other: BuildEnvironment) -> None:
    env.ledger_uses.update({page: ids for page, ids in other.ledger_uses.items() if page in docnames})
    env.ledger_pages.update(other.ledger_pages & set(docnames))


def rewrite(app: Sphinx, env: BuildEnvironment) -> list[str]:
    if env.ledger_uses and not env.ledger_pages:
        logger.warning("pages show numbers of the ledger, but no page has the directive {ledger}")
    return sorted(env.ledger_pages)


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_role("num", NumberRole(with_unit=True))
    app.add_role("num-bare", NumberRole(with_unit=False))
    app.add_directive("ledger", LedgerTable)
    app.add_post_transform(LinkNumbers)
    app.connect("builder-inited", start)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("env-updated", rewrite)
    return {"version": "1", "env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
