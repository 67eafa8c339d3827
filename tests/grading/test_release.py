import json

import pytest

from kvlib.cli import main
from kvlib.errors import BadInput, BadLab
from kvlib.grading.given_away import given_away
from kvlib.grading.notebooks import as_notebook
from kvlib.grading.release import release

from .small_lab import NAME, TEXT, folder_of_labs, lab_of

NOTEBOOK = f"{NAME}.ipynb"
SOLUTION = "both = a + b"
HIDDEN = 'print(f"the sum of two numbers holds both: {total(SEED, 17)}")'


@pytest.fixture
def labs(tmp_path):
    folder = folder_of_labs(tmp_path / "labs")
    (folder / "AGENTS.md").write_text("Tutor; do not solve.\n", encoding="utf-8")
    return folder


def content_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_release_has_the_notebooks_a_readme_and_the_file_for_assistants(labs, tmp_path):
    release(labs, tmp_path / "out")
    released = content_of(tmp_path / "out")
    assert set(released) == {NOTEBOOK, "README.md", "AGENTS.md", ".released"}
    assert b"| [01-sums](01-sums.ipynb) | total, mean | 5 |" in released["README.md"]
    assert released["AGENTS.md"] == b"Tutor; do not solve.\n"


def test_every_run_gives_the_same_bytes(labs, tmp_path):
    release(labs, tmp_path / "one")
    first = content_of(tmp_path / "one")
    assert release(labs, tmp_path / "one").written == []
    release(labs, tmp_path / "two")
    assert content_of(tmp_path / "one") == content_of(tmp_path / "two") == first


def test_a_released_notebook_holds_no_solution_and_no_hidden_cell(labs, tmp_path):
    release(labs, tmp_path / "out")
    text = (tmp_path / "out" / NOTEBOOK).read_text(encoding="utf-8")
    assert not any(secret in text for secret in (SOLUTION, "return both", "SOLUTION", "SEED", "hidden"))
    outputs = [cell["outputs"] for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert ["".join(output[0]["text"])[:6] for output in outputs if output] == ["total:", "mean: "]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("### BEGIN SOLUTION\n    both", "both = a + b\n    ### BEGIN SOLUTION\n    both", SOLUTION),
        ("import math", "import math\nboth = a + b", SOLUTION),
        ('print("total: right', 'both = a + b\nprint("total: right', SOLUTION),
        ("import math", f"import math\n{HIDDEN}", HIDDEN),
    ],
)
def test_a_lab_that_would_give_a_line_away_is_refused_by_that_line(labs, tmp_path, old, new, line):
    assert old in TEXT
    folder_of_labs(labs, TEXT.replace(old, new))
    with pytest.raises(BadLab, match="the learner's notebook would hold") as raised:
        release(labs, tmp_path / "out")
    assert line in str(raised.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("What is one and one?", "Hint: `both = a + b`").replace("import math", SOLUTION),
        TEXT.replace("print(total(3, 3))", SOLUTION).replace("import math", SOLUTION),
        TEXT.replace("import math", "return both"),
    ],
)
def test_what_a_text_or_a_cell_without_tags_gives_is_no_leak_and_neither_are_two_words(labs, tmp_path, text):
    folder_of_labs(labs, text)
    release(labs, tmp_path / "out")
    assert (tmp_path / "out" / NOTEBOOK).exists()


def test_a_notebook_that_still_has_its_solution_would_be_noticed(tmp_path):
    lab = lab_of(tmp_path / "labs")
    assert given_away(lab, as_notebook(lab.cells, lab.name)) == SOLUTION


def test_a_former_release_is_replaced(labs, tmp_path):
    release(labs, tmp_path / "out")
    folder_of_labs(labs, TEXT.replace("What is one and one?", "What is two and two?"))
    assert release(labs, tmp_path / "out").written == [NOTEBOOK]
    assert b"two and two" in (tmp_path / "out" / NOTEBOOK).read_bytes()


@pytest.mark.parametrize("name", [NOTEBOOK, "README.md"])
def test_somebodys_work_is_kept_and_nothing_is_written(labs, tmp_path, name):
    release(labs, tmp_path / "out")
    (tmp_path / "out" / name).write_text("my work")
    before = content_of(tmp_path / "out")
    folder_of_labs(labs, TEXT.replace("What is one and one?", "What is two and two?"))
    with pytest.raises(BadInput, match="not as a release left it") as raised:
        release(labs, tmp_path / "out")
    assert name in str(raised.value)
    assert content_of(tmp_path / "out") == before


def test_without_its_record_a_former_release_counts_as_work_and_the_error_says_so(labs, tmp_path):
    release(labs, tmp_path / "out")
    (tmp_path / "out" / ".released").unlink()
    folder_of_labs(labs, TEXT.replace("What is one and one?", "What is two and two?"))
    with pytest.raises(BadInput, match=r"or release into another folder. The file \.released tells .* without it"):
        release(labs, tmp_path / "out")


def test_a_release_into_the_folder_of_the_labs_is_refused(labs):
    with pytest.raises(BadInput, match="is the folder of the labs themselves"):
        release(labs, labs)
    assert not (labs / "README.md").exists()


def test_the_command_names_what_it_wrote(labs, tmp_path, capsys):
    assert main(["release", str(labs), "--out", str(tmp_path / "out")]) == 0
    assert f"wrote {tmp_path / 'out' / NOTEBOOK}" in capsys.readouterr().out
    assert main(["release", str(labs), "--out", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out == "3 as they were\n"


def test_the_command_says_in_a_line_what_is_wrong(tmp_path):
    with pytest.raises(SystemExit, match="has no lab"):
        main(["release", str(tmp_path), "--out", str(tmp_path / "out")])
