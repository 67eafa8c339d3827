"""A small table of computed values, for the page and for a terminal."""

from collections.abc import Iterable, Sequence
from html import escape


class Table:
    """`columns` are the heads; each row has one value a column, shown as `str` gives it. The first names its row."""

    def __init__(self, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        self.lines = [[str(cell) for cell in row] for row in (columns, *rows)]

    def _repr_html_(self) -> str:
        head, *body = self.lines
        heads = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
        rows = "".join(
            f'<tr><th scope="row">{escape(name)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in cells)}</tr>'
            for name, *cells in body
        )
        return f'<div class="kv-scroll"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'

    def __repr__(self) -> str:
        widths = [max(map(len, column)) for column in zip(*self.lines)]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in self.lines)
