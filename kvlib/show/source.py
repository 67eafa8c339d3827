"""The source of functions or classes, coloured as the page colours its code."""

import inspect
import textwrap
from collections.abc import Callable

from kvlib.errors import BadInput, MissingPackage

try:
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer
except ImportError as error:
    raise MissingPackage("coloured source needs pygments; in the clone, run: pip install '.[book]'") from error


class Source:
    """`Source(function)` as the last line of a cell shows the function as it runs, not a copy of it; several functions
    stand one under another. A line that is too long for the page goes on below, further in than it began.

    Raises BadInput for what has no Python source that can be read.
    """

    def __init__(self, *functions: Callable) -> None:
        self.text = "\n\n".join(map(_source, functions))

    def _repr_html_(self) -> str:
        coloured = highlight(self.text, PythonLexer(), HtmlFormatter(nowrap=True)).splitlines()
        indents = (len(line) - len(line.lstrip()) for line in self.text.splitlines())
        lines = "".join(
            f'<span style="--indent: {indent}ch">{line}\n</span>' for indent, line in zip(indents, coloured)
        )
        return f'<div class="kv-source highlight"><pre>{lines}</pre></div>'

    def __repr__(self) -> str:
        return self.text


def _source(function: Callable) -> str:
    try:
        return textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError) as error:
        raise BadInput(
            f"{function!r} has no Python source to show ({error}); give a function or class written in Python"
        ) from None
