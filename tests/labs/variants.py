"""Other answers to the exercises of a lab, answers/NN-name.md here, or of a chapter: a code cell of MyST text for each.

other, ex:NAME                  a right answer, written differently from the model
wrong, ex:NAME, with `says`     a wrong one, and a part of what the check has to say about it
"""

from pathlib import Path
from typing import NamedTuple

import jupytext

ANSWERS = Path(__file__).parent / "answers"


class Variant(NamedTuple):
    """An answer to an exercise; `says` is "" for a right one. `name` is its place: NAME-other-1, NAME-wrong-2."""

    name: str
    exercise: str
    source: str
    says: str


def variants(lab: str, folder: Path = ANSWERS) -> list[Variant]:
    """Those of the lab NN-name, in order; none if there is no file of them in `folder`."""
    path = folder / f"{lab}.md"
    if not path.exists():
        return []
    found: list[Variant] = []
    for cell in jupytext.reads(path.read_text(encoding="utf-8"), fmt="md:myst").cells:
        if cell.cell_type != "code":
            continue
        [exercise] = [tag.removeprefix("ex:") for tag in cell.metadata["tags"] if tag.startswith("ex:")]
        [kind] = [tag for tag in cell.metadata["tags"] if tag in ("other", "wrong")]
        says = cell.metadata.get("says", "")
        assert bool(says) == (kind == "wrong"), f"{path}: {exercise}: a wrong answer, and no other, has `says`"
        number = 1 + sum(each.name.startswith(f"{exercise}-{kind}-") for each in found)
        found.append(Variant(f"{exercise}-{kind}-{number}", exercise, cell.source, says))
    return found
