"""Exercises on pages: answers are folded and run, what is hidden stays hidden, the rest of a chapter is as written."""

import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from kvlib.grading.lab import BEGIN, Cell, read
from kvlib.grading.notebooks import as_notebook
from kvlib.grading.released import released

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("exercises", ROOT / "book" / "ext" / "exercises.py")
extension = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(extension)

CELLS = [
    Cell("markdown", "# Lab 1 · Sums\n\nWhat is a sum?"),
    Cell("code", "import math", ("setup",)),
    Cell("markdown", "Write it."),
    Cell(
        "code",
        "def total(a, b):\n    ### BEGIN SOLUTION\n    return a + b\n    ### END SOLUTION",
        ("answer", "ex:sum", "points:1"),
    ),
    Cell("code", "print(check(total))", ("check", "ex:sum"), "sum: right."),
    Cell("code", "print(observe(total, SEED))", ("hidden", "ex:sum")),
]
PAGE = list(extension.parts(CELLS, "01-sums"))


def test_below_the_title_stands_where_the_notebook_is():
    assert PAGE[0].startswith('# Lab 1 · Sums\n\n<p><a href="../_static/notebooks/01-sums.ipynb" download>')
    assert PAGE[0].endswith("\n\nWhat is a sum?")


@pytest.mark.parametrize("ending", ["", ".git"])
def test_a_lab_opens_in_colab_once_the_first_cell_says_where_kvlib_is(ending):
    first_cell = extension.LABS.joinpath("first_cell.py").read_text(encoding="utf-8")
    known = re.sub(
        '^KVLIB = ".*?"', f'KVLIB = "kvlib @ git+https://github.com/me/book{ending}@v1"', first_cell, flags=re.M
    )
    assert known != first_cell
    link = "https://colab.research.google.com/github/me/book/blob/v1/labs/01-sums.ipynb"
    assert extension.open_in_colab(known, "01-sums") == f' <a href="{link}">Open in Colab</a>'


def test_as_long_as_kvlib_has_no_address_no_lab_leads_to_colab():
    assert extension.open_in_colab('import x\n\nKVLIB = ""  # "kvlib @ git+https://HOST/NAME@TAG"\n', "01-sums") == ""


def test_the_first_cell_and_the_answers_are_folded():
    assert [part for part in PAGE if "code_prompt_show: Show the first cell" in part and "import math" in part]
    [answer] = [part for part in PAGE if "code_prompt_show: Show the answer" in part]
    assert "tags: [hide-input]" in answer
    assert "def total(a, b):\n    return a + b" in answer


def test_above_an_answer_stands_what_a_learner_gets():
    above, answer, _ = "\n".join(PAGE).partition("```{code-cell} python\n---\ntags: [hide-input]")
    assert answer
    assert "```python\ndef total(a, b):\n    raise NotImplementedError" in above


def test_nothing_hidden_and_no_mark_is_on_the_page():
    assert "SEED" not in "".join(PAGE)
    assert BEGIN not in "".join(PAGE)


BEFORE = """# 1 · What it can do

```{code-cell} python
print(1)
```

## Exercises

**Sums.** Write it.

"""
ANSWER = """```{code-cell} python
:tags: [answer, "ex:sum"]
def total(a, b):
    ### BEGIN SOLUTION
    both = "\\n", a + b

    return both[1]
    ### END SOLUTION
```"""
AFTER = """

```{code-cell} python
:tags: [check, "ex:sum"]
print(check("sum", total))
```

:::{dropdown} Hint
Add.
:::
"""


def chapter(text):
    source = [text]
    extension.as_page(None, "book/01-what-it-can-do", source)
    return source[0]


def test_in_a_chapter_a_stub_and_the_folded_answer_stand_for_an_answer_cell():
    page = chapter(BEFORE + ANSWER + AFTER)
    assert page.startswith(BEFORE)
    assert page.endswith(AFTER)
    stub, answer = page.removeprefix(BEFORE).removesuffix(AFTER).split("\n\n", 1)
    assert stub == ('```python\ndef total(a, b):\n    raise NotImplementedError("sum: write your answer here")\n```')
    assert answer == (
        "```{code-cell} python\n---\ntags: [hide-input]\nmystnb: {code_prompt_show: Show the answer}\n---\n"
        'def total(a, b):\n    both = "\\n", a + b\n\n    return both[1]\n```'
    )


def test_a_page_without_an_answer_cell_is_left_as_it_is():
    assert chapter(BEFORE + AFTER) == BEFORE + AFTER


@pytest.mark.parametrize("path", sorted((ROOT / "book").glob("*.md")), ids=lambda path: path.stem)
def test_nothing_of_a_chapter_changes_but_its_answer_cell(path):
    text = path.read_text(encoding="utf-8")
    before, tagged, rest = text.partition("```{code-cell} python\n:tags: [answer,")
    page = chapter(text)
    assert page.startswith(before)
    assert page.endswith(rest.partition("\n```\n")[2])
    assert BEGIN not in page
    assert page.count("```python\n") - text.count("```python\n") == (1 if tagged else 0)


def test_a_lab_is_read_from_its_own_file():
    source = ["text"]
    extension.as_page(None, "labs/08-write-the-kernel", source)
    assert source[0].startswith("---\nfile_format: mystnb\n")
    assert "# Lab 8 · Write the kernel" in source[0]


@pytest.fixture
def written(tmp_path):
    app = SimpleNamespace(doctreedir=tmp_path, config=SimpleNamespace(html_static_path=[]))
    extension.write_notebooks(app)
    return Path(app.config.html_static_path[0]) / "notebooks"


def test_the_notebooks_to_take_along_are_the_learners(written):
    labs = sorted((ROOT / "labs").glob("[0-9][0-9]-*.md"))
    assert [path.stem for path in sorted(written.iterdir())] == [lab.stem for lab in labs]
    for lab in labs:
        assert (written / f"{lab.stem}.ipynb").read_text() == as_notebook(released(read(lab)), lab.stem)
