"""Joins what one cell printed into one box.

A kernel sends what a cell prints in parts, cut at moments that differ from run to run. myst-nb shows each part in
a box of its own; its option that merges them, nb_merge_streams, leaves an empty line at every cut.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def join_parts(app: Sphinx, doctree: nodes.document) -> None:
    """Replace neighbouring parts of the same stream, in each cell's output, by one block with the whole text."""
    for output in doctree.findall(lambda node: isinstance(node, nodes.container) and "cell_output" in node["classes"]):
        whole = None
        for part in list(output.children):
            if not (isinstance(part, nodes.literal_block) and "stream" in part["classes"]):
                whole = None
            elif whole is None or part["classes"] != whole["classes"]:
                whole = part
            else:
                text = whole.astext() + part.astext()
                whole.rawsource = text
                whole.clear()
                whole.append(nodes.Text(text))
                output.remove(part)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", join_parts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
