"""The source of a function or class, coloured as the page colours its code."""

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
    """`Source(function)` as the last line of a cell shows the function as it runs, not a copy of it.

    Raises BadInput for what has no Python source that can be read.
    """

    def __init__(self, function: Callable) -> None:
        try:
            self.text = textwrap.dedent(inspect.getsource(function))
        except (OSError, TypeError) as error:
            raise BadInput(
                f"{function!r} has no Python source to show ({error}); give a function or class written in Python"
            ) from None

    def _repr_html_(self) -> str:
        return f'<div class="kv-source">{highlight(self.text, PythonLexer(), HtmlFormatter())}</div>'

    def __repr__(self) -> str:
        return self.text
