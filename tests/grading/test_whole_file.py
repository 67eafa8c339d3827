"""A file is there whole, or an error names it."""

import errno
import os

import pytest

from kvlib.grading.whole_file import write_whole


def test_a_full_disk_names_the_file_and_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "marks.csv"
    path.write_text("before")

    def is_full(self, target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("pathlib.Path.replace", is_full)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)) as raised:
        write_whole(path, "after")
    assert raised.value.filename == str(path)
    assert [each.name for each in tmp_path.iterdir()] == ["marks.csv"]
    assert path.read_text() == "before"
