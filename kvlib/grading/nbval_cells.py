"""What became of each cell that nbval ran: a line of JSON for each."""

import json
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any, TextIO

import nbval.plugin
import pytest

from kvlib.grading.nbval_kernel import Bounds, BrokeOff, WatchedKernel

LONGEST_ERROR = 300  # characters


class Recorder:
    """A pytest plugin that writes what became of each cell of the notebook, which it deletes before the first runs."""

    def __init__(self, results: TextIO, notebook: Path) -> None:
        self._results = results
        self._notebook = notebook

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Leave the expected texts in this process alone; take no orders from comments; do not compare stderr."""
        self._notebook.unlink()
        items: list[Any] = session.items
        for file in {item.parent for item in items}:
            file.skip_compare += ("stderr",)
        for item in items:
            item.options.update(skip=False, check_exception=False)
            item.format_output_compare = _say_nothing

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: pytest.CallInfo) -> Generator[None, pytest.TestReport, Any]:
        """Write a line when the kernel has started, and one for each cell that has run."""
        report = yield
        if call.when == "setup" and report.passed:
            self._write({"started": True})
        elif call.when == "call":
            raised = call.excinfo.value if call.excinfo else None
            broke_off = raised if isinstance(raised, BrokeOff) else None
            self._write(
                {
                    "cell": item.cell.id,
                    "outcome": broke_off.outcome if broke_off else "passed" if report.outcome == "passed" else "failed",
                    "printed": item.parent.kernel.printed,
                    "error": "" if broke_off else _error(item.test_outputs or (), raised),
                    "broke_off": str(broke_off or ""),
                }
            )
            if broke_off:
                item.session.shouldstop = str(broke_off)
        return report

    def _write(self, line: dict[str, Any]) -> None:
        print(json.dumps(line), file=self._results, flush=True)


def use(bounds: Bounds) -> None:
    """From now on nbval's kernels are watched, with these bounds."""
    WatchedKernel.bounds = bounds
    nbval.plugin.RunningKernel = WatchedKernel


def _say_nothing(*_: object) -> None:
    """In place of nbval's words for a difference, which nobody reads and which take long for long texts."""


def _error(outputs: Any, raised: BaseException | None) -> str:
    """What a cell raised, in one line; "" if it raised nothing."""
    errors = [output for output in outputs if output.output_type == "error"]
    if errors:
        text = f"{errors[-1].ename}: {errors[-1].evalue}".removesuffix(": ")
    elif raised is None or isinstance(raised, nbval.plugin.NbCellError):
        return ""
    else:
        text = f"its messages cannot be read: {raised}"
    line = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", text).split())
    return line if len(line) <= LONGEST_ERROR else f"{line[:LONGEST_ERROR]}..."
