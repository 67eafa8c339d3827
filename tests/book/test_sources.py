"""What every source file of the book must have, before anything is built."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "book"
PAGES = sorted([*BOOK.glob("*.md"), *(ROOT / "labs").glob("[0-9][0-9]-*.md")])
CHAPTERS = sorted(BOOK.glob("[0-9][0-9]-*.md"))
CLOSING = ["Check the paper", "In production", "What this leaves out", "Easy to misread", "Exercises", "Remember"]

chapter = pytest.mark.parametrize("source", CHAPTERS, ids=lambda path: path.stem)
page = pytest.mark.parametrize("source", PAGES, ids=lambda path: path.stem)


def front_matter(source: Path) -> dict:
    found = re.match(r"---\n(.*?)\n---\n", source.read_text(), re.DOTALL)
    return yaml.safe_load(found.group(1)) if found else {}


@chapter
def test_chapter_says_that_its_cells_run_and_with_what(source: Path) -> None:
    header = front_matter(source)
    assert header.get("file_format") == "mystnb", "without it the cells are not run, and the build only warns"
    assert header.get("kernelspec", {}).get("name") == "python3"


@chapter
def test_chapter_runs_code(source: Path) -> None:
    assert "```{code-cell}" in source.read_text()


@chapter
def test_chapter_closes_with_its_six_parts_in_order(source: Path) -> None:
    titles = re.findall(
        r"^(?:#{2,3}|:{3,}\{admonition\}|`{3,}\{admonition\}) +(.+?) *$", source.read_text(), re.MULTILINE
    )
    assert [title for title in titles if title in CLOSING] == CLOSING


@page
def test_every_picture_in_the_text_has_a_text(source: Path) -> None:
    text = source.read_text()
    for directive in re.findall(r"^[`:]{3,}\{(?:figure|image)\}.*?^[`:]{3,} *$", text, re.MULTILINE | re.DOTALL):
        assert re.search(r"^:alt: *\S.+", directive, re.MULTILINE), directive
    assert not re.findall(r"!\[\s*\]\(.*?\)", text)


@page
def test_page_is_written_not_promised(source: Path) -> None:
    assert not re.search(
        r"\b(TODO|TBD|FIXME|coming soon|to be written|lorem ipsum)\b", source.read_text(), re.IGNORECASE
    )


def test_contents_and_files_agree() -> None:
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    listed = [toc["root"], *re.findall(r"file: (\S+)", (ROOT / "_toc.yml").read_text())]
    assert sorted(listed) == [str(path.relative_to(ROOT).with_suffix("")) for path in PAGES]


def test_no_output_is_kept_in_the_book() -> None:
    assert list(BOOK.glob("*.ipynb")) == []


@chapter
def test_a_line_of_code_fits_the_page(source: Path) -> None:
    cells = re.findall(r"^```\{code-cell\}.*?\n(.*?)^```$", source.read_text(), re.MULTILINE | re.DOTALL)
    assert [line for cell in cells for line in cell.splitlines() if len(line) > 76] == []
