import re

import pytest

from kvlib.errors import BadInput
from kvlib.memory import BlockTable
from kvlib.show.source import Source


def test_the_source_is_shown_as_it_stands_from_its_first_column_on():
    source = Source(BlockTable.slots)
    assert repr(source).startswith("def slots(self, start: int, stop: int)")
    assert '<span class="nf">slots</span>' in source._repr_html_()


def test_each_line_of_the_page_knows_how_far_in_it_begins():
    source = Source(BlockTable.slots)
    indents = [int(found) for found in re.findall(r"--indent: (\d+)ch", source._repr_html_())]
    assert indents == [len(line) - len(line.lstrip()) for line in source.text.splitlines()]
    assert {0, 4} <= set(indents)


def test_several_functions_stand_one_under_another():
    both = Source(BlockTable.slots, Source.__repr__).text
    assert both == f"{Source(BlockTable.slots).text}\n\n{Source(Source.__repr__).text}"


@pytest.mark.parametrize("given", [len, None, "text", eval("lambda: 0")])
def test_what_has_no_source_in_python_is_refused(given):
    with pytest.raises(BadInput, match="no Python source to show"):
        Source(given)
