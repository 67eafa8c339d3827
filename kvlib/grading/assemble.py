"""The notebook that is run for one exercise: the instructor's cells, and of the student's the answer alone.

Nothing else of a submission is run: an edited check, a deleted one or a stored output is of no account.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kvlib.grading.lab import Cell
from kvlib.grading.labs import Lab
from kvlib.grading.notebooks import COMPARED, KERNEL, names

ANSWER, SEED = "answer", "seed"
GIVEN = ("setup", "code")
"""The roles of cells that learner and grader run as they are."""


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
    last = max(number for number, (cell, _) in enumerate(cells) if cell.exercise == exercise)
    before = list(_before(cells[:last], lab, exercise, answer, own or {}))
    hidden = [
        _cell(name, source, (expected or {}).get(name, "")) for name, source in about(lab, exercise, "hidden").items()
    ]
    checks = [_cell(name, source) for name, source in about(lab, exercise, "check").items()]
    return json.dumps(
        {
            "cells": [*before, _cell(SEED, f"SEED = {seed}"), *hidden, *checks],
            "metadata": {"kernelspec": KERNEL},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )


def about(lab: Lab, exercise: str, role: str) -> dict[str, str]:
    """The sources of the cells of an exercise that have a role, "hidden" or "check", by the cells' ids."""
    named = zip(names(lab.cells), lab.cells)
    return {name: cell.source for name, cell in named if (cell.role, cell.exercise) == (role, exercise)}


def _before(
    cells: Sequence[tuple[Cell, str]], lab: Lab, exercise: str, answer: str, own: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    for cell, name in cells:
        if cell.role == "answer":
            is_asked = cell.exercise == exercise
            model = lab.model(cell.exercise)
            yield _cell(ANSWER, answer) if is_asked else _cell(name, own.get(cell.exercise, model))
        elif cell.role in GIVEN:
            yield _cell(name, cell.source)


def _cell(name: str, source: str, expected: str | None = None) -> dict[str, Any]:
    """A code cell; nbval compares what it prints with `expected`, and with nothing if that is None."""
    cell: dict[str, Any] = {"cell_type": "code", "id": name, "metadata": {}, "source": source}
    if expected is None:
        return {**cell, "execution_count": None, "outputs": []}
    output = {"name": "stdout", "output_type": "stream", "text": expected}
    return {**cell, "execution_count": 1, "metadata": {"tags": [COMPARED]}, "outputs": [output]}
