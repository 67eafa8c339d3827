"""The book opened from a disk, without any server: pages, machines and search work."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from .conftest import HTML, toc


def listen(page: Page) -> None:
    page.on("console", lambda m: m.type in ("error", "warning") and page.complaints.append(m.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("requestfailed", lambda request: page.complaints.append(f"failed: {request.url}"))


@pytest.fixture
def folder_page(open_window: Callable[..., Page]) -> Iterator[Page]:
    page = open_window(listen, offline=True)
    page.complaints = []  # type: ignore[attr-defined]
    yield page
    assert page.complaints == []


def test_a_page_is_complete(folder_page: Page, path: str) -> None:
    folder_page.goto((HTML / path).as_uri())
    for machine in folder_page.locator("[data-widget=machine]").all():
        expect(machine.locator("canvas").first).to_be_attached()
    assert folder_page.locator("article h1").count() == 1


def test_a_machine_plays(folder_page: Page) -> None:
    folder_page.goto((HTML / toc()[1]).as_uri())
    machine = folder_page.locator("[data-widget=machine]").first
    expect(machine.get_by_role("slider", name="Events")).to_be_attached()
    before = machine.get_by_role("slider", name="Events").input_value()
    machine.get_by_role("button", name="One event forward").click()
    assert int(machine.get_by_role("slider", name="Events").input_value()) == int(before) + 1


def test_search_finds_a_page(folder_page: Page) -> None:
    folder_page.goto((HTML / toc()[1]).as_uri())
    folder_page.keyboard.press("Control+k")
    folder_page.locator("#pst-search-dialog input").fill("copy-on-write")
    folder_page.keyboard.press("Enter")
    expect(folder_page.locator('#search-results li a[href*="08-sharing"]').first).to_be_visible()
    of_excerpts = ("Access to fetch at", "Failed to", "failed: file:")  # which a browser gives to servers only
    assert [each for each in folder_page.complaints if not each.startswith(of_excerpts)] == []
    folder_page.complaints.clear()
