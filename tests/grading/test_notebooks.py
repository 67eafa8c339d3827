import json
from pathlib import Path

import nbformat
import pytest

from kvlib.errors import BadLab
from kvlib.grading.lab import read
from kvlib.grading.notebooks import main, names, write_notebooks
from kvlib.grading.released import without_marks

HEADER = "---\nkernelspec:\n  name: python3\n  display_name: Python 3\n---\n\n"
LAB = (
    HEADER
    + """# A lab

What is one and one?

```{code-cell} python
:tags: [setup]
import math
```

Write it.

```{code-cell} python
:tags: [answer, "ex:sum", "points:3"]
def total(a, b):
    ### BEGIN SOLUTION
    return a + b
    ### END SOLUTION
```

```{code-cell} python
---
tags: [check, "ex:sum"]
prints: "sum: right."
---
print("sum: right." if total(1, 1) == 2 else "sum: wrong.")
```

```{code-cell} python
:tags: [hidden, "ex:sum"]
total(2, 2)
```

```{code-cell} python
total(3, 3)
```

The end.
"""
)
HIDDEN = '[hidden, "ex:sum"]'
FIRST_CELL = "print('ready')\n"


def folder_with(tmp_path: Path, text: str = LAB, name: str = "01-sums.md") -> Path:
    (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "first_cell.py").write_text(FIRST_CELL, encoding="utf-8")
    return tmp_path


def cells_of(tmp_path: Path, text: str = LAB) -> list:
    [path] = write_notebooks(folder_with(tmp_path, text))
    return nbformat.read(path, as_version=4).cells


def test_two_runs_give_the_same_bytes(tmp_path):
    [path] = write_notebooks(folder_with(tmp_path))
    first = path.read_bytes()
    assert write_notebooks(tmp_path) == [path]
    assert path.read_bytes() == first
    assert path.name == "01-sums.ipynb"
    assert first.endswith(b"}\n")


def test_the_notebook_is_valid_and_runs_on_python3(tmp_path):
    [path] = write_notebooks(folder_with(tmp_path))
    notebook = json.loads(path.read_text(encoding="utf-8"))
    nbformat.validate(notebook)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"


def test_cells_are_named_by_their_tags_and_order(tmp_path):
    ids = list(names(read(folder_with(tmp_path) / "01-sums.md")))
    assert ids == [
        "markdown-1", "setup", "markdown-2", "answer-sum", "check-sum", "hidden-sum", "code-1", "markdown-3"
    ]  # fmt: skip
    assert len(set(ids)) == len(ids)


def test_a_learner_gets_the_same_names_and_no_hidden_cell(tmp_path):
    kept = [name for name in names(read(folder_with(tmp_path) / "01-sums.md")) if name != "hidden-sum"]
    assert [cell.id for cell in cells_of(tmp_path)] == kept


@pytest.mark.parametrize("old", ["What is one and one?", "Write it.", "return a + b", "The end."])
def test_names_stay_when_a_text_changes(tmp_path, old):
    before = [cell.id for cell in cells_of(tmp_path)]
    assert [cell.id for cell in cells_of(tmp_path, LAB.replace(old, "abs(-1)"))] == before


def test_a_new_text_renames_no_exercise(tmp_path):
    before = {cell.id for cell in cells_of(tmp_path) if "markdown" not in cell.id}
    after = cells_of(tmp_path, LAB.replace("Write it.", "Write it.\n\n+++\n\nNow."))
    assert {cell.id for cell in after if "markdown" not in cell.id} == before


def test_only_a_check_has_an_output_and_it_is_compared(tmp_path):
    outputs = {cell.id: cell.outputs for cell in cells_of(tmp_path) if cell.cell_type == "code"}
    assert [name for name, output in outputs.items() if output] == ["check-sum"]
    [check] = [cell for cell in cells_of(tmp_path) if cell.id == "check-sum"]
    assert check.outputs == [{"name": "stdout", "output_type": "stream", "text": "sum: right.\n"}]
    assert "nbval-check-output" in check.metadata.tags
    assert check.execution_count is not None


def test_an_answer_keeps_its_tags_and_fails_until_it_is_written(tmp_path):
    [answer] = [cell for cell in cells_of(tmp_path) if cell.id == "answer-sum"]
    assert answer.metadata.tags == ["answer", "ex:sum", "points:3"]
    namespace = {}
    exec(answer.source, namespace)
    with pytest.raises(NotImplementedError, match="sum: write your answer here"):
        namespace["total"](1, 1)


