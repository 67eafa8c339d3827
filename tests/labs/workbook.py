"""A lab that is run without a kernel: its given cells and model answers once, then any answer in place of one."""

import functools
import linecache
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from kvlib.grading.lab import Cell, read
from kvlib.grading.notebooks import as_notebook
from kvlib.grading.released import without_marks

LABS = Path(__file__).parents[2] / "labs"
SOURCES = sorted(LABS.glob("[0-9][0-9]-*.md"))


class Printed(NamedTuple):
    """What the check cell of an exercise printed, and its hidden cells for each seed."""

    check: str
    hidden: list[str]


class Workbook:
    """The cells of a lab, run from the top to each of its answers once, with model answers."""

    def __init__(self, name: str, cells: Sequence[Cell]) -> None:
        self.cells = cells
        self.exercises = [cell.exercise for cell in self.cells if cell.role == "answer"]
        self._name, self._namespaces = name, {}
        namespace = {"__name__": "__main__"}
        for cell in self.cells:
            if cell.role == "answer":
                self._namespaces[cell.exercise] = dict(namespace)
            if cell.kind == "code" and cell.role not in ("check", "hidden"):
                self._run(cell, without_marks(cell.source), namespace)

    def model(self, exercise: str) -> str:
        return without_marks(self._of("answer", exercise)[0].source)

    def right_line(self, exercise: str) -> str:
        return self._of("check", exercise)[0].prints

    def printed(self, exercise: str, answer: str, seeds: tuple[int, ...]) -> Printed:
        """What is printed about `answer`, the source of a cell, in place of the model answer."""
        namespace = dict(self._namespaces[exercise])
        place = next(number for number, cell in enumerate(self.cells) if cell.exercise == exercise)
        last = max(number for number, cell in enumerate(self.cells) if cell.exercise == exercise)
        self._run(self.cells[place], answer, namespace)
        check, hidden = "", []
        for cell in self.cells[place + 1 : last + 1]:
            if cell.role == "check" and cell.exercise == exercise:
                check += self._run(cell, cell.source, namespace)
            elif cell.role == "hidden" and cell.exercise == exercise:
                hidden += [self._run(cell, cell.source, namespace | {"SEED": seed}) for seed in seeds]
            elif cell.kind == "code" and cell.role == "code":
                self._run(cell, cell.source, namespace)
        return Printed(check.strip(), hidden)

    def _of(self, role: str, exercise: str) -> list[Cell]:
        return [cell for cell in self.cells if cell.role == role and cell.exercise == exercise]

    def _run(self, cell: Cell, source: str, namespace: dict) -> str:
        """What the source, in the place of a cell, prints. Its lines can be looked up, as in a notebook."""
        file = f"<{self._name} {cell.role} {cell.exercise} {hash(source)}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        with redirect_stdout(StringIO()) as printed:
            exec(compile(source, file, "exec"), namespace)
        return printed.getvalue()


@functools.lru_cache(maxsize=1)  # a lab's model takes up to a gigabyte: tests go from lab to lab, see conftest.py
def workbook(lab: str) -> Workbook:
    return Workbook(lab, read(LABS / f"{lab}.md"))


def solved(lab: str, folder: Path) -> Path:
    """The notebook of a lab with its model answers, in `folder`; hidden cells are for test_answers and the grader."""
    path = folder / f"{lab}.ipynb"
    cells = [cell for cell in read(LABS / f"{lab}.md") if cell.role != "hidden"]
    path.write_text(as_notebook(cells, lab), encoding="utf-8")
    return path
