"""The notebook that is run for one exercise: the instructor's cells, and of the student's the answer alone.

Nothing else of a submission is run: an edited check, a deleted one or a stored output is of no account.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kvlib.grading.lab import Cell
from kvlib.grading.labs import Lab
from kvlib.grading.notebooks import COMPARED, names

ANSWER, SEED = "answer", "seed"


def assemble(
    lab: Lab,
    exercise: str,
    answer: str,
    seed: int,
    expected: Mapping[str, str] | None = None,
    own: Mapping[str, str] | None = None,
) -> str:
    """The text of a notebook that runs `answer`, the source of a cell; then `SEED = seed`, the hidden cells, the check.

    expected: what each hidden cell, by id, has to print. own: answers to other exercises, in place of the model's.
    Ids of cells are those of the lab, but the answer's is ANSWER, and that of the cell above the hidden ones SEED.
    """
    cells = list(zip(lab.cells, names(lab.cells)))
    about = [number for number, (cell, _) in enumerate(cells) if cell.exercise == exercise]
    before = list(_before(cells[: about[-1]], lab, exercise, answer, own or {}))
    hidden = [
        _cell(name, cell.source, (expected or {}).get(name, ""))
        for cell, name in cells
        if _is(cell, "hidden", exercise)
    ]
    checks = [_cell(name, cell.source) for cell, name in cells if _is(cell, "check", exercise)]
    return json.dumps(
        {
            "cells": [*before, _cell(SEED, f"SEED = {seed}"), *hidden, *checks],
            "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )


def hidden_cells(lab: Lab, exercise: str) -> list[str]:
    """The ids of the hidden cells of an exercise."""
    return [name for cell, name in zip(lab.cells, names(lab.cells)) if _is(cell, "hidden", exercise)]


def check_cells(lab: Lab, exercise: str) -> list[str]:
    """The ids of the check cells of an exercise."""
    return [name for cell, name in zip(lab.cells, names(lab.cells)) if _is(cell, "check", exercise)]


def _before(
    cells: Sequence[tuple[Cell, str]], lab: Lab, exercise: str, answer: str, own: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    for cell, name in cells:
        if cell.role == "answer":
            is_asked = cell.exercise == exercise
            model = lab.model(cell.exercise)
            yield _cell(ANSWER, answer) if is_asked else _cell(name, own.get(cell.exercise, model))
        elif cell.role in ("setup", "code"):
            yield _cell(name, cell.source)


def _is(cell: Cell, role: str, exercise: str) -> bool:
    return cell.role == role and cell.exercise == exercise


def _cell(name: str, source: str, expected: str | None = None) -> dict[str, Any]:
    """A code cell; nbval compares what it prints with `expected`, and with nothing if that is None."""
    cell: dict[str, Any] = {"cell_type": "code", "id": name, "metadata": {}, "source": source}
    if expected is None:
        return {**cell, "execution_count": None, "outputs": []}
    output = {"name": "stdout", "output_type": "stream", "text": expected}
    return {**cell, "execution_count": 1, "metadata": {"tags": [COMPARED]}, "outputs": [output]}
