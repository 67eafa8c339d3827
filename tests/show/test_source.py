import pytest

from kvlib.errors import BadInput
from kvlib.memory import BlockTable
from kvlib.show.source import Source


def test_the_source_is_shown_as_it_stands_from_its_first_column_on():
    source = Source(BlockTable.slots)
    assert repr(source).startswith("def slots(self, start: int, stop: int)")
    assert '<span class="nf">slots</span>' in source._repr_html_()


@pytest.mark.parametrize("given", [len, None, "text", eval("lambda: 0")])
def test_what_has_no_source_in_python_is_refused(given):
    with pytest.raises(BadInput, match="no Python source to show"):
        Source(given)
