"""A docstring of kvlib as nodes of a page. Docstrings are plain text, in five forms told apart by their lines:

a paragraph; lines that are all further in, which are code; lines that begin with "- ", which are a list; lines whose
continuations alone are further in, each a paragraph of its own; and columns between rules of "=". In all but code,
`backticks` hold code and *stars* what is stressed.
"""

import ast
import re
from itertools import pairwise

from docutils import nodes

INLINE = re.compile(r"`([^`]+)`|(?<!\w)\*(\w[^*]*\w)\*(?!\w)")


def docstring(text: str) -> list[nodes.Element]:
    """The parts of a docstring, whose margin has been taken off, one for each stretch between empty lines."""
    return [part for stretch in re.split(r"\n\s*\n", text) if stretch.strip() for part in _parts(stretch.split("\n"))]


def inline(text: str) -> list[nodes.Node]:
    """A line of plain text, with its code and its stressed words."""
    pieces, end = [], 0
    for found in INLINE.finditer(text):
        pieces += [nodes.Text(text[end : found.start()])]
        pieces += [nodes.literal("", found[1]) if found[1] else nodes.emphasis("", found[2])]
        end = found.end()
    return [*pieces, nodes.Text(text[end:])]


def _parts(lines: list[str]) -> list[nodes.Element]:
    if all(line.startswith(" ") for line in lines):
        return [_code(lines)]
    if lines[0].startswith("=="):
        return [_columns(lines)]
    if lines[0].startswith("- "):
        return [nodes.bullet_list("", *(nodes.list_item("", _paragraph(item[2:])) for item in _items(lines)))]
    is_one = not any(line.startswith(" ") for line in lines)
    return [_paragraph(item) for item in ([" ".join(lines)] if is_one else _items(lines))]


def _items(lines: list[str]) -> list[str]:
    """The lines that begin at the margin, each with those below it that are further in."""
    return [" ".join(item.split()) for item in re.split(r"\n(?! )", "\n".join(lines))]


def _code(lines: list[str]) -> nodes.Element:
    margin = min(len(line) - len(line.lstrip()) for line in lines)
    text = "\n".join(line[margin:] for line in lines)
    return nodes.literal_block(text, text, language="python" if _is_python(text) else "text")


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _columns(lines: list[str]) -> nodes.Element:
    """Two columns without a head as names and what they mean; others as a table whose first row is its head."""
    starts = [rule.start() for rule in re.finditer("=+", lines[0])]
    rows: list[list[str]] = []
    for line in (line for line in lines if not line.startswith("==")):
        cells = [line[start:end].strip() for start, end in pairwise([*starts, None])]
        if cells[0]:
            rows.append(cells)
        else:  # the row above goes on
            rows[-1] = [f"{above} {cell}".strip() for above, cell in zip(rows[-1], cells, strict=True)]
    return _names(rows) if len(starts) == 2 else _table(rows)


def _names(rows: list[list[str]]) -> nodes.Element:
    terms = (nodes.term("", "", nodes.literal("", name)) for name, _ in rows)
    meanings = (nodes.definition("", _paragraph(meaning)) for _, meaning in rows)
    return nodes.definition_list("", *(nodes.definition_list_item("", *item) for item in zip(terms, meanings)))


def _table(rows: list[list[str]]) -> nodes.Element:
    head, *body = [nodes.row("", *(nodes.entry("", _paragraph(cell)) for cell in row)) for row in rows]
    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in rows[0]), cols=len(rows[0]))
    group += [nodes.thead("", head), nodes.tbody("", *body)]
    return nodes.table("", group)


def _paragraph(text: str) -> nodes.paragraph:
    return nodes.paragraph("", "", *inline(text))
