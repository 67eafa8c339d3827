"""A lab as a learner gets it: no solution, no hidden cell, and answers that fail until they are written."""

from collections.abc import Iterator, Sequence

from kvlib.grading.lab import BEGIN, END, Cell


def released(cells: Sequence[Cell]) -> list[Cell]:
    """The cells without the hidden ones; in each answer one line that raises stands for each solution."""
    return [
        cell._replace(source="\n".join(_without_solutions(cell))) if cell.role == "answer" else cell
        for cell in cells
        if cell.role != "hidden"
    ]


def _without_solutions(cell: Cell) -> Iterator[str]:
    inside = False
    for line in cell.source.splitlines():
        mark = line.strip()
        if mark == BEGIN:
            inside = True
            indent = line[: line.index(BEGIN)]
            yield f'{indent}raise NotImplementedError("{cell.exercise}: write your answer in place of this line")'
        elif mark == END:
            inside = False
        elif not inside:
            yield line


def without_marks(source: str) -> str:
    """A model answer as one would write it: its solutions, and not the lines that mark them."""
    return "\n".join(line for line in source.splitlines() if line.strip() not in (BEGIN, END))
