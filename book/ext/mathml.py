"""Render LaTeX math as MathML while the book is built, so that no page loads a math script.

A formula that latex2mathml cannot read, or reads in part only, is a warning at its place in the source.
"""

import html
import re
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.commands import MATRICES
from latex2mathml.converter import convert_to_element
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

NUM_CHILDREN = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3}
ENVIRONMENTS = {name.lstrip("\\") for name in MATRICES} | {"equation", "equation*"}


class MathError(ValueError):
    """A formula that cannot be rendered whole."""


def mathml(latex: str, display: str) -> str:
    """The `<math>` element of `latex`; `display` is "inline" or "block".

    A block with line breaks and no environment of its own is set as `split`, as MathJax does. Raises
    MathError for what latex2mathml rejects and for what it passes over in silence: an unknown command or
    environment, an unbalanced brace, a missing argument, an alignment mark outside a table.
    """
    latex = re.sub(r"\\(begin|end)\{aligned\}", r"\\\1{split}", latex.strip())
    if r"\\" in latex and r"\begin" not in latex:
        latex = rf"\begin{{split}}{latex}\end{{split}}"
    braces = re.findall(r"(?<!\\)[{}]", latex)
    if braces.count("{") != braces.count("}"):
        raise MathError(f"{braces.count('{')} opening and {braces.count('}')} closing braces")
    for name in re.findall(r"\\begin\{(.*?)\}", latex):
        if name not in ENVIRONMENTS:
            raise MathError(f"unknown environment {name!r}; known are {', '.join(sorted(ENVIRONMENTS))}")
    try:
        element = convert_to_element(latex, xmlns="", display=display)
    except Exception as error:  # latex2mathml has a dozen unrelated error classes and leaks IndexError and KeyError
        raise MathError(f"{type(error).__name__} {error}".strip()) from error
    for node in element.iter():
        node.text = node.text and html.unescape(node.text).replace(r"\_", "_")
        if node.text and (node.text.startswith("\\") or node.text == "&"):
            raise MathError(f"{node.text!r} is not understood here")
        if len(node) != NUM_CHILDREN.get(node.tag, len(node)):
            raise MathError(
                f"<{node.tag}> has {len(node)} parts and needs {NUM_CHILDREN[node.tag]}: an argument is missing"
            )
    del element.attrib["xmlns"]
    return ElementTree.tostring(element, encoding="unicode")


def render(node: nodes.Element, display: str) -> str:
    """`mathml` of a document's node; on an error, a warning at the node's place and the LaTeX as it stands."""
    try:
        return mathml(node.astext(), display)
    except MathError as error:
        logger.warning("math cannot be rendered: %s in %r", error, node.astext(), location=node, type="mathml")
        return f"<code>{html.escape(node.astext())}</code>"


def visit_inline(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(render(node, "inline"))
    raise nodes.SkipNode


def visit_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    number = node["number"] and get_node_equation_number(translator, node)
    keyboard = {} if number else {"tabindex": "0"}  # a long formula scrolls in its box: by its number, or by itself
    translator.body.append(translator.starttag(node, "div", CLASS="kv-math", **keyboard))
    translator.body.append(render(node, "block"))
    if number:
        link = f'<a class="eqno" href="#{node["ids"][0]}" title="Link to this equation">({number})</a>'
        translator.body.append(link)
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
