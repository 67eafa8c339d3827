"""A lab as a learner gets it: no solution, no hidden cell, and answers that fail until they are written.

A check is stored with the line that it prints of a right answer, and says that this is not yet said of theirs.
"""

from collections.abc import Iterator, Sequence

from kvlib.grading.lab import BEGIN, END, Cell

GOAL = "# Until you run this cell, below it stands the line to reach."


def released(cells: Sequence[Cell]) -> list[Cell]:
    """The cells without the hidden ones; in each answer one line that raises stands for each solution."""
    sources = {"answer": _stub, "check": lambda cell: f"{GOAL}\n{cell.source}"}
    return [
        cell._replace(source=sources[cell.role](cell)) if cell.role in sources else cell
        for cell in cells
        if cell.role != "hidden"
    ]


def _stub(cell: Cell) -> str:
    return "\n".join(_without_solutions(cell))


def _without_solutions(cell: Cell) -> Iterator[str]:
    inside = False
    for line in cell.source.splitlines():
        mark = line.strip()
        if mark == BEGIN:
            inside = True
            indent = line[: line.index(BEGIN)]
            yield f'{indent}raise NotImplementedError("{cell.exercise}: write your answer here")'
        elif mark == END:
            inside = False
        elif not inside:
            yield line


def without_marks(source: str) -> str:
    """A model answer as one would write it: its solutions, and not the lines that mark them."""
    return "\n".join(line for line in source.splitlines() if line.strip() not in (BEGIN, END))
