"""The whole book as one PDF: each page's own HTML, printed by Chromium, joined in reading order.

`python book/pdf.py HTML PDF CHROMIUM` prints the built book in the folder HTML into the file PDF. Links between pages
lead to places in the PDF, the outline has the parts, pages and sections, and the tags that screen readers use are kept.
"""

import io
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urldefrag

import yaml
from playwright.sync_api import Browser, sync_playwright
from pypdf import PageObject, PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    BooleanObject,
    DecodedStreamObject,
    DictionaryObject,
    Fit,
    IndirectObject,
    NameObject,
    NullObject,
    NumberObject,
    TextStringObject,
)

ROOT = Path(__file__).parents[1]
MARGINS = {"top": "16mm", "bottom": "18mm", "left": "18mm", "right": "18mm"}
WIDTH = 658  # CSS pixels of an A4 page between these margins: pictures are laid out for it before they are printed
PREPARE = (Path(__file__).parent / "print.js").read_text(encoding="utf-8")
OPTIONS = {"format": "A4", "margin": MARGINS, "tagged": True, "outline": True, "print_background": True}


class Printed(NamedTuple):
    """A page of the book: its part, its title, its PDF, and the number of its first sheet, from 0."""

    part: str
    title: str
    reader: PdfReader
    first: int


def reading_order() -> Iterator[tuple[str, str]]:
    """(part, path below the site's top) of each page, as _toc.yml says; the first page is in no part."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    yield "", f"{toc['root']}.html"
    for part in toc["parts"]:
        for chapter in part["chapters"]:
            yield part["caption"], f"{chapter['file']}.html"


def print_book(browser: Browser, html: Path, order: Iterable[tuple[str, str]]) -> dict[str, Printed]:
    """The pages of the built book that `order` names, by their URL."""
    book: dict[str, Printed] = {}
    sheets = 0
    page = browser.new_page(viewport={"width": WIDTH, "height": 1000}, device_scale_factor=2)
    page.emulate_media(media="print", color_scheme="light", reduced_motion="reduce")
    for part, path in order:
        began, url = time.monotonic(), (html.resolve() / path).as_uri()
        page.goto(url, wait_until="load")
        title = page.evaluate(PREPARE)
        reader = PdfReader(io.BytesIO(page.pdf(**OPTIONS)))
        book[url] = Printed(part, title, reader, sheets)
        sheets += len(reader.pages)
        print(f"  {len(reader.pages):3} sheets in {time.monotonic() - began:4.1f} s: {title}", flush=True)
    page.close()
    return book


def join(book: dict[str, Printed]) -> PdfWriter:
    """One document of all pages, with outline, links, tags and numbered sheets."""
    writer = PdfWriter()
    for printed in book.values():
        for sheet in printed.reader.pages:
            writer.add_page(sheet)
    add_outline(writer, book)
    for url, printed in book.items():
        for sheet in writer.pages[printed.first : printed.first + len(printed.reader.pages)]:
            lead_inside(writer, sheet, url, book)
    add_tags(writer, book)
    number_sheets(writer)
    return writer


def add_outline(writer: PdfWriter, book: dict[str, Printed]) -> None:
    parts: dict[str, Any] = {"": None}
    for printed in book.values():
        if printed.part not in parts:
            parts[printed.part] = writer.add_outline_item(title=printed.part, page_number=printed.first)
        where = {"page_number": printed.first, "parent": parts[printed.part]}
        item = writer.add_outline_item(title=printed.title, **where)
        for entry in flat(printed.reader.outline):
            sheet = printed.reader.get_destination_page_number(entry)
            if sheet is not None and entry.title != printed.title:
                place = Fit.xyz(left=entry.left, top=entry.top)
                where = {"page_number": printed.first + sheet, "parent": item, "fit": place}
                writer.add_outline_item(title=entry.title, **where)


def flat(outline: list) -> Iterator[Any]:
    for entry in outline:
        if isinstance(entry, list):
            yield from flat(entry)
        else:
            yield entry


def lead_inside(writer: PdfWriter, sheet: PageObject, url: str, book: dict[str, Printed]) -> None:
    """Turn links to pages of the book into links to sheets; one to a file that does not come along leads nowhere."""
    for reference in sheet.get("/Annots", []):
        link = reference.get_object()
        target = link.get("/A", {}).get("/URI", "")
        if "/Dest" in link:
            target = f"{url}#{link['/Dest'].removeprefix('/')}"
        page, fragment = urldefrag(target)
        if target.startswith("file:"):
            link.pop("/A", None)
        if page in book:
            link[NameObject("/Dest")] = destination(writer, book[page], unquote(fragment))


def destination(writer: PdfWriter, printed: Printed, fragment: str) -> ArrayObject:
    """Where the element with the id `fragment` stands, or the page's beginning."""
    place = printed.reader.named_destinations.get(f"/{fragment}")
    sheet = printed.reader.get_destination_page_number(place) if place else 0
    left, top = (place.left, place.top) if place else (NullObject(), NullObject())
    reference = writer.pages[printed.first + (sheet or 0)].indirect_reference
    return ArrayObject([reference, NameObject("/XYZ"), left, top, NullObject()])


