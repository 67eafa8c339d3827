"""Sphinx extension: {run-times}, a table of how long the code of each page ran in this build, in the book's order."""

from collections.abc import Iterable
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective


class RunTimes(SphinxDirective):
    """The table's place. It is filled when all pages have run."""

    def run(self) -> list[nodes.Node]:
        return [nodes.container("", run_times=True)]


class FillRunTimes(SphinxPostTransform):
    default_priority = 400
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        for place in list(self.document.findall(nodes.container)):
            if "run_times" in place:
                place.replace_self(self.table())

    def table(self) -> nodes.table:
        ran = {page: data["exec_data"]["runtime"] for page, data in self.env.nb_metadata.items() if "exec_data" in data}
        order = [page for page in self.env.toctree_includes.get(self.env.config.root_doc, []) if page in ran]
        group = nodes.tgroup("", nodes.colspec(colwidth=80), nodes.colspec(colwidth=20, classes=["text-right"]), cols=2)
        group += nodes.thead("", _row([nodes.Text("page"), nodes.Text("seconds")]))
        group += nodes.tbody("", *(_row([self.link(page), nodes.Text(seconds(ran[page]))]) for page in order))
        total = [nodes.Text("in all"), nodes.Text(seconds(sum(ran[page] or 0 for page in order)))]
        group.children[-1] += _row(total)
        return nodes.table("", group)

    def link(self, page: str) -> nodes.reference:
        uri = self.app.builder.get_relative_uri(self.env.docname, page)
        return nodes.reference("", self.env.titles[page].astext(), internal=True, refuri=uri)


def seconds(runtime: float | None) -> str:
    """With a decimal; a page that was not run, as one for Linux alone elsewhere, has none."""
    return "not run" if runtime is None else f"{runtime:.1f}"


def _row(cells: Iterable[nodes.Node]) -> nodes.row:
    page, time = (nodes.paragraph("", "", cell) for cell in cells)
    return nodes.row("", nodes.entry("", page), nodes.entry("", time, classes=["text-right"]))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("run-times", RunTimes)
    app.add_post_transform(FillRunTimes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
