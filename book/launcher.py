"""The page on which `make lab` opens JupyterLab: a notebook that leads to each lab and each chapter.

`python book/launcher.py ROOT SETTINGS` writes ROOT/start.ipynb, and into the folder SETTINGS that JupyterLab opens
chapters, which are texts, as notebooks.
"""

import json
import re
import sys
from pathlib import Path

import nbformat
import yaml

from kvlib.grading.notebooks import KERNEL

SETTINGS = {
    "@jupyterlab/docmanager-extension:plugin": {"defaultViewers": {"markdown": "Jupytext Notebook"}},
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},  # no network
}
WORDS = """# The KV Cache Book

Labs are for writing: open one, run its first cell, and go on from there. Chapters are for changing: choose *Run*,
*Run All Cells*, and change what runs. Numbers, boxes and folded answers of a chapter are only in the built book."""


def page(root: Path) -> str:
    """The text of the page: a list of links for each part of _toc.yml, labs first."""
    parts = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))["parts"]
    lists = []
    for caption in ("Labs", "Chapters"):
        names = [page["file"] for part in parts if part["caption"] == caption for page in part["chapters"]]
        lists.append("\n".join([f"## {caption}\n", *(link(root, name) for name in names)]))
    return "\n\n".join([WORDS, *lists])


def link(root: Path, name: str) -> str:
    title = re.search(r"^# (.+)$", (root / f"{name}.md").read_text(encoding="utf-8"), re.MULTILINE)[1]
    return f"- [{title}]({name}.{'ipynb' if name.startswith('labs/') else 'md'})"


def write(root: Path, settings: Path) -> None:
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_markdown_cell(page(root), id="start")], metadata={"kernelspec": KERNEL}
    )
    (root / "start.ipynb").write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
    (settings / "labconfig").mkdir(parents=True, exist_ok=True)
    file = settings / "labconfig" / "default_setting_overrides.json"
    file.write_text(json.dumps(SETTINGS), encoding="utf-8")


if __name__ == "__main__":
    write(*map(Path, sys.argv[1:]))
