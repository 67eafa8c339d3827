"""Every lab: its notebook is the one that its text makes, and it runs, and its checks print their lines."""

import os
import re
import subprocess
import sys

import pytest

from kvlib.grading.lab import BEGIN, END, read
from kvlib.grading.notebooks import as_notebook
from kvlib.grading.released import released

from .workbook import LABS, SOURCES, solved

lab = pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)


def test_there_are_labs():
    assert SOURCES


@lab
def test_the_notebook_is_the_one_that_its_text_makes(source):
    committed = source.with_suffix(".ipynb").read_text(encoding="utf-8")
    made = as_notebook(released(read(source)), source.stem)
    assert committed == made, "the text has changed; run: make labs"


def test_no_notebook_is_without_its_text():
    assert sorted(LABS.glob("*.ipynb")) == [source.with_suffix(".ipynb") for source in SOURCES]


def run(notebook, folder):
    """The notebook under nbval, as on a machine without a GPU and with nothing set beforehand."""
    options = ["--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout=60", "-p", "no:cacheprovider"]
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(notebook)],
        capture_output=True,
        text=True,
        env={**environment, "IPYTHONDIR": str(folder), "CUDA_VISIBLE_DEVICES": ""},
        timeout=180,
    )


@lab
def test_it_runs_top_to_bottom_and_its_checks_print_their_lines(source, tmp_path):
    finished = run(solved(source.stem, tmp_path), tmp_path)
    assert finished.returncode == 0, finished.stdout


def test_a_check_that_prints_another_line_fails_the_run(tmp_path):
    [check, *_] = [cell for cell in read(SOURCES[0]) if cell.prints]
    notebook = tmp_path / "changed.ipynb"
    notebook.write_text(as_notebook([check._replace(source="print('another line')")], "changed"), encoding="utf-8")
    finished = run(notebook, tmp_path)
    assert finished.returncode == 1
    assert "another line" in finished.stdout


@lab
def test_a_model_answer_keeps_to_the_budget_that_its_text_states(source):
    stated = ""
    for cell in read(source):
        found = re.findall(r"\*\*Budget: (\d+) lines?\b", cell.source)
        if found:
            stated = found[-1]
        if cell.role == "answer":
            solutions = [part.partition(END)[0] for part in cell.source.split(BEGIN)[1:]]
            lines = [line for solution in solutions for line in solution.splitlines() if line.strip()]
            assert stated, f"no budget stands above the answer to {cell.exercise}"
            assert len(lines) == int(stated), f"{cell.exercise} has {len(lines)} lines"
            stated = ""


@lab
def test_the_text_shows_no_picture_that_is_not_a_file(source):
    assert "base64" not in source.read_text(encoding="utf-8")
