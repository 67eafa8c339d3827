"""The comparison with the paper: its claims, its verdicts, its table."""

import json
import math

import pytest

from kvlib.bench.claims import Claim, Exact, Figure, Job, Percent, Points, above, up_to
from kvlib.bench.comparison import VERDICTS, as_json, as_text, compare
from kvlib.bench.paper import figures
from kvlib.errors import UnknownNumber
from kvlib.ledger import load

CLAIMS = [claim for figure in figures() for claim in figure.claims]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.what)
def test_every_claim_is_in_the_ledger_or_in_words(claim):
    assert bool(claim.numbers) != bool(claim.words)
    assert all(load()[id].status == "quoted" for id in claim.numbers)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.what)
def test_every_claim_but_figure_14_is_simulated(claim):
    is_simulated = bool(claim.jobs) and claim.allowed is not None
    assert is_simulated != (claim.numbers == ("beam-gain-alpaca-6",))


def test_every_line_has_one_name_within_its_figure_and_every_figure_a_note():
    for figure in figures():
        names = [claim.what for claim in figure.claims]
        assert len(set(names)) == len(names)
        assert all(len(name) <= 48 for name in names)
        assert figure.note.endswith(".")


@pytest.mark.parametrize(
    ("allowed", "low", "high", "good", "bad"),
    [
        (Exact(1), 8.9, 8.9, [8.86, 8.94], [8.84, 8.96]),
        (Exact(2), 7.0, 7.0, [6.9951, 7.0049], [6.9949, 7.0051]),
        (Points(1.5), 20.4, 20.4, [18.9, 21.9], [18.89, 21.91]),
        (Points(1), 1.4, 1.7, [0.4, 1.5, 2.7], [0.39, 2.71]),
        (Percent(5), 20.0, 20.0, [19.0, 21.0], [18.9, 21.1]),
        (Percent(10), 1.0, 2.0, [0.9, 1.5, 2.2], [0.89, 2.21]),
        (above(1.2), 0.0, 0.0, [1.21, 9.0], [1.2, 0.5]),
        (up_to(0.5), 0.0, 0.0, [0.0, 0.5], [0.51]),
    ],
    ids=str,
)
def test_a_verdict_is_good_up_to_what_is_allowed_and_not_beyond(allowed, low, high, good, bad):
    assert {allowed.verdict(value, low, high) for value in good} <= {"exact", "inside", "shape"}
    assert {allowed.verdict(value, low, high) for value in [*bad, math.nan]} == {"NOT reproduced"}


def seven(seed):
    return 7.0


def ten_times(seed, factor):
    return 10.0 * seed * factor


def nothing(seed):
    return math.nan


FIGURE = Figure(
    "Figure 0: made up",
    "A word of caution.",
    (
        Claim("sevens", Exact(2), ("orca-max-batched",), jobs=(Job(seven, ()),), digits=2),
        Claim("far off", Percent(5), ("orca-pow2-batched",), jobs=(Job(ten_times, (1.0,)),)),
        Claim("a ratio", Points(0.5), ("rate-over-oracle-low", "rate-over-oracle-high"),
              jobs=(Job(ten_times, (2.0,)), Job(ten_times, (1.0,))), read=lambda one, other: one / other),
        Claim("a trend", above(5), words="up", jobs=(Job(ten_times, (1.0,)),)),
        Claim("lost", Points(1), ("orca-max-stored",), jobs=(Job(nothing, ()),)),
        Claim("left out", numbers=("beam-gain-alpaca-6",)),
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def rows():
    return compare([FIGURE], seeds=(1, 2, 3), n_jobs=1)


def test_each_claim_is_judged_by_the_mean_over_the_seeds(rows):
    assert [row.verdict for row in rows] == [
        "exact",
        "NOT reproduced",
        "inside",
        "shape",
        "NOT reproduced",
        "not simulated",
    ]
    assert rows[1].ours == (10.0, 20.0, 30.0)
    assert rows[2].ours == (2.0, 2.0, 2.0)
    assert {row.verdict for row in rows} <= set(VERDICTS)


def test_the_table_shows_paper_mean_spread_tolerance_and_verdict(rows):
    lines = as_text(rows).splitlines()
    assert lines[0] == "Figure 0: made up"
    assert lines[2].split() == ["sevens", "7.00", "7.00", "0.00", "2", "decimals", "exact"]
    assert lines[3].split() == ["far", "off", "9.81", "20.0", "10.0", "±5", "%", "NOT", "reproduced"]
    assert lines[4].split() == ["a", "ratio", "1.7", "to", "2.7", "2.0", "0.0", "±0.5", "inside"]
    assert lines[7].split() == ["left", "out", "2.3", "not", "simulated"]
    assert lines[8] == "  A word of caution."
    assert lines[-1] == "1 exact, 1 inside, 1 shape, 2 NOT reproduced, 1 not simulated"


def test_the_rows_are_json_with_null_for_what_was_not_found(rows):
    read = json.loads(as_json(rows))
    assert [row["what"] for row in read] == [claim.what for claim in FIGURE.claims]
    assert read[0]["ours"] == [7.0, 7.0, 7.0]
    assert read[4]["ours"] == [None, None, None]


def test_a_number_that_the_ledger_lacks_is_named_before_anything_runs():
    def never(seed):
        raise AssertionError("it ran")

    claim = Claim("a", Exact(2), ("no-such-number",), jobs=(Job(never, ()),))
    with pytest.raises(UnknownNumber, match="no-such-number"):
        compare([Figure("Figure 0", "None.", (claim,))], n_jobs=1)


def test_a_job_of_two_claims_runs_once():
    calls = []

    def counted(seed):
        calls.append(seed)
        return 7.0

    job = Job(counted, ())
    claims = tuple(Claim(name, Exact(2), ("orca-max-batched",), jobs=(job,)) for name in "ab")
    rows = compare([Figure("Figure 0", "None.", claims)], seeds=(4, 5), n_jobs=1)
    assert calls == [4, 5]
    assert [row.verdict for row in rows] == ["exact", "exact"]
