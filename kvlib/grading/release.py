"""`kvlib release`: the folder that learners get, the same bytes each time, and nobody's work overwritten.

`.released` in it has a line for each file that was ever released there, so that another one is known to be somebody's.
"""

import hashlib
from pathlib import Path
from typing import NamedTuple

from kvlib.errors import BadInput, BadLab
from kvlib.grading.given_away import given_away
from kvlib.grading.labs import Lab, read_labs
from kvlib.grading.notebooks import learners
from kvlib.grading.whole_file import write_whole

TUTOR = "AGENTS.md"
RECORD = ".released"

_README = """# The labs

Each notebook is a lab. Open it in JupyterLab or on Colab, and run its cells from the top. The first cell says where it
runs, and installs what is missing.

An answer cell holds a line that raises NotImplementedError. Write your answer in place of that line. The cell below
checks it, and says in words what is not right yet. Hints unfold.

You may add cells, and run them in any order. Only the answer cells are graded: what an answer needs stands in its cell,
or in a cell that was given. An answer imports nothing from kvlib; the given cells do that.

Save the notebook under the name it has, and hand in the file. Neither its stored outputs nor its check cells count:
your answers are run again, with other numbers.

| lab | exercises | points |
| --- | --- | --- |
{rows}
"""


class Release(NamedTuple):
    """A folder, and the names of the files in it that were written, and of those that had the same bytes before."""

    folder: Path
    written: list[str]
    unchanged: list[str]


def release(labs: Path, out: Path) -> Release:
    """Write what learners get of the labs in the folder `labs` into the folder `out`: notebooks, README, AGENTS.md.

    Raises BadLab for a lab that would give a solution away, and BadInput where a file in `out` is not as a release left
    it; nothing is written then. OSError where `out` cannot be written.
    """
    if out.resolve() == labs.resolve():
        raise BadInput(f"{out} is the folder of the labs themselves; release into another one")
    known = read_labs(labs).values()
    texts = {f"{lab.name}.ipynb": _checked(lab).encode() for lab in known}
    texts["README.md"] = _README.format(rows="\n".join(map(_row, known))).encode()
    if (labs / TUTOR).is_file():
        texts[TUTOR] = (labs / TUTOR).read_bytes()
    old = {name: (out / name).read_bytes() for name in texts if (out / name).exists()}
    record = set((out / RECORD).read_text(encoding="utf-8").splitlines()) if (out / RECORD).exists() else set()
    written = [name for name, text in texts.items() if old.get(name) != text]
    changed = [str(out / name) for name in written if name in old and _line(name, old[name]) not in record]
    if changed:
        raise BadInput(
            f"not as a release left it, so perhaps somebody's work: {', '.join(changed)}. Nothing was written; move "
            f"what you want to keep to another place, or release into another folder. The file {RECORD} tells what "
            "releases wrote; without it every notebook that differs counts as work"
        )
    out.mkdir(parents=True, exist_ok=True)
    record |= {_line(name, text) for name, text in texts.items()}
    write_whole(out / RECORD, "".join(f"{line}\n" for line in sorted(record)))
    for name in written:
        write_whole(out / name, texts[name].decode())
    return Release(out, written, [name for name in texts if name not in written])


def as_text(done: Release) -> str:
    """What was written, in lines."""
    lines = [f"wrote {done.folder / name}" for name in done.written]
    return "\n".join([*lines, f"{len(done.unchanged)} as they were"] if done.unchanged else lines)


def _checked(lab: Lab) -> str:
    notebook = learners(lab)
    line = given_away(lab, notebook)
    if line:
        raise BadLab(
            f"{lab.name}: the learner's notebook would hold {line!r}, a line of a solution or of a hidden cell; take "
            "it out of the cell with tags where it stands, or give it to all in a text or a cell without tags"
        )
    return notebook


def _line(name: str, content: bytes) -> str:
    return f"{hashlib.sha256(content).hexdigest()}  {name}"


def _row(lab: Lab) -> str:
    points = sum(map(lab.points, lab.exercises))
    return f"| [{lab.name}]({lab.name}.ipynb) | {', '.join(lab.exercises)} | {points} |"
