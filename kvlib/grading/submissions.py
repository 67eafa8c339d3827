"""Which files were handed in, by whom and for which lab: folders of students, or files with both in their names."""

import hashlib
import os
import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from kvlib.errors import BadInput
from kvlib.grading.answers import lab_by_answers
from kvlib.grading.judge import clean
from kvlib.grading.labs import Lab
from kvlib.grading.submitted import Notebook, Unusable, parse, read_bytes

SUFFIX = ".ipynb"
MOODLES = r"_assignsubmission_[a-z]+_?$"
LEFT_BY_A_PROGRAM = (".", "__MACOSX", "Thumbs.db", "desktop.ini")


@dataclass(frozen=True, eq=False)
class Submission:
    """A file that `student` handed in. lab: "" where nothing tells it. problem: why it cannot be graded, or ""."""

    student: str
    file: str
    lab: str
    sha256: str
    notebook: Notebook
    problem: str


class Collected(NamedTuple):
    """All that was handed in, in order, all students, also those without a notebook, and files that are nobody's."""

    submissions: list[Submission]
    students: list[str]
    strays: Sequence[str] = ()


def collect(folder: Path, labs: dict[str, Lab]) -> Collected:
    """What is in `folder`. Raises BadInput if that is no folder, or nothing is in it."""
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder; give the one that holds what was handed in")
    owners, strays = _owners(folder, labs)
    others = [_shown(str(path.relative_to(folder))) for path in strays]
    if not owners:
        only = f", only {clean(', '.join(others))}" if others else ""
        raise BadInput(f"{folder} holds no folder of a student and no notebook{only}; give the one with them, unpacked")
    submissions = [_opened(student, path, folder, labs) for student, paths in owners.items() for path in paths]
    submissions.sort(key=lambda each: (each.student, each.lab, each.file))
    return Collected(submissions, sorted(owners), others)


def _owners(folder: Path, labs: Collection[str]) -> tuple[dict[str, list[Path]], list[Path]]:
    """The notebooks of each student, and other files. A folder with the name of a lab holds students, as `folder` does.

    A file that is no notebook and has the name of a lab in its own is somebody's all the same.
    """
    owners: dict[str, list[Path]] = {}
    strays = []
    for root in _roots(folder, labs):
        for path in _entries(root):
            if path.name in labs and _is_folder(path):
                continue
            is_notebook = path.suffix.lower() == SUFFIX and not _is_folder(path)
            if path.is_dir() and not is_notebook:
                owners.setdefault(_of_folder(path.name), []).extend(_notebooks(path))
            elif is_notebook or _named(path.stem, labs):
                owners.setdefault(_of_file(path.stem, labs) or _shown(folder.resolve().name), []).append(path)
            else:
                strays.append(path)
    return owners, strays


def _roots(folder: Path, labs: Collection[str]) -> list[Path]:
    inner = (path for path in _entries(folder) if _is_folder(path) and path.name in labs)
    return [folder, *(root for path in inner for root in _roots(path, labs))]


def _entries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.startswith(LEFT_BY_A_PROGRAM))


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _notebooks(path: Path) -> list[Path]:
    """The notebooks in a student's folder and below it, and the links in place of folders, which are not followed.

    If there is none of them, what else lies there.
    """
    if path.is_symlink():
        return [path]
    found: list[Path] = []
    others: list[Path] = []
    for folder, folders, files in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith(LEFT_BY_A_PROGRAM)]
        found += [Path(folder, name) for name in folders if Path(folder, name).is_symlink()]
        for name in files:
            if not name.startswith(LEFT_BY_A_PROGRAM):
                (found if name.lower().endswith(SUFFIX) else others).append(Path(folder, name))
    return found or sorted(others)


def _of_folder(name: str) -> str:
    """Moodle adds what a folder is for."""
    return _shown(re.sub(MOODLES, "", name))


def _of_file(stem: str, labs: Collection[str]) -> str:
    """Who handed in a file of this name: what stands before the name of the lab, or else after it; it may be "".

    Canvas writes NAME_LATE_12_345_FILE-1 where 12 is the student and 345 the file; browsers add (1) to a second copy.
    """
    stem = re.sub(rf"\{SUFFIX}$", "", stem, flags=re.IGNORECASE)  # of a notebook that was made a .txt
    lab = _named(stem, labs)
    at = stem.lower().rindex(lab) if lab else len(stem)
    before = re.sub(r"^(.+?)(?:_LATE)?(_\d+)_\d+_.*$", r"\1\2", stem[:at])
    after = re.sub(r"(?: ?\(\d+\)|-\d+)$", "", stem[at + len(lab) :])
    return _of_folder(before.strip(" _-.") or after.strip(" _-."))


def _named(text: str, labs: Collection[str]) -> str:
    """The lab whose name stands last in `text`, or ""."""
    return max((lab for lab in labs if lab in text.lower()), key=text.lower().rindex, default="")


def _opened(student: str, path: Path, folder: Path, labs: dict[str, Lab]) -> Submission:
    file = _shown(str(path.relative_to(folder)))
    sha256, notebook, problem = "", Notebook([], ""), ""
    try:
        if path.suffix.lower() != SUFFIX and not path.is_symlink():
            raise Unusable(f"is no notebook, whose name ends in {SUFFIX}; hand in the notebook itself")
        content = read_bytes(path)
        sha256, notebook = hashlib.sha256(content).hexdigest(), parse(content)
    except Unusable as error:
        problem = str(error)
    lab = notebook.lab if notebook.lab in labs else _named(file, labs)
    lab = lab or lab_by_answers(notebook, list(labs.values())) or (_only(labs) if problem else "")
    problem = problem or ("" if lab else "is of no known lab: its metadata, its name and its cells do not tell which")
    return Submission(student, file, lab, sha256, notebook, problem)


def _only(labs: Collection[str]) -> str:
    return next(iter(labs)) if len(labs) == 1 else ""


def _shown(name: str) -> str:
    """A file's name as text that can be written anywhere, the same on every system."""
    return unicodedata.normalize("NFC", os.fsencode(name).decode("utf-8", "backslashreplace"))
