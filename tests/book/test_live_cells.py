"""What the pages get to run Python on, and which cells may be run there."""

import ast
import contextlib
import hashlib
import importlib.util
import io
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("live_cells", ROOT / "book" / "ext" / "live_cells.py")
extension = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(extension)

PYTHON = ROOT / "book" / "static" / "python"
PACKED = json.loads(extension.packed())
PARTS = ("memory", "serving", "events", "chance", "texts")
CELL = re.compile(r"^```\{code-cell\} python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTIONS = re.compile(r"---\n(?:.*\n)*?---\n|(?::.*\n)+")


def live_cells(path):
    """The code of the cells of a chapter that are tagged `live`."""
    cells = [(OPTIONS.match(cell), cell) for cell in CELL.findall(path.read_text())]
    return [cell[options.end() :] for options, cell in cells if options and re.search(r"\blive\b", options[0])]


LIVE = {path: cells for path in sorted((ROOT / "book").glob("[0-9][0-9]-*.md")) if (cells := live_cells(path))}
each_chapter = pytest.mark.parametrize("path", LIVE, ids=lambda path: path.stem)


def test_chapters_4_to_9_and_11_have_live_cells():
    assert {"04", "05", "06", "07", "08", "09", "11"} <= {path.name[:2] for path in LIVE}


@each_chapter
def test_live_cells_run_without_the_other_cells_of_their_chapter(path):
    names = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        for cell in LIVE[path]:
            exec(compile(cell, path.name, "exec"), names)
    assert printed.getvalue()


@each_chapter
def test_live_cells_import_only_what_the_page_has(path):
    for node in ast.walk(ast.parse("\n".join(LIVE[path]))):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("kvlib"):
            assert node.module.split(".")[1] in PARTS
        assert not isinstance(node, ast.Import)


def test_kvlib_is_packed_byte_for_byte():
    for name, text in PACKED.items():
        source = PYTHON / name if "/" not in name else ROOT / name.replace("kvlib/data/", "data/")
        assert text.encode() == source.read_bytes()


def test_every_module_of_memory_and_serving_is_packed_but_those_that_the_page_cannot_run():
    modules = {path.relative_to(ROOT).as_posix() for part in PARTS for path in ROOT.glob(f"kvlib/{part}*/**/*.py")}
    left_out = {f"kvlib/{name}.py" for name in extension.NOT_THERE}
    assert left_out < modules
    assert modules - left_out <= set(PACKED)


def test_every_data_file_that_is_packed_is_there_and_is_small():
    data = [name for name in PACKED if name.startswith("kvlib/data/")]
    assert "kvlib/data/lengths.json" in data
    assert sum(len(PACKED[name]) for name in data) < 50_000


def test_micropython_is_the_one_that_its_note_names():
    sums = re.findall(r"^([0-9a-f]{64})  (\S+)$", (PYTHON / "README.md").read_text(), re.MULTILINE)
    assert [name for _, name in sums] == ["micropython.mjs", "micropython.wasm"]
    for digest, name in sums:
        assert hashlib.sha256((PYTHON / name).read_bytes()).hexdigest() == digest
    assert "MIT License" in (PYTHON / "LICENSE").read_text()


def test_the_byte_that_orders_dicts_is_where_the_note_says_and_nowhere_else():
    note, worker = (PYTHON / "README.md").read_text(), (PYTHON / "worker.js").read_text()
    lines = re.findall(r"^((?:[0-9a-f]{2}[ ]+)+)map->", note, re.MULTILINE)
    around = bytes.fromhex("".join(lines).replace(" ", ""))
    wasm = (PYTHON / "micropython.wasm").read_bytes()
    place = int(re.search(r"DICT_FLAGS = (\d+);", worker)[1])
    assert f"number {place:,}:" in note
    assert wasm.count(around) == 1
    assert wasm.index(around) + around.index(bytes([0x41, 1])) + 1 == place


@pytest.mark.parametrize(
    ("body", "files", "told"),
    [
        ('<div class="cell tag_live docutils">', ["cells.js", "cells.css"], True),
        ('<div class="kv-widget" data-widget="bench">', [], True),
        ("<p>tag_live</p>", [], False),
    ],
)
def test_only_pages_that_run_python_load_its_script_and_know_where_it_lies(body, files, told):
    added = []
    app = SimpleNamespace(
        add_js_file=lambda name, loading_method: added.append(name), add_css_file=lambda name: added.append(name)
    )
    context = {"body": body, "metatags": "<meta>"}
    extension.add_files(app, "book/06", "page.html", context, None)
    assert added == files
    assert ('name="kv-python" content="../_static/python/"' in context["metatags"]) == told
    assert context["metatags"].startswith("<meta>")


def test_the_bytes_that_a_page_names_are_those_of_the_files():
    named = int(re.search(r'data-bytes="(\d+)"', extension.described(""))[1])
    assert named == len(extension.packed().encode()) + sum(
        (PYTHON / name).stat().st_size for name in ("worker.js", "micropython.mjs", "micropython.wasm")
    )


def test_the_version_changes_with_kvlib(monkeypatch):
    before = extension.described("")
    monkeypatch.setattr(extension, "packed", lambda: extension_packed.replace("slot", "SLOT"))
    extension_packed = json.dumps(PACKED)
    assert extension.described("") != before


def test_files_are_written_where_sphinx_takes_static_files_from(tmp_path):
    app = SimpleNamespace(doctreedir=str(tmp_path), config=SimpleNamespace(html_static_path=["static"]))
    extension.write_files(app)
    folder = Path(app.config.html_static_path[-1])
    assert json.loads((folder / "python" / "kvlib.json").read_text()) == PACKED
    assert "mountCells();" in (folder / "cells.js").read_text()
    assert "import " not in re.sub(r"//.*|/\*.*?\*/", "", (folder / "cells.js").read_text(), flags=re.DOTALL)
    assert ".kv-editor" in (folder / "cells.css").read_text()
