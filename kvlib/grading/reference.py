"""What the hidden cells print for the model answers: what all answers are compared with."""

from collections.abc import Callable, Mapping

from kvlib.errors import BadLab
from kvlib.grading.assemble import ANSWER, assemble, hidden_cells
from kvlib.grading.judge import STOPPED, judge
from kvlib.grading.labs import Lab
from kvlib.grading.run import Ran

Runner = Callable[[str], Ran]
"""Runs the text of one notebook, in its sandbox and limits."""


def reference(lab: Lab, exercise: str, seed: int, run: Runner) -> Mapping[str, str]:
    """What each hidden cell of an exercise prints, by its id.

    The model answer runs twice, and nbval has to find the same the second time. Raises BadLab, with the reason, where a
    model answer would not get its own mark, so that no student is graded by it.
    """
    hidden = hidden_cells(lab, exercise)
    if not hidden:
        raise BadLab(f"{lab.name}: no hidden cell is about {exercise}, so no answer can be judged; add one")
    model = lab.model(exercise)
    first = run(assemble(lab, exercise, model, seed))
    expected = {name: first.cells[name].printed for name in hidden if name in first.cells}
    wrong = [
        *(f"{name} prints nothing" for name in hidden if not expected.get(name, "").strip()),
        *(line for text in expected.values() for line in text.splitlines() if line.startswith(STOPPED)),
        *(first.cells[name].error for name in (ANSWER, *hidden) if name in first.cells and first.cells[name].error),
    ]
    errors = [f"{name} raises {cell.error}" for name, cell in first.cells.items() if cell.error]
    reason = first.broke_off or ([*errors, *wrong][0] if wrong else "")
    if not reason:
        second = judge(run(assemble(lab, exercise, model, seed, expected)), expected, ANSWER, [])
        reason = "" if second.is_right else f"run a second time, it is {second.reason}"
    if reason:
        raise BadLab(
            f"{lab.name}: the model answer of {exercise} gets no mark: {reason}. Nobody was graded; mend the lab"
        )
    return expected
