"""Sphinx extension: {reports} draws a table of the reports on GitHub that pages name as repository#number, with the
pages that name them. The pages are its only source. A short name of a repository that stands for none is a warning.
"""

import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

logger = logging.getLogger(__name__)

SHORT_NAMES = {
    "vllm": "vllm-project/vllm",
    "sglang": "sgl-project/sglang",
    "nano-vllm": "GeeeekExplorer/nano-vllm",
}
REPORT = re.compile(r"(?<![\w/&.-])([A-Za-z][\w.-]*(?:/[A-Za-z][\w.-]*)?)#(\d+)\b")


def reports(text: str) -> set[tuple[str, int]]:
    """(repository, number) of each report that a text names. Raises KeyError for a short name of no repository."""
    return {(name if "/" in name else SHORT_NAMES[name], int(number)) for name, number in REPORT.findall(text)}


class ReportTable(SphinxDirective):
    """The table, by repository and number."""

    def run(self) -> list[nodes.Node]:
        group = nodes.tgroup("", nodes.colspec(colwidth=1), nodes.colspec(colwidth=1), cols=2)
        group += nodes.thead("", _row(nodes.paragraph("", "Report"), nodes.paragraph("", "Told in")))
        group += nodes.tbody("", *(self.row(*report, pages) for report, pages in sorted(self.told().items())))
        return [nodes.table("", group)]

    def told(self) -> dict[tuple[str, int], list[str]]:
        """The pages that name each report."""
        told: dict[tuple[str, int], list[str]] = {}
        for page in sorted(self.env.found_docs - {self.env.docname}):
            source = str(self.env.doc2path(page))
            self.env.note_dependency(source)
            try:
                named = reports(Path(source).read_text(encoding="utf-8"))
            except KeyError as error:
                logger.warning(
                    "a report of %s is named, which is no short name of book/ext/reports.py", error, location=page
                )
                continue
            for report in named:
                told.setdefault(report, []).append(page)
        return told

    def row(self, repository: str, number: int, pages: list[str]) -> nodes.row:
        address = f"https://github.com/{repository}/issues/{number}"
        links = nodes.paragraph()
        for page in pages:
            links += [nodes.Text(", ")] if links.children else []
            target = {"refdomain": "std", "reftype": "doc", "reftarget": f"/{page}", "refexplicit": False}
            links += addnodes.pending_xref("", nodes.inline(), **target, refdoc=self.env.docname, refwarn=True)
        return _row(nodes.paragraph("", "", nodes.reference("", f"{repository}#{number}", refuri=address)), links)


def _row(*cells: nodes.paragraph) -> nodes.row:
    return nodes.row("", *(nodes.entry("", cell) for cell in cells))


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("reports", ReportTable)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