def add_tags(writer: PdfWriter, book: dict[str, Printed]) -> None:
    """Join the trees of tags. A sheet finds its tags by a number, so each page's numbers begin after the last's."""
    root = DictionaryObject({NameObject("/Type"): NameObject("/StructTreeRoot")})
    reference = writer._add_object(root)
    tops, numbered, taken = ArrayObject(), ArrayObject(), 0
    for printed in book.values():
        tree = printed.reader.root_object["/StructTreeRoot"].clone(writer)
        for top in elements(tree["/K"]):
            top.get_object()[NameObject("/P")] = reference
            tops.append(top)
        numbers = list(pairs(tree["/ParentTree"]))
        for number, tags in numbers:
            numbered += [NumberObject(taken + number), tags]
        for index, sheet in enumerate(printed.reader.pages):
            joined = writer.pages[printed.first + index]
            joined[NameObject("/StructParents")] = NumberObject(taken + sheet["/StructParents"])  # add_page left it out
            for link in joined.get("/Annots", []):
                if "/StructParent" in link.get_object():
                    number = link.get_object()["/StructParent"]
                    link.get_object()[NameObject("/StructParent")] = NumberObject(taken + number)
        taken += 1 + max((number for number, _ in numbers), default=0)
    root[NameObject("/K")] = tops
    root[NameObject("/ParentTree")] = writer._add_object(DictionaryObject({NameObject("/Nums"): numbered}))
    root[NameObject("/ParentTreeNextKey")] = NumberObject(taken)
    writer.root_object[NameObject("/StructTreeRoot")] = reference
    writer.root_object[NameObject("/MarkInfo")] = DictionaryObject({NameObject("/Marked"): BooleanObject(True)})


def elements(kids: Any) -> list[IndirectObject]:
    return list(kids) if isinstance(kids, ArrayObject) else [kids.indirect_reference]


def pairs(tree: DictionaryObject) -> Iterator[tuple[int, Any]]:
    """The entries of a number tree."""
    numbers = tree.get("/Nums", ArrayObject())
    yield from zip(numbers[::2], numbers[1::2], strict=True)
    for kid in tree.get("/Kids", []):
        yield from pairs(kid.get_object())


def number_sheets(writer: PdfWriter) -> None:
    """Print its number at the foot of each sheet, outside of what the tags describe."""
    helvetica = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
    font = writer._add_object(DictionaryObject({NameObject(key): NameObject(name) for key, name in helvetica.items()}))
    before = stream(writer, "q\n")
    for number, sheet in enumerate(writer.pages, 1):
        fonts = sheet["/Resources"].setdefault(NameObject("/Font"), DictionaryObject()).get_object()
        fonts[NameObject("/SheetNumber")] = font
        middle = float(sheet.mediabox.width) / 2 - 2.2 * len(str(number))
        words = f"\nQ /Artifact BMC BT /SheetNumber 8 Tf 0.36 g {middle:.1f} 24 Td ({number}) Tj ET EMC\n"
        contents = sheet.raw_get("/Contents") if "/Contents" in sheet else before
        sheet[NameObject("/Contents")] = ArrayObject([before, contents, stream(writer, words)])


def stream(writer: PdfWriter, operators: str) -> IndirectObject:
    content = DecodedStreamObject()
    content.set_data(operators.encode("ascii"))
    return writer._add_object(content)


def describe(writer: PdfWriter) -> None:
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    writer.add_metadata({"/Title": settings["title"], "/Author": settings["author"]})
    writer.root_object[NameObject("/Lang")] = TextStringObject("en")
    writer.page_mode = "/UseOutlines"
    writer.create_viewer_preferences().display_doctitle = True


def main(html: str, pdf: str, chromium: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        book = print_book(browser, Path(html), reading_order())
        browser.close()
    writer = join(book)
    describe(writer)
    writer.write(pdf)
    size = Path(pdf).stat().st_size / 2**20
    print(f"{pdf}: {len(writer.pages)} sheets of {len(book)} pages, {size:.1f} MiB.", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
