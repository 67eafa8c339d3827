"""From what a run printed to a mark in words: which law is broken first, or why nothing could be seen."""

import re
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import NamedTuple

from kvlib.grading.run import Ran

STOPPED = "stopped: "
UNWRITTEN = "stopped: Nothing is written yet"
MORE = "its values are right, and yet something else was shown"
LONGEST = 300  # characters of a reason, and of each value in a report
LONGEST_SAID = 2_000  # characters of what a check says


class Broken(NamedTuple):
    """A law, and the values of the model answer and of this one; `theirs` is "" where it was not reached."""

    law: str
    expected: str
    theirs: str


class Result(NamedTuple):
    """What came out for an exercise of one file. said: words of the check. note: how the answer was found, and run."""

    is_right: bool
    reason: str
    broken: tuple[Broken, ...] = ()
    said: str = ""
    note: str = ""


def judge(ran: Ran, expected: Mapping[str, str], answer: str, checks: list[str]) -> Result:
    """The result of a run. expected: what hidden cells print, by id; answer, checks: the ids of these cells."""
    said = "\n".join(ran.cells[name].printed.strip() for name in checks if name in ran.cells)
    if all(name in ran.cells and ran.cells[name].outcome == "passed" for name in expected):
        return Result(True, "right", said=_cut(said, LONGEST_SAID))
    first: dict[str, Broken] = {}
    for name, text in expected.items():
        for each in _broken(text, _printed(ran, name)):
            first.setdefault(each.law, each)
    broken = tuple(first.values())
    return Result(False, clean(_reason(ran, expected, answer, broken)), broken, _cut(said, LONGEST_SAID))


def clean(text: str) -> str:
    """One line of at most LONGEST characters, that can be written anywhere, without addresses of objects in memory."""
    line = re.sub(r"\b0x[0-9a-f]{6,}", "0x...", " ".join(printable(text).split()))
    return _cut(line.rstrip(" :"), LONGEST)


def printable(text: str) -> str:
    """`text` without colours of a terminal and with no character that XML cannot hold."""
    text = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text)
    return re.sub("[^\t\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "�", text)


def _reason(ran: Ran, expected: Mapping[str, str], answer: str, broken: tuple[Broken, ...]) -> str:
    """The first that holds: it broke off, nothing is written, a law is broken, a probe stopped, a cell raised."""
    lines = [line for name in expected for line in _printed(ran, name).splitlines()]
    stop = next((line for line in lines if line.startswith(STOPPED)), "")
    errors = [ran.cells[name].error for name in (answer, *expected) if name in ran.cells and ran.cells[name].error]
    if ran.broke_off:
        return ran.broke_off
    if stop.startswith(UNWRITTEN):
        return f"not finished: {stop.removeprefix(STOPPED)}"
    if broken and broken[0].theirs and not broken[0].theirs.startswith(STOPPED):
        more = f", and {len(broken) - 1} more" if len(broken) > 1 else ""
        return f"wrong: broke '{broken[0].law}'{more}"
    if stop or errors:
        return stop or f"{STOPPED}{errors[0]}"
    return "wrong: nothing is printed" if broken else MORE


def _broken(expected: str, theirs: str) -> Iterator[Broken]:
    """The laws of the lines that differ, up to the line where it stopped; what comes after was not seen."""
    lines = theirs.splitlines()
    for ours, line in zip_longest(expected.splitlines(), lines[: expected.count("\n") + 1], fillvalue=""):
        if ours != line:
            law, _, value = ours.partition(": ")
            got = line.removeprefix(f"{law}: ")
            yield Broken(law or "nothing more is printed", _cut(value, LONGEST), _cut(got, LONGEST))
        if line.startswith(STOPPED):
            return


def _printed(ran: Ran, name: str) -> str:
    return printable(ran.cells[name].printed).strip("\n") if name in ran.cells else ""


def _cut(text: str, longest: int) -> str:
    text = printable(text)
    return text if len(text) <= longest else f"{text[: longest - 3]}..."
