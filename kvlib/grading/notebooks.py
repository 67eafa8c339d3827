"""The notebooks that learners open in JupyterLab and Colab, made from the text of the labs: `make labs`.

The same text gives the same bytes. Cells are named by their tags and their order, so that a change of the text changes
no name; no cell has an output but a check, whose one line nbval compares (`--nbval-lax`) with what the cell prints.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from kvlib.errors import KvlibError, MissingPackage
from kvlib.grading.lab import Cell
from kvlib.grading.labs import Lab, read_labs
from kvlib.grading.released import released

try:
    import nbformat
except ImportError as error:
    raise MissingPackage("notebooks are written with nbformat; in the clone, run: pip install '.[labs]'") from error

COMPARED = "nbval-check-output"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def write_notebooks(folder: Path) -> list[Path]:
    """Make NN-name.ipynb, as released, of each lab NN-name.md in `folder`; returns the paths of the notebooks.

    Raises BadLab, and writes nothing, if one of the labs cannot be read or there is none.
    """
    notebooks = {folder / f"{name}.ipynb": learners(lab) for name, lab in read_labs(folder).items()}
    for path, text in notebooks.items():
        path.write_text(text, encoding="utf-8", newline="\n")
    return list(notebooks)


def learners(lab: Lab) -> str:
    """The text of the notebook that a learner gets."""
    return as_notebook(released(lab.cells), lab.name)


def as_notebook(cells: Sequence[Cell], lab: str) -> str:
    """The cells of the lab of this name, NN-name, as the text of a notebook, valid by nbformat 4.5."""
    notebook = nbformat.v4.new_notebook(
        cells=[_notebook_cell(cell, name) for cell, name in zip(cells, names(cells))],
        metadata={
            "kernelspec": KERNEL,
            "kvlib": {"lab": lab},
            "language_info": {"name": "python"},
        },
    )
    nbformat.validate(notebook)
    return nbformat.writes(notebook) + "\n"


def names(cells: Sequence[Cell]) -> Iterator[str]:
    """The id of each cell: answer-NAME, check-NAME and hidden-NAME, setup, or its role and a number."""
    seen: Counter[str] = Counter()
    for cell in cells:
        label = f"{cell.role}-{cell.exercise}" if cell.exercise else cell.role
        seen[label] += 1
        numbered = seen[label] > 1 or not (cell.exercise or label == "setup")
        yield f"{label}-{seen[label]}" if numbered else label


def _notebook_cell(cell: Cell, name: str) -> nbformat.NotebookNode:
    metadata = {"tags": [*cell.tags, COMPARED] if cell.prints else list(cell.tags)} if cell.tags else {}
    if cell.kind == "markdown":
        return nbformat.v4.new_markdown_cell(cell.source, id=name, metadata=metadata)
    notebook_cell = nbformat.v4.new_code_cell(cell.source, id=name, metadata=metadata)
    if cell.prints:
        notebook_cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=f"{cell.prints}\n")]
        notebook_cell.execution_count = 1  # nbval compares no output of a cell that seems not to have run
    return notebook_cell


def main(arguments: Sequence[str]) -> str:
    """Make the notebooks of the folders; returns what to print: a line for each notebook."""
    if not arguments:
        return "python -m kvlib.grading.notebooks FOLDER...: makes the notebooks of the labs in each folder"
    return "\n".join(str(path) for folder in arguments for path in write_notebooks(Path(folder)))


if __name__ == "__main__":
    try:
        print(main(sys.argv[1:]))
    except KvlibError as error:
        sys.exit(f"kvlib: {error}")
