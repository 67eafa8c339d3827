"""Every page of the book, as a reader on a phone or a desk, by day or by night, opens it."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe

BUDGET = 500_000  # bytes of a page with all that it loads, compressed; half of this is the theme
READERS = [(width, theme) for width in (1280, 390) for theme in ("light", "dark")]
# axe names an icon button's hidden text and its title a mismatch; the buttons are the theme's own.
THEMES_OWN = {"label-content-name-mismatch"}
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

reader = pytest.mark.parametrize(("width", "theme"), READERS)


@reader
def test_page_loads_without_complaint_and_without_another_host(
    open_page: Callable, site: str, path: str, width: int, theme: str
) -> None:
    visit = open_page(path, width, theme)
    assert visit.complaints == []
    assert visit.hosts == {urlsplit(site).netloc}


@reader
def test_page_never_scrolls_sideways(open_page: Callable, path: str, width: int, theme: str) -> None:
    page = open_page(path, width, theme).page
    needed, given = page.evaluate(
        """() => {
            const folded = document.querySelectorAll("article details:not([open])");
            folded.forEach(part => part.open = true);
            const {scrollWidth, clientWidth} = document.scrollingElement;
            folded.forEach(part => part.open = false);
            return [scrollWidth, clientWidth];
        }"""
    )
    assert needed <= given


def test_no_markup_is_left_in_the_text(open_page: Callable, path: str) -> None:
    text = open_page(path).page.evaluate(
        """() => {
            const article = document.querySelector("article").cloneNode(true);
            article.querySelectorAll("pre, code, math, svg").forEach(part => part.remove());
            return article.textContent;
        }"""
    )
    assert re.findall(r"\{[.#]?[\w-]+\}\S*|:::|```|\$\S+\$|\]\(\S+", text) == []


def test_every_picture_has_a_text(open_page: Callable, path: str) -> None:
    silent = open_page(path).page.evaluate(
        """[...document.querySelectorAll("article img, article svg")]
            .filter(e => !e.alt && !e.getAttribute("aria-label") && e.ariaHidden !== "true" && !e.closest("button"))
            .map(e => e.outerHTML.slice(0, 120))"""
    )
    assert silent == []


def test_type_in_figures_is_readable_on_a_phone(open_page: Callable, path: str) -> None:
    small = open_page(path, 390).page.evaluate(
        """[...document.querySelectorAll("article svg:is([role=img], .kv-exploded) text")]
            .map(t => [parseFloat(getComputedStyle(t).fontSize) * Math.hypot(t.getScreenCTM().a, t.getScreenCTM().b),
                       t.textContent])
            .filter(([pixels]) => pixels < 9)"""
    )
    assert small == []


def test_page_is_light_and_loads_no_font(open_page: Callable, path: str, record_property: Callable) -> None:
    sizes = open_page(path).bytes_by_url()
    weight = sum(sizes.values())
    record_property("page weight, compressed", f"{weight / 1000:8.0f} kB  {path}")
    assert weight <= BUDGET, sorted(sizes.items(), key=lambda item: -item[1])[:5]
    assert not [url for url in sizes if re.search(r"\.(woff2?|ttf|otf)\b", url)]


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (390, "dark")])
def test_page_is_accessible(open_page: Callable, path: str, width: int, theme: str) -> None:
    rules = {"runOnly": {"type": "tag", "values": WCAG}, "resultTypes": ["violations"]}
    found = Axe().run(open_page(path, width, theme).page, options=rules).response["violations"]
    assert [
        (violation["id"], node["html"][:120], node["failureSummary"])
        for violation in found
        if violation["id"] not in THEMES_OWN
        for node in violation["nodes"]
    ] == []


@reader
def test_screenshot_is_kept_for_a_reader_to_look_at(
    open_page: Callable, screenshots: Path, path: str, width: int, theme: str
) -> None:
    kept = screenshots / f"{Path(path).stem}-{width}-{theme}.png"
    open_page(path, width, theme).page.screenshot(path=kept, full_page=True)
    assert kept.stat().st_size > 10_000
