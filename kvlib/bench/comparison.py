"""Every claim simulated by a few seeds, and the table that says how near each came."""

import json
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from kvlib.bench.claims import NOT_REPRODUCED, Claim, Figure, Job
from kvlib.ledger import Number, load, number
from kvlib.serving.sweep import ALL_CORES, sweep

SEEDS = (0, 1, 2)
NOT_SIMULATED = "not simulated"
VERDICTS = ("exact", "inside", "shape", NOT_REPRODUCED, NOT_SIMULATED)
HEAD = f"  {'':48}{'paper':>15}{'ours':>9}{'±':>7}  {'allowed':<11}verdict"


class Row(NamedTuple):
    """One claim and what was found.

    `id` is the ledger's name of our value, empty where it holds none. `paper` is the ledger's value or both ends of
    a range, empty where the paper has words only; `said` is what the table shows of it. `ours` are the values by
    seed, in the paper's unit, with `digits` decimals shown. `verdict` is one of VERDICTS: "inside" the tolerance that
    `allowed` describes, "shape" for a trend or an order without a number.
    """

    figure: str
    what: str
    id: str
    numbers: tuple[str, ...]
    paper: tuple[float, ...]
    said: str
    ours: tuple[float, ...]
    digits: int
    allowed: str
    verdict: str
    note: str

    @property
    def mean(self) -> float:
        """Our value: the mean over the seeds. Only for a claim that was simulated."""
        return sum(self.ours) / len(self.ours)

    @property
    def judgement(self) -> str:
        """What the ledger says beside our value."""
        return f"Allowed: {self.allowed}. Verdict: {self.verdict}."


def compare(figures: Sequence[Figure], seeds: Sequence[int] = SEEDS, *, n_jobs: int = ALL_CORES) -> list[Row]:
    """Run every job of these figures once for each seed, `n_jobs` at a time, and judge the claims by the means.

    Raises UnknownNumber, before anything runs, for a claim on a number that the ledger lacks.
    """
    claims = [(figure, claim) for figure in figures for claim in figure.claims]
    known = load()
    numbers = {id: number(id, known) for _, claim in claims for id in claim.numbers}
    jobs = dict.fromkeys(job for _, claim in claims for job in claim.jobs)
    points = [(job, seed) for job in jobs for seed in seeds]
    results = dict(zip(points, sweep(_run, points, n_jobs=n_jobs)))
    return [_row(figure, claim, seeds, results, numbers) for figure, claim in claims]


def as_text(rows: Sequence[Row]) -> str:
    """The rows as a table: each figure under its title and above its note; last, how often each verdict was given.
    "ours" is the mean over the seeds, "±" half of what lies between the largest and the smallest."""
    lines = []
    for title, group in groupby(rows, attrgetter("figure")):
        members = list(group)
        note = textwrap.wrap(members[0].note, 110, initial_indent="  ", subsequent_indent="  ")
        lines += [title, HEAD, *map(_line, members), *note, ""]
    counts = Counter(row.verdict for row in rows)
    return "\n".join([*lines, ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])])


def as_json(rows: Sequence[Row]) -> str:
    """The rows as one JSON list; a value that was not found is null."""
    plain = [{**row._asdict(), "ours": [None if value != value else value for value in row.ours]} for row in rows]
    return json.dumps(plain, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _run(point: tuple[Job, int]) -> Any:
    job, seed = point
    return job.function(seed, *job.arguments)


def _row(
    figure: Figure, claim: Claim, seeds: Sequence[int], results: Mapping[Any, Any], numbers: Mapping[str, Number]
) -> Row:
    found = [numbers[id] for id in claim.numbers]
    paper = tuple(each.value for each in found)
    said = claim.words or " to ".join(each.figure for each in found)
    ours = tuple(claim.read(*(results[job, seed] for job in claim.jobs)) for seed in seeds if claim.jobs)
    allowed, verdict = "", NOT_SIMULATED
    if claim.allowed is not None:
        allowed = claim.allowed.text
        verdict = claim.allowed.verdict(sum(ours) / len(ours), *((paper[0], paper[-1]) if paper else (0.0, 0.0)))
    return Row(
        figure.title,
        claim.what,
        claim.id,
        claim.numbers,
        paper,
        said,
        ours,
        claim.digits,
        allowed,
        verdict,
        figure.note,
    )


def _line(row: Row) -> str:
    mean = spread = ""
    if row.ours:
        mean = f"{row.mean:.{row.digits}f}"
        spread = f"{(max(row.ours) - min(row.ours)) / 2:.{row.digits}f}"
    return f"  {row.what:48}{row.said:>15}{mean:>9}{spread:>7}  {row.allowed:<11}{row.verdict}"
