"""The book's simulated numbers are what `kvlib simulate --paper` gives: one run of all of it, about a minute."""

import pytest

from kvlib.bench.comparison import compare
from kvlib.bench.paper import figures
from kvlib.ledger import load

SIMULATED = {id: each for id, each in load().items() if each.where.startswith("kvlib simulate --paper")}


@pytest.fixture(scope="module")
def rows():
    return compare(figures())


def test_every_simulated_number_is_what_the_simulation_gives_and_each_is_in_the_ledger(rows):
    found = {row.id: row for row in rows if row.id}
    assert found.keys() == SIMULATED.keys()
    off = {
        id: f"the ledger says {SIMULATED[id].value}, the simulation {row.mean:.4f}"
        for id, row in found.items()
        if abs(row.mean - SIMULATED[id].value) > 10**-row.digits  # other machines' logarithms may differ in a last bit
    }
    assert off == {}


def test_the_ledger_says_beside_each_how_near_it_had_to_be_and_was(rows):
    off = {row.id: row.judgement for row in rows if row.id and SIMULATED[row.id].note != row.judgement}
    assert off == {}


def test_the_four_memories_run_more_requests_one_after_another_strictly(rows):
    running = [row.mean for row in rows if row.figure.startswith("Figure 13a") and row.id]
    assert len(running) == 4
    assert running == sorted(set(running))


def test_what_is_exact_is_exact(rows):
    exact = {row.id for row in rows if row.verdict == "exact"}
    batched = {"sim-orca-max-batched", "sim-orca-max-batched-r", "sim-orca-max-batched-alpaca"}
    assert exact == {"sim-orca-max-external", *batched}
