"""The book as one PDF: every page of it in reading order, its answers unfolded, its links inside, nothing cut."""

import importlib.util
import re

import pytest
from playwright.sync_api import Browser, Page
from pypdf import PdfReader
from pypdf.generic import ArrayObject

from .conftest import HTML, ROOT, toc

_spec = importlib.util.spec_from_file_location("pdf", ROOT / "book" / "pdf.py")
pdf = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(pdf)

FEW = ("index", "01-what", "14-the-lab-bench", "05-fork", "numbers")
ORDER = [(part, path) for part, path in pdf.reading_order() if any(name in path for name in FEW)]


@pytest.fixture(scope="module")
def printed(site: str, browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> PdfReader:
    writer = pdf.join(pdf.print_book(browser, HTML, ORDER))
    pdf.describe(writer)
    file = tmp_path_factory.mktemp("pdf") / "book.pdf"
    writer.write(file)
    return PdfReader(file)


@pytest.fixture(scope="module")
def texts(printed: PdfReader) -> list[str]:
    """The words of each sheet, without spaces, which a PDF does not keep."""
    return ["".join(sheet.extract_text().split()) for sheet in printed.pages]


@pytest.fixture(scope="module")
def paper(site: str, browser: Browser) -> Page:
    """A window as wide as a sheet, styled for paper."""
    page = browser.new_page(viewport={"width": pdf.WIDTH, "height": 1000})
    page.emulate_media(media="print", color_scheme="light")
    return page


def entries(outline: list) -> dict:
    """The outline as nested dictionaries: title -> what lies below it."""
    tree, latest = {}, ""
    for entry in outline:
        if isinstance(entry, list):
            tree[latest] = entries(entry)
        else:
            latest = entry.title
            tree[latest] = {}
    return tree


def test_the_pages_are_those_of_the_book_in_its_order() -> None:
    assert [path for _, path in pdf.reading_order()] == toc()


def test_the_outline_has_an_entry_for_each_page_below_its_part_and_the_sections_below_the_page(
    printed: PdfReader,
) -> None:
    tree = entries(printed.outline)
    assert list(tree) == ["The KV Cache Book", "Chapters", "Labs", "Appendices"]
    assert list(tree["Chapters"]) == ["1 · What it can do", "14 · The lab bench"]
    assert "Exercises" in tree["Chapters"]["1 · What it can do"]


def test_an_outline_entry_leads_to_the_sheet_where_its_title_stands(printed: PdfReader, texts: list[str]) -> None:
    seen = 0
    for entry in pdf.flat(printed.outline):
        if entry.title not in ("Chapters", "Labs", "Appendices"):
            assert "".join(entry.title.split()) in texts[printed.get_destination_page_number(entry)]
            seen += 1
    assert seen > 15


def test_a_number_of_the_text_leads_to_its_row_in_the_table_of_numbers(printed: PdfReader, texts: list[str]) -> None:
    sheets = [sheet.indirect_reference for sheet in printed.pages]
    first = next(index for index, text in enumerate(texts) if "1·Whatitcando" in text and "memoryofasmallone" in text)
    targets = {sheets.index(link.get_object()["/Dest"][0]) for link in links(printed, first, first + 8)}
    assert any("vllm-stored" in texts[target] for target in targets)
    assert len(targets) > 4  # not all to the beginning of the table


def links(printed: PdfReader, start: int, end: int) -> list:
    every = [link for sheet in printed.pages[start:end] for link in sheet.get("/Annots", [])]
    return [link for link in every if isinstance(link.get_object().get("/Dest"), ArrayObject)]


def test_no_link_leads_to_a_file_of_the_machine_that_printed_it(printed: PdfReader) -> None:
    actions = [str(link.get_object().get("/A")) for sheet in printed.pages for link in sheet.get("/Annots", [])]
    assert len(actions) > 100
    assert not [action for action in actions if "file:" in action]
    assert any("https://doi.org" in action for action in actions)


def test_folded_answers_stand_there_and_what_one_clicks_does_not(paper: Page, texts: list[str]) -> None:
    whole = "".join(texts)
    answers = 0
    for _, path in ORDER:
        paper.goto((HTML / path).as_uri())
        for code in paper.locator("details:has-text('Show the answer') pre").all_text_contents():
            assert "".join(code.split()) in whole
            answers += 1
    assert answers > 5
    for words in ("Searchthisbook", "Showtheanswer", "Playagain", "Speed", "Hidethe", "Ctrl+K"):
        assert words not in whole


def test_the_machine_is_there_as_a_still(printed: PdfReader, texts: list[str]) -> None:
    machine = next(index for index, text in enumerate(texts) if "Textsinblocksoffourslots" in text)
    stills = [image for sheet in printed.pages[machine : machine + 2] for image in sheet.images]
    assert any(image.image.width > 800 and len(image.image.convert("RGB").getcolors(2**20)) > 20 for image in stills)


def test_no_sheet_is_empty_and_each_has_its_number_at_its_foot(printed: PdfReader, texts: list[str]) -> None:
    for number, text in enumerate(texts, 1):
        assert text.endswith(str(number))
        assert len(text) > 60 or printed.pages[number - 1].images


def test_nothing_is_cut_at_the_edge_of_a_sheet(paper: Page, path: str) -> None:
    paper.goto((HTML / path).as_uri())
    paper.evaluate(pdf.PREPARE)
    cut = """() => [...document.querySelectorAll("article :is(pre, table, figure, .kv-figure, .kv-math, .kv-tables)")]
      .filter((each) => each.getClientRects().length)
      .filter((each) => each.getBoundingClientRect().left + each.scrollWidth > innerWidth + 1)
      .map((each) => each.textContent.trim().slice(0, 60))"""
    assert paper.evaluate(cut) == []


def test_a_screen_reader_finds_the_tags_of_each_sheet_and_the_language(printed: PdfReader) -> None:
    root = printed.root_object
    assert root["/MarkInfo"]["/Marked"]
    assert root["/Lang"] == "en"
    numbers = root["/StructTreeRoot"]["/ParentTree"]["/Nums"]
    assert list(numbers[::2]) == sorted(set(numbers[::2]))
    tags = dict(zip(numbers[::2], numbers[1::2], strict=True))
    for sheet in printed.pages:
        described = [tag.get_object() for tag in tags[sheet["/StructParents"]]]
        assert sheet.indirect_reference in [tag.raw_get("/Pg") for tag in described if "/Pg" in tag]


def test_it_says_what_it_is(printed: PdfReader) -> None:
    settings = (ROOT / "_config.yml").read_text(encoding="utf-8")
    assert re.search(f'title: "{printed.metadata.title}"', settings)
    assert printed.metadata.author
    assert printed.page_mode == "/UseOutlines"
