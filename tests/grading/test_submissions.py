import os

import pytest

from kvlib.errors import BadInput
from kvlib.grading.labs import read_labs
from kvlib.grading.submissions import collect
from kvlib.grading.submitted import LARGEST

from .small_lab import NAME, TEXT, folder_of_labs, handed_in, save

OTHER = "02-more-sums"


@pytest.fixture
def labs(tmp_path):
    folder = folder_of_labs(tmp_path / "labs")
    return read_labs(folder_of_labs(folder, TEXT.replace("total", "whole").replace("mean", "middle"), OTHER))


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "handed in"


def collected(folder, labs):
    return [(each.student, each.lab, each.problem) for each in collect(folder, labs).submissions]


def without_names(notebook):
    """As a program leaves it that keeps neither metadata nor ids nor tags."""
    for cell in notebook["cells"]:
        cell.pop("id")
        cell["metadata"] = {}
    return {**notebook, "metadata": {}}


@pytest.mark.parametrize(
    ("file", "student"),
    [
        (f"ada/{NAME}.ipynb", "ada"),
        (f"ada/{NAME}/{NAME}.ipynb", "ada"),
        ("ada/Untitled 3.ipynb", "ada"),
        (f"Ada Lovelace_123_assignsubmission_file_/{NAME}.ipynb", "Ada Lovelace_123"),
        (f"Ada Lovelace_123_assignsubmission_onlinetext/{NAME}.ipynb", "Ada Lovelace_123"),
        (f"Ada Lovelace_123_assignsubmission_file_{NAME}.ipynb", "Ada Lovelace_123"),
        (f"ada_{NAME}.ipynb", "ada"),
        (f"{NAME}_ada.ipynb", "ada"),
        (f"ada - {NAME} (1).IPYNB", "ada"),
        (f"lovelaceada_LATE_12_345_{NAME}-1.ipynb", "lovelaceada_12"),
        (f"lovelaceada_12_345_{NAME}.ipynb", "lovelaceada_12"),
        ("lovelaceada_LATE_12_345_my-lab.ipynb", "lovelaceada_12"),
        (f"{NAME}/ada/x.ipynb", "ada"),
        (f"{NAME}/ada.ipynb", "ada"),
        (f"{NAME}/{NAME}/ada/x.ipynb", "ada"),
        (f"ada_{NAME.upper()}.ipynb", "ada"),
        (f"{NAME}.ipynb", "handed in"),
        (f"李, \"x\" = '1'\n/{NAME}.ipynb", "李, \"x\" = '1'\n"),
        (f"=1+1/{NAME}.ipynb", "=1+1"),
        (f"Ame\u0301lie/{NAME}.ipynb", "Am\u00e9lie"),
    ],
)
def test_whose_a_file_is(folder, labs, file, student):
    save(folder / file, handed_in(labs[NAME]))
    assert collected(folder, labs) == [(student, NAME, "")]


@pytest.mark.parametrize("lab", [NAME, OTHER])
def test_the_lab_is_known_by_metadata_then_by_name_then_by_answers(folder, labs, lab):
    other = OTHER if lab == NAME else NAME
    save(folder / "a" / f"{other}.ipynb", handed_in(labs[lab]))
    save(folder / "b" / f"{lab}.ipynb", without_names(handed_in(labs[other])))
    save(folder / "c" / "x.ipynb", without_names(handed_in(labs[lab])))
    assert [found for _, found, _ in collected(folder, labs)] == [lab] * 3


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty"),
        (b"{", "is not readable as a notebook: Expecting"),
        (b"\xff\xfe\x00", "is not readable as a notebook: 'utf-8' codec"),
        (b"[" * 100_000, "is not readable as a notebook: maximum recursion"),
        (b'{"nbformat": ' + b"9" * 5000 + b"}", "is not readable as a notebook: Exceeds the limit"),
        (b"[1, 2]", "is not a notebook: it has no cells"),
        (b'{"a": 1}', "is not a notebook: it has no cells"),
        (b'{"worksheets": [], "nbformat": 3}', "is a notebook of format 3; open it in JupyterLab, save it"),
        (b'{"cells": NaN, "nbformat": 4}', "is not a notebook: its cells are no list"),
        (b'{"cells": [], "nbformat": "4"}', "has no code cell"),
        (b'{"cells": [], "nbformat": 4}', "has no code cell"),
        (b'{"cells": [1, null, {"cell_type": "markdown"}], "nbformat": 4}', "has no code cell"),
        (b" " * (LARGEST + 1), "is larger than 5 MB"),
        (
            b'{"nbformat": 4, "cells": [' + b'{"cell_type": "code"}, ' * 1000 + b'{"cell_type": "code"}]}',
            "has 1,001 code",
        ),
    ],
)
def test_a_file_that_cannot_be_graded_is_kept_with_the_reason(folder, labs, content, problem):
    save(folder / "ada" / f"{NAME}.ipynb", content)
    [(student, lab, said)] = collected(folder, labs)
    assert (student, lab) == ("ada", NAME)
    assert said.startswith(problem)


