"""A fault as an edit of kvlib's own source: the module with the fault in it, and the lines that differ."""

import difflib
import importlib
import inspect
from functools import cache
from html import escape
from types import ModuleType
from typing import NamedTuple

from kvlib.errors import BadInput

CONTEXT = 2  # lines shown before and after an edit


class Edit(NamedTuple):
    """`old`, which occurs once, becomes `new`."""

    old: str
    new: str


class Exhibit(NamedTuple):
    """A fault of an engine, planted in the source of `module`. `sources` are the threads that tell of it."""

    name: str
    module: str
    edits: tuple[Edit, ...]
    sources: tuple[str, ...]

    def source(self) -> str:
        """The text of the module as it is."""
        return inspect.getsource(importlib.import_module(self.module))

    def edited(self) -> str:
        """The text of the module with the fault. Raises BadInput where the text to be replaced is not there once."""
        text = self.source()
        for old, new in self.edits:
            if (times := text.count(old)) != 1:
                raise BadInput(f"{old!r} is {times} times in {self.module}; the exhibit has to follow the code")
            text = text.replace(old, new)
        return text

    def planted(self) -> ModuleType:
        """A module of its own with the fault in it; the one that it was made from stays as it is."""
        return compiled(f"{self.module}.{self.name}", self.edited())

    @property
    def diff(self) -> "Diff":
        """What differs, for the page."""
        file = self.module.replace(".", "/") + ".py"
        return Diff(self.source(), self.edited(), f"{file}, after {' and '.join(self.sources)}")


@cache
def compiled(name: str, text: str) -> ModuleType:
    """The module that `text` makes, known to nobody else."""
    module = ModuleType(name)
    exec(compile(text, f"<{name}>", "exec"), module.__dict__)
    return module


class Diff:
    """Under `title` the lines that differ, `before` with a minus and `after` with a plus, between a few that do not."""

    def __init__(self, before: str, after: str, title: str) -> None:
        lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=CONTEXT, lineterm=""))[3:]
        gap = min(len(line[1:]) - len(line[1:].lstrip()) for line in lines if line[1:].strip() and line[0] != "@")
        self.lines = [title]
        for line in lines:
            self.lines.append("..." if line[0] == "@" else f"{line[0]} {line[1 + gap :]}".rstrip())

    def _repr_html_(self) -> str:
        return f'<div class="kv-source highlight"><pre>{"".join(map(_span, self.lines))}</pre></div>'

    def __repr__(self) -> str:
        return "\n".join(self.lines)


def _span(line: str) -> str:
    kind = {"-": "gd", "+": "gi"}.get(line[:1], "")
    indent = 2 + len(line[2:]) - len(line[2:].lstrip())
    return f'<span class="{kind}" style="--indent: {indent}ch">{escape(line)}\n</span>'
