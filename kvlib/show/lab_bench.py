"""The lab bench as a widget: two levers, a run in the machine, three readings."""

import json
from pathlib import Path
from typing import Any

import traitlets

from kvlib.serving.lab_bench import ALLOCATIONS, NUMS_SEQUENCES, Run, run
from kvlib.show.widget import Widget

POSITIONS = {f"{allocation}-{number}": (allocation, number) for allocation in ALLOCATIONS for number in NUMS_SEQUENCES}


class LabBench(Widget):
    """The bench of chapter 14 (`kvlib.serving.lab_bench`), of the book's seed, to be set and run by the reader.

    `readings` has each position of the levers, such as "4-24": most sequences at once, slots with tokens and slots
    held, both summed over the rounds, and rounds. The events of a run come when it is run: from the kernel, or in the
    book from a file of `runs()`.
    """

    name = "bench"

    allocations = traitlets.List([str(allocation) for allocation in ALLOCATIONS]).tag(sync=True)
    numbers = traitlets.List(list(NUMS_SEQUENCES)).tag(sync=True)
    readings = traitlets.Dict().tag(sync=True)
    live = traitlets.Bool(True).tag(sync=True)

    def __init__(self) -> None:
        super().__init__(readings={name: summary(run(*position)) for name, position in POSITIONS.items()})
        self._in_the_page: dict[str, Any] = {}
        self.on_msg(self._answer)

    @property
    def own_traits(self) -> dict[str, Any]:
        """As Widget.own_traits, for where no kernel answers."""
        return {**super().own_traits, "live": False, "runs": self._in_the_page}

    def save(self, path: str | Path, title: str = "") -> None:
        """As Widget.save, with the events of every run in the file."""
        self._in_the_page = {name: _data(name) for name in POSITIONS}
        try:
            super().save(path, title)
        finally:
            self._in_the_page = {}

    @property
    def title(self) -> str:
        """What stands at the head of a page of its own."""
        return "The lab bench"

    def in_words(self) -> str:
        """What the bench is, for where it cannot be shown."""
        sizes, numbers = ", ".join(self.allocations[:-1]), ", ".join(map(str, self.numbers))
        return (
            f"The lab bench. One lever sets how many tokens a block holds: {sizes}, or that there are no blocks, and "
            f"each sequence has a row for the longest. The other sets how many sequences come: {numbers}. A run is "
            "read in three numbers: most sequences at once, share of the held slots that hold tokens, rounds."
        )

    def _answer(self, _: object, message: dict, buffers: object) -> None:
        """Send the events of the run that the front end asks for by its name."""
        name = message.get("run")
        if name in self.readings:
            self.send({"run": name, "data": _data(name)})


def runs() -> dict[str, str]:
    """The files that a page without a kernel loads, by name: each a classic script with the events of one run."""
    files = {}
    for name in POSITIONS:
        data = json.dumps(_data(name), separators=(",", ":"), ensure_ascii=False)
        files[f"{name}.js"] = f"(globalThis.kvRuns ??= {{}})[{name!r}] = {data};\n"
    return files


def summary(done: Run) -> list[int]:
    """The most sequences at once, the sums over all rounds of slots with tokens and of slots held, and the rounds."""
    return [done.most_at_once, done.num_stored, done.num_held, done.num_rounds]


def _data(name: str) -> dict[str, Any]:
    return json.loads(run(*POSITIONS[name]).to_json())
