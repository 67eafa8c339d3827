"""The list of references: every source that the book names is in it, once, with a way to find it."""

import re
import sys
from calendar import month_name
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from kvlib import ledger

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "book" / "ext"))

from references import shown, sources  # noqa: E402

from . import small_build  # noqa: E402

PAGES = sorted([*(ROOT / "book").glob("*.md"), *(ROOT / "labs").glob("*.md"), ROOT / "README.md"])
NAMES = {shown(entry): key for key, entry in sources().items()}
AUTHOR_YEAR = re.compile(r"([A-Z][\w-]+(?:, [A-Z]\w+)*(?: and [A-Z]\w+| et al\.| and others)?),? \(?((?:19|20)\d\d)\b")
NO_AUTHORS = {"SOSP", "Since", *month_name[1:]}

page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
source = pytest.mark.parametrize("key", sources())


@page
def test_every_key_that_a_page_cites_is_in_the_list(page: Path) -> None:
    assert set(re.findall(r"\{cite\}`([^`]*)`", page.read_text(encoding="utf-8"))) <= set(sources())


@page
def test_a_source_named_by_author_and_year_or_number_is_in_the_list(page: Path) -> None:
    text = re.sub(r"```.*?```|\s+", " ", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    named = {f"{name} {year}".replace(" and others", " et al.") for name, year in AUTHOR_YEAR.findall(text)}
    assert {name for name in named if name.split()[0] not in NO_AUTHORS} <= set(NAMES)
    assert set(re.findall(r"arXiv[: ]?(\d{4}\.\d{5})", text)) <= {
        entry.fields.get("eprint") for entry in sources().values()
    }


@source
def test_a_source_says_who_what_and_where(key: str) -> None:
    entry = sources()[key]
    fields = entry.fields
    assert entry.persons["author"]
    assert fields["title"]
    assert {"doi", "eprint", "url", "publisher"} & set(fields) or "standard" in fields["howpublished"]
    assert re.fullmatch(r"10\.\d{4,}/\S+", fields.get("doi", "10.1000/x"))
    assert re.fullmatch(r"\d{4}\.\d{5}", fields.get("eprint", "1234.56789"))
    assert fields.get("url", "https://").startswith("https://")
    assert "year" in fields or "shorthand" in fields


@pytest.mark.parametrize("kept", ["kvlib", "data"])
def test_what_code_and_data_name_by_its_number_is_in_the_list(kept: str) -> None:
    files = [file for file in (ROOT / kept).rglob("*") if file.suffix in (".py", ".json")]
    named = {
        found for file in files for found in re.findall(r"arXiv[: ](\d{4}\.\d{5})", file.read_text(encoding="utf-8"))
    }
    assert named
    assert named <= {entry.fields.get("eprint") for entry in sources().values()}


def test_no_two_sources_are_named_alike() -> None:
    assert len(NAMES) == len(sources())


def test_the_addresses_of_the_ledger_are_those_of_the_list() -> None:
    known = {f"https://doi.org/{entry.fields.get('doi')}" for entry in sources().values()}
    known |= {f"https://arxiv.org/abs/{entry.fields.get('eprint')}" for entry in sources().values()}
    known |= {entry.fields.get("url") for entry in sources().values()}
    assert {number.url for number in ledger.load().values() if number.url} <= known


def test_authors_are_named_as_in_a_text() -> None:
    assert {"Shazeer 2019", "Milakov and Gimelshein 2018", "Tillet, Kung and Cox 2019", "Kwon et al. 2023"} <= set(
        NAMES
    )


@pytest.fixture
def build(tmp_path: Path):
    """Build two pages, of which the first has the text, warnings as errors."""

    def build(text: str) -> CompletedProcess:
        first = f"# One\n\n{text}\n\n```{{toctree}}\nlist\n```\n"
        return small_build.build(
            tmp_path, "references", {"index.md": first, "list.md": "# List\n\n```{references}\n```\n"}
        )

    return build


def test_a_cited_source_is_a_link_to_its_entry(build, tmp_path: Path) -> None:
    assert build("Read {cite}`kwon2023`.").stderr == ""
    assert re.search(
        r'<a [^>]*href="list\.html#source-kwon2023"[^>]*>\s*(<span[^>]*>)?Kwon et al\. 2023',
        (tmp_path / "out/index.html").read_text(),
    )
    entry = re.search(r'<li id="source-kwon2023">.*?</li>', (tmp_path / "out/list.html").read_text(), re.DOTALL)[0]
    assert "Ion Stoica" in entry
    assert 'href="https://doi.org/10.1145/3600006.3613165"' in entry
    assert 'href="https://arxiv.org/abs/2309.06180"' in entry
    assert "role=" not in entry, "docutils' citations have roles that axe objects to"


def test_an_unknown_source_stops_the_build_with_its_place_and_near_keys(build) -> None:
    done = build("Read {cite}`kwon2024`.")
    assert done.returncode != 0
    assert re.search(r"index\.md:3: WARNING: .*'kwon2024'.*kwon2023", done.stderr)
