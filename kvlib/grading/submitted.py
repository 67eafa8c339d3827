"""A notebook that somebody handed in, read without trust: its cells, and the lab that it says it is."""

import json
import os
import stat
from pathlib import Path
from typing import Any, NamedTuple

LARGEST = 5 * 2**20  # bytes
MOST_CELLS = 1_000


class Unusable(Exception):
    """Why a file cannot be graded, in words that follow the file's name."""


class SubmittedCell(NamedTuple):
    """A code cell; `number` counts all cells of the notebook from 1, `id` is "" where it has none."""

    number: int
    source: str
    id: str
    tags: tuple[str, ...]


class Notebook(NamedTuple):
    """The code cells of a notebook, and the lab that its metadata name, or ""."""

    cells: list[SubmittedCell]
    lab: str


def read_bytes(path: Path) -> bytes:
    """The bytes of the file in `path`. Raises Unusable for a link, what is no file, and more than LARGEST bytes."""
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        if path.is_symlink():
            raise Unusable("is a link to another place, which is not followed; hand in the file itself") from None
        raise Unusable(f"cannot be read: {error.strerror}") from None
    with open(file, "rb") as opened:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise Unusable("is not a file")
        content = opened.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise Unusable(f"is larger than {LARGEST // 2**20} MB; clear its outputs and hand it in again")
    return content


def parse(content: bytes) -> Notebook:
    """The notebook in `content`. Raises Unusable where there is none, in words."""
    if not content.strip():
        raise Unusable("is empty")
    try:
        notebook = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise Unusable(f"is not readable as a notebook: {str(error)[:100]}") from None
    if not isinstance(notebook, dict) or not ("cells" in notebook or "worksheets" in notebook):
        raise Unusable("is not a notebook: it has no cells")
    version = str(notebook.get("nbformat", 4))[:20]
    if version != "4" or "cells" not in notebook:
        raise Unusable(f"is a notebook of format {version}; open it in JupyterLab, save it and hand it in again")
    if not isinstance(notebook["cells"], list):
        raise Unusable("is not a notebook: its cells are no list")
    cells = [_code_cell(number, cell) for number, cell in enumerate(notebook["cells"], 1) if _is_code(cell)]
    if not cells:
        raise Unusable("has no code cell")
    if len(cells) > MOST_CELLS:
        raise Unusable(f"has {len(cells):,} code cells, of at most {MOST_CELLS:,}")
    return Notebook(cells, _text(_dict(_dict(notebook.get("metadata")).get("kvlib")).get("lab")))


def _is_code(cell: object) -> bool:
    return isinstance(cell, dict) and cell.get("cell_type") == "code"


def _code_cell(number: int, cell: dict[str, Any]) -> SubmittedCell:
    """Colab keeps the id of a cell among its metadata."""
    source, metadata = cell.get("source"), _dict(cell.get("metadata"))
    tags = metadata.get("tags")
    return SubmittedCell(
        number,
        "".join(map(_text, source)) if isinstance(source, list) else _text(source),
        _text(cell.get("id")) or _text(metadata.get("id")),
        tuple(map(_text, tags)) if isinstance(tags, list) else (),
    )


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
