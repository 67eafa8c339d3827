"""Sphinx extension: cells that a reader can change and run in the page, by kvlib's own files in MicroPython.

A cell with the tag `live` gets a button from kvlib/show/scripts/cells.js. What it runs on lies in book/static/python
and is loaded when a reader asks for it; kvlib travels as one file, `kvlib.json`, of paths and texts.
"""

import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import kvlib
from kvlib.show.modules import classic, styles

ROOT = Path(kvlib.__file__).parents[1]
PYTHON = ROOT / "book" / "static" / "python"
LOADED = ("worker.js", "micropython.mjs", "micropython.wasm")  # beside kvlib.json
KVLIB = ("__init__", "errors", "shown", "checks", "chance", "events", "texts", "memory/*", "serving/*")
NOT_THERE = ("serving/sweep", "serving/traces")  # joblib, and the dates of the standard library
DATA = ("__init__.py", "lengths.json", "texts/*.json")
LIVE_CELL = re.compile(r'class="cell [^"]*\btag_live\b')
WIDGET = 'class="kv-widget"'


@cache  # each page with a widget or a live cell asks for its size
def packed() -> str:
    """kvlib as it runs in a page: an object of path -> text, in JSON."""
    sources = [path for name in KVLIB for path in sorted((ROOT / "kvlib").glob(f"{name}.py"))]
    left_out = {ROOT / "kvlib" / f"{name}.py" for name in NOT_THERE}
    files = {path.relative_to(ROOT).as_posix(): path for path in sources if path not in left_out}
    for name in DATA:
        files |= {f"kvlib/{path.relative_to(ROOT).as_posix()}": path for path in sorted((ROOT / "data").glob(name))}
    files |= {path.name: path for path in sorted(PYTHON.glob("*.py"))}
    texts = {name: path.read_text(encoding="utf-8") for name, path in files.items()}
    return json.dumps(texts, ensure_ascii=False, separators=(",", ":"))


def write_files(app: Sphinx) -> None:
    """Put what the pages load where the site's other files come from."""
    folder = Path(app.doctreedir) / "live"
    (folder / "python").mkdir(parents=True, exist_ok=True)
    (folder / "python" / "kvlib.json").write_text(packed(), encoding="utf-8")
    (folder / "cells.js").write_text(classic("mountCells()", "cells"), encoding="utf-8")
    (folder / "cells.css").write_text(styles("cells"), encoding="utf-8")
    app.config.html_static_path.append(str(folder))


def described(root: str) -> str:
    """The element that tells a page's scripts where Python lies and how many bytes it has; `root` leads to the top."""
    contents = [packed().encode(), *((PYTHON / name).read_bytes() for name in LOADED)]
    version = hashlib.sha256(b"".join(contents)).hexdigest()[:8]
    size = sum(map(len, contents))
    return f'<meta name="kv-python" content="{root}_static/python/" data-bytes="{size}" data-version="{version}">'


def add_files(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: object) -> None:
    """Have a page load what its live cells need; a page with a widget, too, learns where Python lies."""
    body = context.get("body", "")
    has_live_cell = LIVE_CELL.search(body)
    if has_live_cell or WIDGET in body:
        context["metatags"] += described("../" * pagename.count("/"))
    if has_live_cell:
        app.add_js_file("cells.js", loading_method="defer")
        app.add_css_file("cells.css")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_files)
    app.connect("html-page-context", add_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
