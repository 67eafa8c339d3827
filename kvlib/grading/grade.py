"""`kvlib grade`: everything that was handed in becomes marks, whatever is in it, and a run that was stopped goes on."""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from kvlib.errors import BadConfig
from kvlib.grading.judge import Result
from kvlib.grading.junit import as_junit
from kvlib.grading.labs import Lab, chosen, read_labs
from kvlib.grading.marks import Mark, as_csv, marks
from kvlib.grading.one_file import FAILED, Expected, grade_file
from kvlib.grading.reference import Runner, reference
from kvlib.grading.report import as_html, file_names
from kvlib.grading.run import Limits
from kvlib.grading.submissions import Collected, Submission, collect
from kvlib.grading.together import Done, together
from kvlib.grading.whole_file import write_whole
from kvlib.grading.work import Work, as_data, digest, from_data

ALL_CORES = -1


class Plan(NamedTuple):
    """What to grade, by which labs (`only` names some of them), and where the marks go. `seed` None: a secret one."""

    submissions: Path
    out: Path
    labs: Path = Path("labs")
    only: Sequence[str] = ()
    jobs: int = ALL_CORES
    seed: int | None = None
    limits: Limits = Limits()

    @property
    def folder(self) -> Path:
        """Where reports and work lie: beside the marks, with their name."""
        return self.out.with_suffix("")


class Graded(NamedTuple):
    """All marks, in order, what they were made from, and how long it took."""

    marks: list[Mark]
    collected: Collected
    seconds: float


def grade(plan: Plan, run: Runner, machine: object = "") -> Graded:
    """Grade all that was handed in; write marks, reports and JUnit's XML when everybody is done.

    run: runs one notebook. machine: what else decides how that comes out; what was kept with another one is not used.
    Raises BadConfig, BadInput and BadLab before anybody is graded, and OSError where nothing can be written.
    """
    start = time.monotonic()
    _check(plan)
    known = read_labs(plan.labs)
    labs = chosen(known, plan.only)
    collected = _of_labs(collect(plan.submissions, known), labs)
    handed_in = {each.lab for each in collected.submissions}
    labs = {name: lab for name, lab in labs.items() if name in handed_in or plan.only}
    work = Work(plan.folder / "work")
    grader = _Grader(labs, work.seed(plan.seed), plan, run, work, machine)
    rows = marks(collected, labs, grader.results(collected.submissions))
    _write(rows, plan)
    work.forget_seed()
    return Graded(rows, collected, time.monotonic() - start)


class _Grader(NamedTuple):
    """Two passes over exercises: the model answers, then those that were handed in. What is done is kept."""

    labs: Mapping[str, Lab]
    seed: int
    plan: Plan
    run: Runner
    work: Work
    machine: object

    def results(self, submissions: Sequence[Submission]) -> dict[Submission, dict[str, Result]]:
        """The results of each submission without a problem; files with the same content are run once.

        Raises BadLab, before any of them is run, where a model answer gets no mark.
        """
        keys = {each: self._key(self.labs[each.lab], each.sha256) for each in submissions if not each.problem}
        found = {key: from_data(self.work.load(key), self.labs[each.lab].exercises) for each, key in keys.items()}
        new = {key: each for each, key in keys.items() if found[key] is None}
        expected = self._references(sorted({each.lab for each in new.values()}))
        calls = [partial(self._grade, each, key, expected[each.lab]) for key, each in new.items()]
        total = sum(len(self.labs[each.lab].exercises) for each in new.values())
        found |= dict(zip(new, together(calls, self.plan.jobs, total, "answers")))
        return {each: found[key] or {} for each, key in keys.items()}

    def _references(self, labs: Sequence[str]) -> dict[str, Expected]:
        tasks = [(lab, exercise) for lab in labs for exercise in self.labs[lab].exercises]
        calls = [partial(self._reference, self.labs[lab], exercise) for lab, exercise in tasks]
        printed = dict(zip(tasks, together(calls, self.plan.jobs, len(calls), "model answers")))
        return {lab: {exercise: printed[lab, exercise] for exercise in self.labs[lab].exercises} for lab in labs}

    def _reference(self, lab: Lab, exercise: str, done: Done) -> Mapping[str, str]:
        key = self._key(lab, (exercise, self.seed))
        expected = self.work.load(key)
        if expected is None:
            expected = reference(lab, exercise, self.seed, self.run)
            self.work.keep(key, expected)
        done()
        return expected

    def _grade(self, submission: Submission, key: str, expected: Expected, done: Done) -> dict[str, Result]:
        results = grade_file(submission.notebook, self.labs[submission.lab], self.seed, expected, self.run, done)
        if not any(result.reason.startswith(FAILED) for result in results.values()):
            self.work.keep(key, as_data(results))
        return results

    def _key(self, lab: Lab, of: object) -> str:
        """A secret seed is in no key: a file that it has graded is graded, and what is new gets another one."""
        return digest(lab, of, self.plan.seed, self.plan.limits, self.machine)


def _check(plan: Plan) -> None:
    if plan.out.suffix != ".csv":
        raise BadConfig(f"the marks would go to {plan.out}; give a name that ends in .csv")
    if not plan.out.absolute().parent.is_dir():
        raise BadConfig(f"the marks would go to {plan.out}, and there is no folder {plan.out.parent}; make it first")
    if plan.out.is_dir():
        raise BadConfig(f"the marks would go to {plan.out}, which is a folder; give the name of a file")
    if plan.folder.exists() and not plan.folder.is_dir():
        raise BadConfig(f"the reports would go to the folder {plan.folder}, which is a file; give another name")
    if plan.submissions.resolve() in plan.out.resolve().parents:
        raise BadConfig(f"the marks would go to {plan.out}, among what was handed in; give a place outside of it")


def _of_labs(collected: Collected, labs: Mapping[str, Lab]) -> Collected:
    return collected._replace(submissions=[each for each in collected.submissions if each.lab in labs or not each.lab])


def _write(rows: Sequence[Mark], plan: Plan) -> None:
    """The marks last: where they are, everything is."""
    for student, name in file_names({mark.student for mark in rows}).items():
        own = [mark for mark in rows if mark.student == student]
        write_whole(plan.folder / f"{name}.html", as_html(student, own))
    write_whole(plan.folder / "junit.xml", as_junit(rows))
    write_whole(plan.out, as_csv(rows))
