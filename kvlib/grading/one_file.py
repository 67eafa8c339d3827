"""One submitted notebook, exercise by exercise: look, assemble, run, judge."""

from collections.abc import Callable, Mapping
from itertools import takewhile

from kvlib.grading.answers import Answer, find, is_unwritten
from kvlib.grading.assemble import ANSWER, GIVEN, about, assemble
from kvlib.grading.judge import Result, clean, judge
from kvlib.grading.labs import Lab
from kvlib.grading.looks import parsed
from kvlib.grading.reach import forbidden, looks_at_its_check
from kvlib.grading.reference import Runner
from kvlib.grading.submitted import Notebook

IMPORTS = "imports "
LOOKS = "looks at what checks it, by "
FAILED = "the grader itself failed: "
BESIDE = "only answer cells and given ones are run: what an answer needs stands in its cell"
Expected = Mapping[str, Mapping[str, str]]
"""Of each exercise, what each of its hidden cells prints for the model answer."""


def grade_file(
    notebook: Notebook, lab: Lab, seed: int, expected: Expected, run: Runner, done: Callable[[], object]
) -> dict[str, Result]:
    """The result of each exercise; `done` is called after each. What goes wrong with one leaves the others alone."""
    results = {}
    answers: Mapping[str, Answer] = {}
    for exercise in lab.exercises:
        try:
            answers = answers or find(notebook, lab)
            results[exercise] = _grade(answers, lab, exercise, seed, expected[exercise], run)
        except Exception as error:  # whatever a submission does to the grader, the next one is graded
            results[exercise] = Result(False, clean(f"{FAILED}{type(error).__name__}: {error}"))
        done()
    return results


def _grade(
    answers: Mapping[str, Answer], lab: Lab, exercise: str, seed: int, expected: Mapping[str, str], run: Runner
) -> Result:
    if exercise not in answers:
        names = " and ".join(sorted(lab.names(exercise)))
        return Result(False, f"not answered: no cell has the id answer-{exercise} or its tags, or defines {names}")
    answer = answers[exercise]
    source, error, note = parsed(answer.cell.source)
    notes = "; ".join(filter(None, (answer.note, clean(note))))
    refusal = "not answered" if is_unwritten(answer.cell.source, lab.stub(exercise)) else error
    refusal = refusal or _refusal(source, lab, exercise)
    if refusal:
        return Result(False, clean(refusal), note=notes)
    checks = list(about(lab, exercise, "check"))
    result = judge(run(assemble(lab, exercise, source, seed, expected)), expected, ANSWER, checks)
    own = _own(answers, lab, exercise)
    if own and not result.is_right:
        second = judge(run(assemble(lab, exercise, source, seed, expected, own)), expected, ANSWER, checks)
        if second.is_right:
            return second._replace(note="; ".join(filter(None, (notes, "run with the earlier answers beside it"))))
    if not result.is_right and "NameError" in f"{result.reason} {result.said}":
        notes = "; ".join(filter(None, (notes, BESIDE)))
    return result._replace(note=notes)


def _own(answers: Mapping[str, Answer], lab: Lab, exercise: str) -> dict[str, str]:
    """The student's answers to earlier exercises, as far as they can be run."""
    own = {}
    for earlier in lab.exercises[: lab.exercises.index(exercise)]:
        if earlier in answers and not is_unwritten(answers[earlier].cell.source, lab.stub(earlier)):
            source, error, _ = parsed(answers[earlier].cell.source)
            if not error and not _refusal(source, lab, earlier):
                own[earlier] = source
    return own


def _refusal(source: str, lab: Lab, exercise: str) -> str:
    """What a look at an answer finds that no answer needs, or ""."""
    above = takewhile(lambda cell: (cell.role, cell.exercise) != ("answer", exercise), lab.cells)
    given = [cell.source for cell in above if cell.role in GIVEN]
    name = forbidden(source, [lab.model(exercise), *given])
    if name:
        return f"{IMPORTS}{name}; everything an answer needs is imported by the given cells"
    lead = looks_at_its_check(source)
    return f"{LOOKS}{lead}; an answer works with what it is given" if lead else ""
