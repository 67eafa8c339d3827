"""The source of a function or class, coloured as the page colours its code."""

import inspect
import textwrap
from collections.abc import Callable

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer


class Source:
    """`Source(function)` as the last line of a cell shows the function as it runs, not a copy of it."""

    def __init__(self, function: Callable) -> None:
        self.text = textwrap.dedent(inspect.getsource(function))

    def _repr_html_(self) -> str:
        return f'<div class="kv-source">{highlight(self.text, PythonLexer(), HtmlFormatter())}</div>'

    def __repr__(self) -> str:
        return self.text
