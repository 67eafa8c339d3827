"""The table of reports: what counts as one, and that each page's reports can be found."""

import re
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "book" / "ext"))

from reports import reports  # noqa: E402

from . import small_build  # noqa: E402

PAGES = sorted([*(ROOT / "book").glob("*.md"), *(ROOT / "labs").glob("[0-9][0-9]-*.md")])


def test_a_report_has_a_short_name_or_a_whole_one() -> None:
    text = "(vllm#3347, nano-vllm#144; `ROCm/aiter#3498`), &#39; a#b https://example.org/page#12"
    assert reports(text) == {("vllm-project/vllm", 3347), ("GeeeekExplorer/nano-vllm", 144), ("ROCm/aiter", 3498)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_repository_of_each_report_is_known(page: Path) -> None:
    reports(page.read_text(encoding="utf-8"))


@pytest.fixture
def build(tmp_path: Path):
    """Build a page with the text and one with the table, warnings as errors."""

    def build(text: str) -> CompletedProcess:
        first = f"# One\n\n{text}\n\n```{{toctree}}\ntable\n```\n"
        return small_build.build(tmp_path, "reports", {"index.md": first, "table.md": "# Table\n\n```{reports}\n```\n"})

    return build


def test_a_report_is_a_link_and_so_is_the_page_that_tells_of_it(build, tmp_path: Path) -> None:
    assert build("Twice: vllm#3347, and again vllm#3347.").stderr == ""
    table = re.search(r"<tbody>.*</tbody>", (tmp_path / "out/table.html").read_text(), re.DOTALL)[0]
    assert re.findall(r'href="([^"]+)"', table) == ["https://github.com/vllm-project/vllm/issues/3347", "index.html"]
    assert re.sub(r"<[^>]+>|\s+", " ", table).split() == ["vllm-project/vllm#3347", "One"]


def test_an_unknown_repository_stops_the_build(build) -> None:
    done = build("As in tensorrt#12.")
    assert done.returncode != 0
    assert "tensorrt" in done.stderr
