"""The page on which JupyterLab opens leads to every lab and every chapter, and to nothing that is not there."""

import importlib.util
import json
import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("launcher", ROOT / "book" / "launcher.py")
launcher = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(launcher)


@pytest.fixture
def links() -> dict[str, str]:
    return {path: title for title, path in re.findall(r"^- \[(.+)\]\((.+)\)$", launcher.page(ROOT), re.MULTILINE)}


def test_every_lab_and_every_chapter_is_there_under_its_title(links: dict[str, str]) -> None:
    labs = {f"labs/{path.name}" for path in ROOT.glob("labs/[0-9]*.ipynb")}
    chapters = {f"book/{path.name}" for path in ROOT.glob("book/[0-9]*.md")}
    assert set(links) == labs | chapters
    assert links["book/07-the-block-table.md"] == "7 · The block table"


def test_what_is_written_is_a_notebook_and_chapters_open_as_notebooks(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(launcher, "page", lambda root: "# Start")
    launcher.write(tmp_path, tmp_path / "settings")
    notebook = nbformat.read(tmp_path / "start.ipynb", 4)
    nbformat.validate(notebook)
    assert notebook.metadata["kernelspec"]["name"] == "python3"  # else JupyterLab asks for one first
    assert [cell.source for cell in notebook.cells] == ["# Start"]
    [file] = (tmp_path / "settings" / "labconfig").iterdir()
    assert json.loads(file.read_text()) == launcher.SETTINGS
