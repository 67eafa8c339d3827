"""What a cache writes is counted by the numbers, not by the way that they are written."""

import pytest
import torch

from kvlib.grading.exercises.caching.written import NumbersWritten

ROOM, NEW, OLD = torch.zeros(10, 3), torch.ones(2, 3), torch.ones(5, 3)
WAYS = {
    "a slice": (lambda: ROOM.__setitem__(slice(2, 4), NEW), 6),
    "copy_": (lambda: ROOM[2:4].copy_(NEW), 6),
    "rows by number": (lambda: ROOM.__setitem__(torch.tensor([7, 1]), NEW), 6),
    "index_copy_": (lambda: ROOM.index_copy_(0, torch.tensor([7, 1]), NEW), 6),
    "cat, which copies the old ones": (lambda: torch.cat((OLD, NEW)), 21),
    "a clone": (lambda: OLD.clone(), 15),
    "a view": (lambda: ROOM[:4].transpose(0, 1), 0),
    "room that is made": (lambda: torch.empty(100, 3), 0),
    "room of zeros": (lambda: torch.zeros(100, 3), 0),
    "a look at the shape": (lambda: (len(ROOM), ROOM.shape, ROOM.numel()), 0),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_write_counts_what_is_written(way):
    write, numbers = WAYS[way]
    with NumbersWritten() as written:
        write()
    assert written.numbers == numbers


def test_what_is_written_outside_is_not_counted():
    with NumbersWritten() as written:
        pass
    torch.cat((OLD, NEW))
    assert written.numbers == 0
