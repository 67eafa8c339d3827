"""The model answers of *Write the kernel*, taken from the lab, and copies of them with one edit each."""

import importlib.util
import itertools
from functools import cache
from pathlib import Path
from types import ModuleType

from kvlib.grading.lab import read

LAB = Path(__file__).parents[3] / "labs" / "08-write-the-kernel.md"
IMPORTS = "import torch\nimport triton\nimport triton.language as tl\n"
NUMBER = itertools.count()
LINES = {cell.exercise: cell.prints for cell in read(LAB) if cell.role == "check"}
"""What each check prints of a right answer."""


@cache
def sources() -> dict[str, str]:
    """The answer cell of each exercise, and under "" the cell that they all need."""
    cells = read(LAB)
    answers = {cell.exercise: cell.source for cell in cells if cell.role == "answer"}
    [shared] = [cell.source for cell in cells if cell.role == "code" and "def arguments" in cell.source]
    return {"": shared, **answers}


def module(folder: Path, **changed: str) -> ModuleType:
    """The answers as a module, those of `changed` with another source; a file, as Triton reads a kernel's source."""
    path = folder / f"answers_{next(NUMBER)}.py"
    path.write_text("\n\n".join([IMPORTS, *{**sources(), **changed}.values()]), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def edited(exercise: str, *edits: tuple[str, str]) -> str:
    """The model answer with each `old` made `new`, everywhere."""
    source = sources()[exercise]
    for old, new in edits:
        assert old in source, f"{old!r} is not in the answer to {exercise}: the edit has to follow the lab"
        source = source.replace(old, new)
    return source


def without_solution(exercise: str) -> str:
    """The answer cell with nothing between its marks."""
    kept, inside = [], False
    for line in sources()[exercise].splitlines():
        inside = line.strip() == "### BEGIN SOLUTION" or (inside and line.strip() != "### END SOLUTION")
        kept += [] if inside else [line]
    return "\n".join(kept)
