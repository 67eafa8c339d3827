"""Sphinx extension: exercises as pages show them. Answers are folded, and run; above each stands what a learner gets.

In a chapter nothing but its answer cells is changed. A lab's page is made from the cells of the lab's own text, so that
a lab is written once: its first cell is folded, hidden cells are left out, and the learner's notebook lies beside it.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import kvlib
from kvlib.grading.lab import FIRST_CELL, Cell, read
from kvlib.grading.labs import read_labs
from kvlib.grading.notebooks import learners
from kvlib.grading.released import released, without_marks

LABS = Path(kvlib.__file__).parents[1] / "labs"
HEADER = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n  display_name: Python 3\n---\n"
NOTEBOOK = (
    '<p><a href="../_static/notebooks/{name}.ipynb" download>Take the notebook along</a> to work on it in JupyterLab '
    "or Colab. Here the answers are folded.{colab}</p>"
)
COLAB = ' <a href="https://colab.research.google.com/github/{at}/labs/{name}.ipynb">Open in Colab</a>'
ANSWER = re.compile(r'^```\{code-cell\} python\n:tags: \[answer, "ex:(\w+)"\]\n(.*?)\n```$', re.MULTILINE | re.DOTALL)


def as_page(app: Sphinx, name: str, source: list[str]) -> None:
    """Replace the text of a page by what its readers see."""
    if name.startswith("labs/"):
        source[0] = HEADER + "\n\n".join(parts(read(LABS / f"{name.removeprefix('labs/')}.md"), Path(name).name))
    else:
        source[0] = ANSWER.sub(lambda found: folded(Cell("code", found[2], ("answer", f"ex:{found[1]}"))), source[0])


def parts(cells: list[Cell], name: str) -> Iterator[str]:
    """The page of the lab NN-name, cell by cell, as MyST text."""
    first, *others = cells
    colab = open_in_colab((LABS / FIRST_CELL).read_text(encoding="utf-8"), name)
    title, _, rest = first.source.partition("\n")
    yield f"{title}\n\n{NOTEBOOK.format(name=name, colab=colab)}\n{rest}"
    for cell in others:
        if cell.kind == "markdown":
            yield f"+++\n\n{cell.source}"
        elif cell.role == "setup":
            yield code(cell.source, prompt="Show the first cell", tag="hide-cell")
        elif cell.role == "answer":
            yield folded(cell)
        elif cell.role != "hidden":
            yield code(cell.source)


def open_in_colab(first_cell: str, name: str) -> str:
    """A link to the lab NN-name in Colab, if the first cell's KVLIB says at which address of GitHub kvlib is."""
    found = re.search(r'^KVLIB = "kvlib @ git\+https://github\.com/(.+?)(?:\.git)?@(.+?)"', first_cell, re.MULTILINE)
    return COLAB.format(at=f"{found[1]}/blob/{found[2]}", name=name) if found else ""


def folded(answer: Cell) -> str:
    """What a learner gets in place of an answer, and below it the answer, folded."""
    [stub] = released([answer])
    model = code(without_marks(answer.source), prompt="Show the answer", tag="hide-input")
    return f"```python\n{stub.source}\n```\n\n{model}"


def code(source: str, prompt: str = "", tag: str = "") -> str:
    options = f"---\ntags: [{tag}]\nmystnb: {{code_prompt_show: {prompt}}}\n---\n" if prompt else ""
    return f"```{{code-cell}} python\n{options}{source}\n```"


def write_notebooks(app: Sphinx) -> None:
    """Put the learners' notebooks where the site's other files come from."""
    folder = Path(app.doctreedir) / "learners"
    (folder / "notebooks").mkdir(parents=True, exist_ok=True)
    for name, lab in read_labs(LABS).items():
        (folder / "notebooks" / f"{name}.ipynb").write_text(learners(lab), encoding="utf-8")
    app.config.html_static_path.append(str(folder))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_notebooks)
    app.connect("source-read", as_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
