"""A small table of computed values, for the page and for a terminal."""

from collections.abc import Iterable, Sequence
from html import escape

from kvlib.errors import BadInput


class Table:
    """`columns` are the heads; each row has one value a column, shown as `str` gives it. The first names its row.

    Raises BadInput, naming the row, where the number of values is not that of the columns.
    """

    def __init__(self, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        self.lines = [[str(cell) for cell in row] for row in (columns, *rows)]
        head, *body = self.lines
        if not head:
            raise BadInput("columns is empty; give the head of each column")
        for number, line in enumerate(body):
            if len(line) != len(head):
                raise BadInput(f"row {number} has the values {line}; expected {len(head)}, one for each of {head}")

    def _repr_html_(self) -> str:
        head, *body = self.lines
        heads = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
        rows = "".join(
            f'<tr><th scope="row">{escape(name)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in cells)}</tr>'
            for name, *cells in body
        )
        table = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        return f'<div class="kv-scroll" style="overflow-x: auto">{table}</div>'

    def __repr__(self) -> str:
        widths = [max(map(len, column)) for column in zip(*self.lines)]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in self.lines)
