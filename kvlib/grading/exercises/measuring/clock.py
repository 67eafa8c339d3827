"""The check of a stopwatch: a clock and work whose times are settled beforehand."""

from collections.abc import Iterator
from typing import Any

from kvlib.chance import Chance
from kvlib.grading.exercise import Seen, Wrong, check_callable
from kvlib.shown import shown

TICK_S = 1 / 64  # sums and differences of it are exact in a float


def timed(answer: Any, chance: Chance) -> Iterator[Seen]:
    """Runs of `work` under a clock that only they move on, so that every number is known beforehand."""
    check_callable(answer, "work", "clock", "repeats")
    repeats = 3 + chance.below(6)
    lasting = [TICK_S * (1 + chance.below(500)) for _ in range(3 * repeats)]
    start = now = TICK_S * chance.below(10**6)
    num_runs = 0

    def work() -> None:
        nonlocal now, num_runs
        if num_runs == len(lasting):
            raise Wrong(f"With repeats={repeats}, work is called {num_runs} times and more.")
        now += lasting[num_runs]
        num_runs += 1

    given = answer(work=work, clock=lambda: now, repeats=repeats)
    if not hasattr(given, "__iter__") or isinstance(given, str | bytes | dict):
        raise Wrong(f"It gives {shown(given)}; give a list of seconds, one for each run that counts.")
    found, told = list(given), ", ".join(f"{each:g}" for each in lasting[: repeats + 1])
    said = f"Runs took {told} seconds, and with repeats={repeats} you give {shown(found)}."
    yield Seen(
        "work is done once before the clock counts, and then so often", [num_runs, repeats], _runs(num_runs, repeats)
    )
    fault = (
        "" if found == lasting[1 : repeats + 1] else f"{said} {_misread(found, lasting[: repeats + 1], start)}".strip()
    )
    yield Seen("each number is the time of one run", found, fault)


def _runs(num_runs: int, repeats: int) -> str:
    if num_runs == repeats + 1:
        return ""
    why = " The first run warms up, and is one more." if num_runs == repeats else ""
    return f"With repeats={repeats}, work has to be called {repeats + 1} times, and is called {num_runs} times.{why}"


def _misread(found: list[Any], lasting: list[float], start: float) -> str:
    """The mistake in `found`, of runs that took `lasting` from `start` on, as a sentence; "" if it is not known."""
    ends = [start + sum(lasting[: place + 1]) for place in range(len(lasting))]
    known = {
        "The first run is counted, which warms up.": lasting,
        "The first run is counted, which warms up, and the last is not.": lasting[:-1],
        "The clock is read once before all runs: each number has the runs before it, too.": [
            end - ends[0] for end in ends[1:]
        ],
        "Those are times of day: take the clock's reading before a run from the one after it.": ends[1:],
        "That is a mean, and each run has a number of its own.": [sum(lasting[1:]) / (len(lasting) - 1)],
        "That is the sum, and each run has a number of its own.": [sum(lasting[1:])],
        "It is upside down: take the reading before from the one after.": [-each for each in lasting[1:]],
        "They are sorted; keep the order of the runs.": sorted(lasting[1:]),
    }
    return next((words for words, numbers in known.items() if found == numbers), "")
