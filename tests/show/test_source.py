from kvlib.memory import BlockTable
from kvlib.show.source import Source


def test_the_source_is_shown_as_it_stands_from_its_first_column_on():
    source = Source(BlockTable.slots)
    assert repr(source).startswith("def slots(self, start: int, stop: int)")
    assert '<span class="nf">slots</span>' in source._repr_html_()