def test_each_solution_of_an_answer_is_taken_out_and_what_is_between_them_stays(tmp_path):
    second = "\n\ndef double(a):\n    ### BEGIN SOLUTION\n    return 2 * a\n    ### END SOLUTION\n    # given"
    text = LAB.replace("    ### END SOLUTION", f"    ### END SOLUTION{second}")
    [answer] = [cell for cell in cells_of(tmp_path, text) if cell.id == "answer-sum"]
    assert answer.source.count("raise NotImplementedError") == 2
    assert "return" not in answer.source
    assert "def double(a):" in answer.source
    assert "# given" in answer.source
    assert "###" not in answer.source


def test_without_its_marks_a_model_answer_is_whole(tmp_path):
    [answer] = [cell for cell in read(folder_with(tmp_path) / "01-sums.md") if cell.role == "answer"]
    assert without_marks(answer.source) == "def total(a, b):\n    return a + b"


def test_the_setup_cell_begins_with_the_first_cell_of_all_labs(tmp_path):
    [setup] = [cell for cell in cells_of(tmp_path) if cell.id == "setup"]
    assert setup.source == "print('ready')\n\nimport math"


def test_a_cell_knows_its_exercise_points_and_line(tmp_path):
    cells = read(folder_with(tmp_path) / "01-sums.md")
    assert [(cell.role, cell.exercise, cell.points, cell.prints) for cell in cells if cell.exercise] == [
        ("answer", "sum", 3, ""),
        ("check", "sum", 0, "sum: right."),
        ("hidden", "sum", 0, ""),
    ]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (HIDDEN, "[hiden]", "cell 6, 'total(2, 2)', has the unknown tag 'hiden'; known are setup, answer, check"),
        (HIDDEN, '["ex:Sum"]', "has the unknown tag 'ex:Sum'"),
        ("points:3", "points:0", "has the unknown tag 'points:0'"),
        (', "points:3"', "", "an answer has ex:NAME and points:N"),
        ('answer, "ex:sum"', "answer", "an answer has ex:NAME and points:N"),
        (HIDDEN, '[hidden, "points:2"]', "an answer has ex:NAME and points:N"),
        ('check, "ex:sum"', "check", "a check and a hidden cell ex:NAME"),
        ('check, "ex:sum"', 'check, "ex:product"', "is about 'product', which no answer above has"),
        (HIDDEN, "[hidden, check]", "one of setup, answer, check, hidden is enough"),
        (HIDDEN, "[setup]", "is not the first code cell"),
        ("[setup]", "[]", "no cell has the tag setup"),
        ('prints: "sum: right."\n', "", "prints ''; a check cell, and no other, has `prints`"),
        ('prints: "sum: right."', 'prints: "a\\nb"', "the one line that it prints"),
        ('prints: "sum: right."', "prints: 3", "prints 3"),
        ('prints: "sum: right."', 'prints: "x"\npirnts: "y"', "has the unknown settings ['pirnts']"),
        (f":tags: {HIDDEN}", ':tags: [hidden, "ex:sum"]\n:prints: "x"', "a check cell, and no other, has `prints`"),
        ("    ### END SOLUTION\n", "", "has the marks ### BEGIN SOLUTION"),
        ("total(3, 3)", "### BEGIN SOLUTION\n### END SOLUTION", "in an answer cell, each ### BEGIN SOLUTION has its"),
        ("```{code-cell} python\ntotal(3, 3)", "```{code-cel} python\ntotal(3, 3)", "has a directive"),
        ("The end.", ":::{admonition} Remember\nThe end.\n:::", "has a directive"),
        (HIDDEN, '[answer, "ex:sum", "points:1"]', "is a second answer to sum"),
        (HIDDEN, '[answer, "ex:other", "points:1"]', "no cell checks the exercise other"),
    ],
)
def test_what_is_wrong_with_a_lab_is_named(tmp_path, old, new, complaint):
    assert old in LAB
    with pytest.raises(BadLab) as raised:
        cells_of(tmp_path, LAB.replace(old, new))
    assert complaint in str(raised.value)
    assert "01-sums.md" in str(raised.value)
    assert not list(tmp_path.glob("*.ipynb"))


def test_one_bad_lab_leaves_all_notebooks_as_they_were(tmp_path):
    [path] = write_notebooks(folder_with(tmp_path))
    path.write_text("old")
    folder_with(tmp_path, LAB.replace(HIDDEN, "[hiden]"), "02-bad.md")
    with pytest.raises(BadLab, match=r"02-bad\.md"):
        write_notebooks(tmp_path)
    assert path.read_text() == "old"


def test_a_folder_without_a_lab_is_refused(tmp_path):
    (tmp_path / "README.md").write_text("# Labs")
    with pytest.raises(BadLab, match="has no lab; a lab is a file whose name begins with two digits"):
        write_notebooks(tmp_path)


def test_the_command_names_what_it_wrote(tmp_path):
    assert main([str(folder_with(tmp_path))]) == str(tmp_path / "01-sums.ipynb")
    assert main([]).startswith("python -m kvlib.grading.notebooks FOLDER")
