"""A lab as its author writes it: MyST text whose cells say by their tags what they are for. Needs jupytext.

    setup           the first code cell: says where it runs, installs what is missing
    answer          what the learner writes; with ex:NAME and points:N
    check           prints one line about an answer; with ex:NAME, and that line beside it as `prints`
    hidden          prints for the grader, by the number SEED that it is given, what an answer does; with ex:NAME.
                    It is in no notebook that a learner gets

Code cells without a tag are given: learners and the grader run them as they are. A model answer stands between the
lines `### BEGIN SOLUTION` and `### END SOLUTION` of an answer cell.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from kvlib.errors import BadLab, MissingPackage

try:
    import jupytext
except ImportError as error:
    raise MissingPackage("labs are read with jupytext; in the clone, run: pip install '.[labs]'") from error

ROLES = ("setup", "answer", "check", "hidden")
FIRST_CELL = "first_cell.py"
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


class Cell(NamedTuple):
    """One cell of a lab. `kind` is "code" or "markdown"; `prints` is the line that a check cell prints."""

    kind: str
    source: str
    tags: tuple[str, ...] = ()
    prints: str = ""

    @property
    def role(self) -> str:
        """One of ROLES, or the kind of a cell that has none of them."""
        return next((tag for tag in self.tags if tag in ROLES), self.kind)

    @property
    def exercise(self) -> str:
        """The NAME of its tag ex:NAME, or ""."""
        return self._value("ex")

    @property
    def points(self) -> int:
        """The N of its tag points:N, or 0."""
        return int(self._value("points") or 0)

    def _value(self, name: str) -> str:
        return next((tag.partition(":")[2] for tag in self.tags if tag.startswith(f"{name}:")), "")


def read(path: Path) -> list[Cell]:
    """The cells of the lab in `path`, the setup cell with the text of first_cell.py, from the same folder, before it.

    Raises BadLab, which names the cell, where a tag is not known, a mark has no partner, an answer has no check, or
    anything else would make a notebook that does not do what it seems to.
    """
    notebook = jupytext.reads(path.read_text(encoding="utf-8"), fmt="md:myst")
    first = (path.parent / FIRST_CELL).read_text(encoding="utf-8").strip()
    cells = []
    for cell in notebook.cells:
        tags = tuple(cell.metadata.pop("tags", ()))
        prints = cell.metadata.pop("prints", "")
        source = f"{first}\n\n{cell.source}".rstrip() if "setup" in tags else cell.source
        cells.append(Cell(cell.cell_type, source, tags, prints))
        if cell.metadata:
            raise BadLab(f"{_place(path, cells)} has the unknown settings {sorted(cell.metadata)}; tags and prints are")
    _check(path, cells)
    return cells


def _check(path: Path, cells: Sequence[Cell]) -> None:
    for number, cell in enumerate(cells, 1):
        complaint = _complaint(cell, cells[: number - 1])
        if complaint:
            raise BadLab(f"{_place(path, cells[:number])} {complaint}")
    answers, checks = ([cell.exercise for cell in cells if cell.role == role] for role in ("answer", "check"))
    unchecked = sorted(set(answers) - set(checks))
    if unchecked:
        raise BadLab(f"{path}: no cell checks the exercise {', '.join(unchecked)}; add one with the tag check")
    if not any(cell.role == "setup" for cell in cells):
        raise BadLab(f"{path}: no cell has the tag setup; give it to the first code cell")


def _complaint(cell: Cell, before: Sequence[Cell]) -> str:
    """What is wrong with a cell that comes after those of `before`; "" if nothing is."""
    unknown = [tag for tag in cell.tags if tag not in ROLES and not re.fullmatch(r"ex:[a-z]\w*|points:[1-9]\d*", tag)]
    if unknown:
        return f"has the unknown tag {unknown[0]!r}; known are {', '.join(ROLES)}, ex:NAME and points:N"
    if sum(tag in ROLES for tag in cell.tags) > 1:
        return f"has the tags {', '.join(cell.tags)}; one of {', '.join(ROLES)} is enough"
    if cell.kind == "markdown" and re.search(r"^(`{3,}|:{3,})\{", cell.source, re.MULTILINE):
        return "has a directive, which notebooks do not show; write plain Markdown, or mend the fence of a code cell"
    if cell.role == "setup" and any(each.kind == "code" for each in before):
        return "has the tag setup, and is not the first code cell"
    named = cell.role in ("answer", "check", "hidden")
    if (cell.role == "answer") != bool(cell.points) or named != bool(cell.exercise):
        tags = ", ".join(cell.tags)
        return f"has the tags {tags}; an answer has ex:NAME and points:N, a check and a hidden cell ex:NAME"
    known = [each.exercise for each in before if each.role == "answer"]
    if cell.role == "answer" and cell.exercise in known:
        return f"is a second answer to {cell.exercise}; give each exercise one answer cell and a name of its own"
    if cell.role in ("check", "hidden") and cell.exercise not in known:
        return f"is about {cell.exercise!r}, which no answer above has; write ex:NAME as the answer has it"
    if (cell.role == "check") != bool(cell.prints) or not isinstance(cell.prints, str) or "\n" in cell.prints:
        return f"prints {cell.prints!r}; a check cell, and no other, has `prints`: the one line that it prints"
    marks = [line.strip() for line in cell.source.splitlines() if line.strip() in (BEGIN, END)]
    if marks != [BEGIN, END] * (len(marks) // 2) or (marks and cell.role != "answer"):
        return f"has the marks {', '.join(marks)}; in an answer cell, each {BEGIN} has its {END} below it"
    return ""


def _place(path: Path, cells: Sequence[Cell]) -> str:
    first_line = cells[-1].source.partition("\n")[0]
    return f"{path}: cell {len(cells)}, {first_line!r},"
