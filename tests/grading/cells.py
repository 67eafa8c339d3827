"""The text of small notebooks, cell by cell, and what became of each cell."""

import json

from kvlib.grading.run import Limits, run_notebook
from kvlib.grading.sandbox import Sandbox

HERE = Sandbox.find()
"""The sandbox of this machine. What is said of it below holds where `HERE.missing` is "", and the reverse elsewhere."""


class Expects(str):
    """The source of a cell whose output is compared with `text`."""

    def __new__(cls, source, text):
        cell = super().__new__(cls, source)
        cell.text = text
        return cell


def notebook(*sources):
    """Code cells named c0, c1, ...; those that are an Expects are compared."""
    return json.dumps(
        {
            "cells": [_cell(f"c{number}", source) for number, source in enumerate(sources)],
            "metadata": {},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )


def run(*sources, sandbox=HERE, **limits):
    return run_notebook(notebook(*sources), Limits(**limits), sandbox)


def outcomes(ran):
    return [cell.outcome for cell in ran.cells.values()]


def _cell(name, source):
    cell = {"cell_type": "code", "id": name, "source": str(source)}
    if not isinstance(source, Expects):
        return {**cell, "metadata": {}, "execution_count": None, "outputs": []}
    printed = {"output_type": "stream", "name": "stdout", "text": source.text}
    return {**cell, "metadata": {"tags": ["nbval-check-output"]}, "execution_count": 1, "outputs": [printed]}
