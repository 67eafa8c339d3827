"""Getting around in the book: by its arrows, its table of contents, its search and its links."""

import functools
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

import pytest
from playwright.sync_api import Browser, Page, expect

from .conftest import HTML, toc


@pytest.fixture(scope="module")
def window(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    yield page
    page.close()


@pytest.fixture(scope="module")
def small_window(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 390, "height": 800}, has_touch=True)
    yield page
    page.close()


@pytest.fixture
def desk(window: Page, site: str) -> Page:
    window.goto(site + toc()[0])
    return window


@pytest.fixture
def phone(small_window: Page, site: str) -> Page:
    small_window.goto(site + toc()[0])
    return small_window


def test_next_leads_through_all_pages_and_previous_back(desk: Page, site: str) -> None:
    pages = toc()
    for page in pages[1:]:
        desk.click("a.right-next")
        expect(desk).to_have_url(site + page)
    assert desk.locator("a.right-next").count() == 0
    for page in reversed(pages[:-1]):
        desk.click("a.left-prev")
        expect(desk).to_have_url(site + page)


def test_contents_lead_to_the_page_at_a_desk(desk: Page, site: str, path: str) -> None:
    contents = desk.locator("nav.bd-docs-nav")
    contents.locator("a.reference.internal").nth(toc().index(path)).click()
    expect(desk).to_have_url(re.compile(re.escape(site + path) + "#?$"))
    expect(contents.locator("li.current.active, .bd-sidenav__home-link")).not_to_have_count(0)


def test_contents_open_on_a_phone_and_lead_to_the_page(phone: Page, site: str, path: str) -> None:
    phone.locator("button.primary-toggle").tap()
    phone.locator("nav.bd-docs-nav a.reference.internal").nth(toc().index(path)).tap()
    expect(phone).to_have_url(re.compile(re.escape(site + path) + "#?$"))


def test_search_finds_the_page_by_its_heading(window: Page, site: str, path: str) -> None:
    window.goto(site + path)
    words = re.findall(r"[A-Za-z]{4,}", window.locator("article h1, article h2").last.inner_text())
    window.keyboard.press("Control+k")
    window.locator("#pst-search-dialog input").fill(" ".join(words))
    window.keyboard.press("Enter")
    expect(window.locator(f'#search-results li a[href*="{path}"]').first).to_be_visible()


@pytest.mark.parametrize(
    ("words", "chapter"),
    [("copy on write", "08-sharing"), ("block table", "07-the-block-table"), ("20.4", "01-what"), ("15,728", "04-res")],
)
def test_search_finds_the_chapter_that_explains_the_words_or_shows_the_number(
    window: Page, site: str, words: str, chapter: str
) -> None:
    window.goto(site + toc()[0])
    window.keyboard.press("Control+k")
    window.locator("#pst-search-dialog input").fill(words)
    window.keyboard.press("Enter")
    expect(window.locator(f'#search-results li a[href*="{chapter}"]').first).to_be_visible()


def test_theme_button_turns_the_page_dark_and_it_stays_dark(browser: Browser, site: str) -> None:
    desk = browser.new_page(viewport={"width": 1280, "height": 900})
    desk.goto(site + toc()[0])
    paper = "getComputedStyle(document.body).backgroundColor"
    by_day = desk.evaluate(paper)
    for _ in range(3):
        if desk.locator("html").get_attribute("data-theme") == "light":
            desk.click("button.theme-switch-button")
    desk.goto(site + toc()[-1])
    assert desk.evaluate(paper) != by_day
    desk.close()


class Anchors(HTMLParser):
    """The ids of a page and the links in it."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.feed((HTML / path).read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.ids.add(named.get("id") or "")
        if tag == "a" and named.get("href"):
            self.links.append(named["href"] or "")


anchors_of = functools.cache(Anchors)


def test_links_inside_the_book_lead_somewhere(site: str, path: str) -> None:
    lost = []
    for link in anchors_of(path).links:
        target, anchor = urldefrag(unquote(urljoin(path, link)))
        if re.match(r"\w+:", target):
            continue
        missing = not (HTML / target).is_file()
        if missing or (anchor and target.endswith(".html") and anchor not in anchors_of(target).ids):
            lost.append(link)
    assert lost == []


def test_first_page_is_reached_from_the_top_of_the_site(window: Page, site: str) -> None:
    window.goto(site)
    expect(window).to_have_url(site + toc()[0])
    assert Path(toc()[0]).suffix == ".html"
