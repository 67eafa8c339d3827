"""Whether a learner's notebook tells what it must not: looked for in its text, not taken for granted."""

import json
from collections.abc import Iterator

from kvlib.grading.lab import BEGIN, END, Cell
from kvlib.grading.labs import Lab

LEAST_WORDS = 3  # of a line that tells something
ONLY_BEGINS = ("def ", "class ", "@")


def given_away(lab: Lab, notebook: str) -> str:
    """The first line of a solution or a hidden cell that a cell with tags of the `notebook` holds; "" if none does.

    A line counts from LEAST_WORDS words on, unless it only begins a function or a class, or stands in a text or in a
    cell without tags: what is written there, a hint for example, is given on purpose.
    """
    cells = [("tags" in cell["metadata"], "".join(cell["source"])) for cell in json.loads(notebook)["cells"]]
    tagged = {line for has_tags, source in cells if has_tags for line in _lines(source)}
    given = "\n".join(source for has_tags, source in cells if not has_tags)
    secret = (line for cell in lab.cells for line in _secret(cell) if _tells(line))
    return next((line for line in secret if line in tagged and line not in given), "")


def _secret(cell: Cell) -> Iterator[str]:
    is_secret = cell.role == "hidden"
    for line in _lines(cell.source):
        if line in (BEGIN, END):
            is_secret = line == BEGIN
        elif is_secret:
            yield line


def _tells(line: str) -> bool:
    return len(line.split()) >= LEAST_WORDS and not line.startswith(ONLY_BEGINS)


def _lines(source: str) -> list[str]:
    return [line.strip() for line in source.splitlines()]