def test_a_notebook_that_no_lab_knows_is_kept_with_the_reason(folder, labs):
    cell = {"cell_type": "code", "source": "1", "metadata": None, "id": 3}
    save(folder / "ada" / "x.ipynb", {"cells": [cell], "nbformat": 4})
    [(student, lab, problem)] = collected(folder, labs)
    assert (student, lab) == ("ada", "")
    assert problem.startswith("is of no known lab")


def test_an_unreadable_file_of_no_name_is_of_the_one_lab_that_there_is(folder, labs):
    save(folder / "ada" / "x.ipynb", b"{")
    assert collected(folder, {NAME: labs[NAME]})[0][:2] == ("ada", NAME)
    assert collected(folder, labs)[0][:2] == ("ada", "")


def test_links_are_not_followed(folder, labs, tmp_path):
    elsewhere = save(tmp_path / "elsewhere" / f"{NAME}.ipynb", handed_in(labs[NAME]))
    (folder / "ada").mkdir(parents=True)
    (folder / "ada" / f"{NAME}.ipynb").symlink_to(elsewhere)
    (folder / "bob").symlink_to(elsewhere.parent)
    (folder / f"cy_{NAME}.ipynb").symlink_to(elsewhere)
    (folder / "di").mkdir()
    (folder / "di" / "more").symlink_to(elsewhere.parent)
    found = {student: problem for student, _, problem in collected(folder, labs)}
    assert set(found) == {"ada", "bob", "cy", "di"}
    assert all(problem.startswith("is a link to another place") for problem in found.values())


def test_a_pipe_in_place_of_a_file_is_not_waited_for(folder, labs):
    (folder / "ada").mkdir(parents=True)
    os.mkfifo(folder / "ada" / f"{NAME}.ipynb")
    assert collected(folder, labs) == [("ada", NAME, "is not a file")]


def test_what_programs_leave_behind_is_no_submission(folder, labs):
    save(folder / "ada" / f"{NAME}.ipynb", handed_in(labs[NAME]))
    for left in (
        f"ada/.ipynb_checkpoints/{NAME}-checkpoint.ipynb",
        f"__MACOSX/ada/._{NAME}.ipynb",
        ".DS_Store",
        "bob/Thumbs.db",
    ):
        save(folder / left, b"x")
    assert collected(folder, labs) == [("ada", NAME, "")]


def test_a_student_without_a_notebook_is_still_a_student(folder, labs):
    save(folder / "ada" / f"{NAME}.ipynb", handed_in(labs[NAME]))
    save(folder / "ada" / "notes.txt", b"42")
    (folder / "bob").mkdir()
    found = collect(folder, labs)
    assert found.students == ["ada", "bob"]
    assert [each.file for each in found.submissions] == [f"ada/{NAME}.ipynb"]


@pytest.mark.parametrize("file", [f"bob/{NAME}.zip", f"bob/work/{NAME}.py", f"bob_{NAME}.zip", f"{NAME}_bob.ipynb.txt"])
def test_what_somebody_handed_in_that_is_no_notebook_is_kept_with_the_reason(folder, labs, file):
    save(folder / file, b"42")
    [(student, lab, problem)] = collected(folder, labs)
    assert (student, lab) == ("bob", NAME)
    assert problem.startswith("is no notebook, whose name ends in .ipynb")


def test_a_file_that_is_nobodys_is_named(folder, labs):
    save(folder / "ada" / f"{NAME}.ipynb", handed_in(labs[NAME]))
    save(folder / "readme.txt", b"42")
    (folder / "broken").symlink_to("/nowhere")
    found = collect(folder, labs)
    assert (found.students, found.strays) == (["ada"], ["broken", "readme.txt"])


def test_all_files_of_a_student_are_found(folder, labs):
    for file in (f"ada/{NAME}.ipynb", f"ada/late/{NAME}.ipynb", f"ada_{OTHER}.ipynb"):
        save(folder / file, handed_in(labs[OTHER if OTHER in file else NAME]))
    found = collect(folder, labs)
    assert found.students == ["ada"]
    assert [(each.lab, each.file) for each in found.submissions] == [
        (NAME, f"ada/{NAME}.ipynb"),
        (NAME, f"ada/late/{NAME}.ipynb"),
        (OTHER, f"ada_{OTHER}.ipynb"),
    ]


def test_a_file_name_that_is_no_text_is_shown_byte_by_byte(folder, labs):
    path = os.fsencode(folder) + b"/a\xff"
    os.makedirs(path)
    assert collect(folder, labs).students == ["a\\xff"]


@pytest.mark.parametrize("made", [False, True])
def test_a_folder_without_submissions_is_refused(folder, labs, made):
    if made:
        folder.mkdir()
    with pytest.raises(BadInput, match="give the one"):
        collect(folder, labs)


def test_a_folder_with_nothing_but_an_archive_is_refused_by_its_name(folder, labs):
    save(folder / "week 1.zip", b"42")
    with pytest.raises(BadInput, match=r"no notebook, only week 1\.zip; give the one with them, unpacked"):
        collect(folder, labs)
