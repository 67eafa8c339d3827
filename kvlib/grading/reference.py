"""What the hidden cells print for the model answers: what all answers are compared with."""

from collections.abc import Callable, Mapping

from kvlib.errors import BadLab
from kvlib.grading.assemble import ANSWER, about, assemble
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
    hidden = about(lab, exercise, "hidden")
    if not hidden:
        raise BadLab(f"{lab.name}: no hidden cell is about {exercise}, so no answer can be judged; add one")
    model = lab.model(exercise)
    notebook = assemble(lab, exercise, model, seed)
    first = run(notebook)
    if first.broke_off:  # a busy machine makes a right answer slow
        first = run(notebook)
    expected = {name: first.cells[name].printed for name in hidden}
    reason = first.broke_off or _unusable(first, expected)
    if not reason:
        second = judge(run(assemble(lab, exercise, model, seed, expected)), expected, ANSWER, [])
        reason = "" if second.is_right else f"run a second time, it is {second.reason}"
    if reason:
        raise BadLab(
            f"{lab.name}: the model answer of {exercise} gets no mark: {reason}. Nobody was graded. If this "
            "machine is busy, allow more by --cell-seconds and --seconds; else mend the lab, or see --memory"
        )
    return expected


def _unusable(ran: Ran, printed: Mapping[str, str]) -> str:
    """Why nothing can be compared with what the hidden cells `printed`, by the first cell that raised; "" if it can."""
    silent = [f"{name} prints nothing" for name, text in printed.items() if not text.strip()]
    stopped = [line for text in printed.values() for line in text.splitlines() if line.startswith(STOPPED)]
    raised = {name: f"{name} raises {cell.error}" for name, cell in ran.cells.items() if cell.error}
    if not (silent or stopped or raised.keys() & {ANSWER, *printed}):
        return ""
    return [*raised.values(), *silent, *stopped][0]
