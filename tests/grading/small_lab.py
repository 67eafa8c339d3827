"""A lab with two exercises that need nothing but Python, and notebooks as learners hand them in."""

import json
from pathlib import Path

from kvlib.grading.labs import Lab, read_labs
from kvlib.grading.notebooks import as_notebook
from kvlib.grading.released import released

NAME = "01-sums"
TEXT = """---
kernelspec:
  name: python3
  display_name: Python 3
---

# Lab 1 · Sums

What is one and one?

```{code-cell} python
:tags: [setup]
import math
```

```{code-cell} python
:tags: [answer, "ex:total", "points:3"]
def total(a: int, b: int) -> int:
    ### BEGIN SOLUTION
    both = a + b
    return both
    ### END SOLUTION
```

```{code-cell} python
---
tags: [check, "ex:total"]
prints: "total: right. Two numbers, and none of them lost."
---
print("total: right. Two numbers, and none of them lost." if total(1, 1) == 2 else "total: wrong.")
```

```{code-cell} python
:tags: [hidden, "ex:total"]
print(f"the sum of two numbers holds both: {total(SEED, 17)}")
print(f"a sum with nothing is the number: {total(SEED % 1000, 0)}")
```

```{code-cell} python
print(total(3, 3))
```

```{code-cell} python
:tags: [answer, "ex:mean", "points:2"]
def mean(a: int, b: int) -> float:
    ### BEGIN SOLUTION
    return total(a, b) / 2
    ### END SOLUTION
```

```{code-cell} python
---
tags: [check, "ex:mean"]
prints: "mean: right. It lies between."
---
print("mean: right. It lies between." if mean(1, 3) == 2 else "mean: wrong. Between 1 and 3 lies 2 <.")
```

```{code-cell} python
:tags: [hidden, "ex:mean"]
print(f"the mean lies between: {mean(SEED, SEED + 4)}")
```
"""
RIGHT = {"total": "def total(a, b):\n    return b + a", "mean": "def mean(a, b):\n    return (a + b) / 2"}


def folder_of_labs(folder: Path, text: str = TEXT, name: str = NAME) -> Path:
    """`folder` with one lab more in it."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.md").write_text(text, encoding="utf-8")
    (folder / "first_cell.py").write_text("print('ready')\n", encoding="utf-8")
    return folder


def lab_of(folder: Path, text: str = TEXT) -> Lab:
    return read_labs(folder_of_labs(folder, text))[NAME]


def handed_in(lab: Lab, answers: dict[str, str] | None = None) -> dict:
    """The learner's notebook, with these answers in it."""
    notebook = json.loads(as_notebook(released(lab.cells), lab.name))
    for cell in notebook["cells"]:
        cell["source"] = (answers or {}).get(cell["id"].removeprefix("answer-"), cell["source"])
    return notebook


def save(path: Path, notebook: dict | str | bytes) -> Path:
    """Write a notebook, or what stands in its place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = json.dumps(notebook) if isinstance(notebook, dict) else notebook
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path
