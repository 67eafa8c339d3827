"""A run of a notebook without a kernel: its cells are executed here, one after another, and compared as by nbval."""

import json
from functools import partial
from io import StringIO

from kvlib.grading.notebooks import COMPARED
from kvlib.grading.run import CellRun, Ran

ENDLESS = "while True: pass"


class StandIn:
    """Called with a notebook, runs it; `notebooks` are those it was called with. A cell with ENDLESS breaks off."""

    def __init__(self) -> None:
        self.notebooks: list[dict] = []

    def __call__(self, notebook: str) -> Ran:
        parsed = json.loads(notebook)
        self.notebooks.append(parsed)
        cells: dict[str, CellRun] = {}
        namespace = {"__name__": "__main__"}
        broke_off = ""
        for cell in parsed["cells"]:
            broke_off = broke_off or ("no end after 20 s" if ENDLESS in cell["source"] else "")
            cells[cell["id"]] = CellRun("not run", "", "") if broke_off else _run(cell, namespace)
        return Ran(cells, broke_off)


def _run(cell: dict, namespace: dict) -> CellRun:
    printed, error = StringIO(), ""
    namespace["print"] = partial(print, file=printed)
    try:
        exec(cell["source"], namespace)
    except (Exception, SystemExit) as raised:
        error = f"{type(raised).__name__}: {raised}"
    expected = "".join(output["text"] for output in cell["outputs"])
    is_compared = COMPARED in cell["metadata"].get("tags", ())
    differs = is_compared and printed.getvalue() != expected
    return CellRun("failed" if error or differs else "passed", printed.getvalue(), error)
