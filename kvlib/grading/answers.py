"""Where the answers of a submitted notebook are: by the ids of their cells, by their tags, or by the names they define.

JupyterLab keeps ids and tags, other programs lose one of them or both, and learners copy, move and delete cells.
"""

import ast
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from kvlib.grading.labs import Lab, defined
from kvlib.grading.looks import parsed
from kvlib.grading.submitted import MOST_CELLS, Notebook, SubmittedCell


class Answer(NamedTuple):
    """The cell that counts as an answer, how it was found ("by its id"), and the numbers of others that differ."""

    cell: SubmittedCell
    found: str
    others: tuple[int, ...]

    @property
    def note(self) -> str:
        """Which cell counted, where that is a question; else ""."""
        if not self.others:
            return ""
        others = " and ".join(map(str, self.others))
        return f"cell {self.cell.number} counted, found {self.found}; cell {others} might be meant as well"


def find(notebook: Notebook, lab: Lab) -> dict[str, Answer]:
    """The answer to each exercise that has a cell: of those that say more than the stub, one that defines its names.

    Of several, what is found by id goes before tags, and tags before names; of several found alike, the last.
    """
    owners = {cell.number: name for name in lab.exercises for cell in notebook.cells if _marked(cell, name)}
    given = {cell.source.strip() for cell in lab.cells if cell.role == "code"}
    free = [cell for cell in notebook.cells if cell.number not in owners and cell.source.strip() not in given]
    answers = {}
    for exercise in lab.exercises:
        own = [cell for cell in notebook.cells if owners.get(cell.number) == exercise]
        names = lab.names(exercise)
        ways = {
            "by its id": [cell for cell in own if _has_id(cell, exercise)],
            "by its tags": [cell for cell in own if not _has_id(cell, exercise)],
            "by the names that it defines": [cell for cell in free if names and names <= _defined(cell.source)],
        }
        answer = _chosen(ways, lab.stub(exercise), names)
        if answer:
            answers[exercise] = answer
    return answers


def lab_by_answers(notebook: Notebook, labs: Sequence[Lab]) -> str:
    """The name of the lab of which the notebook has the most answers; "" if it has none, or as many of two."""
    counts = sorted(((len(find(notebook, lab)), lab.name) for lab in labs), reverse=True)
    best, runner_up = (*counts, (0, ""))[:2]
    return best[1] if best[0] > runner_up[0] else ""


def is_unwritten(source: str, stub: str) -> bool:
    """Whether an answer says no more than the stub, but for comments and blank lines."""
    return _code(source) in (_code(""), _code(stub))


def _chosen(ways: dict[str, list[SubmittedCell]], stub: str, names: set[str]) -> Answer | None:
    ranked = [(cell, way) for way, cells in ways.items() for cell in reversed(cells)]
    ranked.sort(key=lambda each: not names <= _defined(each[0].source))
    if not ranked:
        return None
    written = [(cell, way) for cell, way in ranked if not is_unwritten(cell.source, stub)]
    cell, way = (written or ranked)[0]
    others = sorted(other.number for other, _ in written[1:] if _code(other.source) != _code(cell.source))
    return Answer(cell, way, tuple(others))


def _marked(cell: SubmittedCell, exercise: str) -> bool:
    return _has_id(cell, exercise) or {"answer", f"ex:{exercise}"} <= set(cell.tags)


def _has_id(cell: SubmittedCell, exercise: str) -> bool:
    return cell.id == f"answer-{exercise}"


@lru_cache(MOST_CELLS)
def _defined(source: str) -> set[str]:
    return defined(parsed(source).source)


@lru_cache(MOST_CELLS)
def _code(source: str) -> str:
    """What an answer says to Python; its text where that is nothing, or nested too deeply to be written down."""
    look = parsed(source)
    try:
        return source if look.error else ast.dump(ast.parse(look.source))
    except RecursionError:
        return source
