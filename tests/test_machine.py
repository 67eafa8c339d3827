import importlib.util

from kvlib import machine


def test_the_free_memory_is_read_as_linux_writes_it(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "MEMINFO", tmp_path / "meminfo")
    (tmp_path / "meminfo").write_text("MemFree:  5 kB\nMemAvailable:    12 kB\n")
    assert machine.free_memory() == 12 * 1024


def test_where_nothing_tells_the_free_memory_it_is_unknown(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert machine.free_memory() is None
