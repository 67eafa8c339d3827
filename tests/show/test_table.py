import pytest

from kvlib.errors import BadInput
from kvlib.show.table import Table

table = Table(["model", "KiB"], [("OPT-13B", 800), ("a<b", 8)])


def test_a_table_wider_than_the_page_scrolls():
    assert table._repr_html_().startswith('<div class="kv-scroll" style="overflow-x: auto"><table>')


def test_a_table_in_a_terminal_is_aligned():
    assert repr(table) == "model    KiB\nOPT-13B  800\na<b      8"


def test_a_table_on_a_page_names_its_rows_and_columns_and_escapes_text():
    page = table._repr_html_()
    assert page.count('<th scope="col">') == 2
    assert '<tr><th scope="row">a&lt;b</th><td>8</td></tr>' in page


@pytest.mark.parametrize("row", [[1, 2, 3], [1], []])
def test_a_row_with_another_number_of_values_than_columns_is_refused(row):
    with pytest.raises(BadInput, match=r"row 1 has the values .*; expected 2, one for each of \['a', 'b'\]"):
        Table(["a", "b"], [[1, 2], row])


def test_a_table_without_columns_is_refused():
    with pytest.raises(BadInput, match="columns is empty"):
        Table([], [[]])
