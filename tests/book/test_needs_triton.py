"""Where Triton has no build, the book is built all the same."""

import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("needs_triton", ROOT / "book" / "ext" / "needs_triton.py")
extension = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(extension)


@pytest.mark.parametrize(("found", "left_out"), [(None, extension.PAGES), (object(), [])])
def test_a_page_that_needs_triton_is_not_run_where_there_is_none(monkeypatch, found, left_out):
    monkeypatch.setattr(extension, "find_spec", lambda name: found)
    config = SimpleNamespace(nb_execution_excludepatterns=["one.md"])
    extension.leave_out(None, config)
    assert config.nb_execution_excludepatterns == ["one.md", *left_out]


def test_the_pages_that_need_triton_are_those_that_import_its_kernels():
    texts = {path.relative_to(ROOT).as_posix(): path.read_text() for path in sorted(ROOT.glob("[bl]*/*.md"))}
    needed = re.compile(r"kvlib\.attention\.triton|prepare\(.*\"triton\"")
    assert [name for name, text in texts.items() if needed.search(text)] == extension.PAGES
