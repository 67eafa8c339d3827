"""The labs of a folder, as release and grading need them: their exercises, model answers and the names these define."""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from kvlib.errors import BadLab
from kvlib.grading.lab import Cell, read
from kvlib.grading.released import released, without_marks

ASSIGNMENTS = (ast.Assign, ast.AnnAssign)


class Lab(NamedTuple):
    """A lab and its name, NN-name. The methods take the NAME of one of its exercises."""

    name: str
    cells: list[Cell]

    @property
    def exercises(self) -> list[str]:
        """Their names, in order."""
        return [cell.exercise for cell in self.cells if cell.role == "answer"]

    def points(self, exercise: str) -> int:
        """What a right answer gets."""
        return self._answer(exercise).points

    def model(self, exercise: str) -> str:
        """The source of the model answer, without marks."""
        return without_marks(self._answer(exercise).source)

    def stub(self, exercise: str) -> str:
        """What stands in the answer cell of a learner's notebook."""
        return released([self._answer(exercise)])[0].source

    def names(self, exercise: str) -> set[str]:
        """The names that an answer has to define: those of the model answer that the cells about it use, or all."""
        model = defined(self.model(exercise))
        about = [cell.source for cell in self.cells if cell.exercise == exercise and cell.role in ("check", "hidden")]
        return model & {name for source in about for name in _used(source)} or model

    def _answer(self, exercise: str) -> Cell:
        return next(cell for cell in self.cells if cell.role == "answer" and cell.exercise == exercise)


def read_labs(folder: Path) -> dict[str, Lab]:
    """The labs NN-name.md in `folder`, by name. Raises BadLab if there is none, or one cannot be read."""
    labs = [Lab(path.stem, read(path)) for path in sorted(folder.glob("[0-9][0-9]-*.md"))]
    if not labs:
        raise BadLab(f"{folder} has no lab; a lab is a file whose name begins with two digits and ends in .md")
    return {lab.name: lab for lab in labs}


def chosen(labs: dict[str, Lab], wanted: Sequence[str]) -> dict[str, Lab]:
    """The labs whose names, or whose numbers, are `wanted`; all if none is. Raises BadLab for an unknown one."""
    for name in wanted:
        if not any(_is_called(lab, name) for lab in labs):
            raise BadLab(f"no lab is called {name}; known are {', '.join(labs)}, and their numbers alone, as 3 or 03")
    return {lab: labs[lab] for lab in labs if not wanted or any(_is_called(lab, name) for name in wanted)}


def _is_called(lab: str, name: str) -> bool:
    return name == lab or (name.isdecimal() and int(name) == int(lab[:2]))


def defined(source: str) -> set[str]:
    """The names that def, class and assignments at the top level of `source`, which must be Python, bind.

    Under an if, try or with at the top level def and class count as well.
    """
    return {name for node in ast.parse(source).body for name in _bound(node)}


def _bound(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.If | ast.Try | ast.With):
        yield from (name for each in node.body if not isinstance(each, ASSIGNMENTS) for name in _bound(each))
    elif isinstance(node, ASSIGNMENTS):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield from (name.id for name in ast.walk(target) if isinstance(name, ast.Name) and _is_stored(name))


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _used(source: str) -> Iterator[str]:
    return (node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name))
