"""Widgets in a page: one whose data cannot be read says so, and the others are shown."""

import pytest
from playwright.sync_api import Browser, expect

from kvlib.show.machine import Machine
from kvlib.show.modules import script
from kvlib.show.pages import element

from .machines import forked

WHOLE = Machine(forked(), label="Whole")


@pytest.mark.parametrize(
    "broken",
    [
        element("machine", WHOLE.own_traits, "words").replace("}]}", ""),
        element("machine", {}, "words").replace("{}", "null"),
        element("machine", {}, "words").replace("{}", '{"position": NaN}'),
        element("pump", {}, "words"),
        '<div class="kv-widget" data-widget="machine"><p>words</p></div>',
    ],
    ids=["cut short", "null", "no JSON", "unknown widget", "no data"],
)
def test_a_widget_that_cannot_be_read_says_so_and_the_next_is_shown(browser: Browser, broken: str) -> None:
    page = browser.new_page()
    whole = element("machine", WHOLE.own_traits, "words")
    page.set_content(f"<main>{broken}{whole}</main><script>{script('machine')}</script>")
    first, second = page.locator("main > .kv-widget").all()
    expect(first.get_by_role("alert")).to_contain_text("This picture cannot be shown, since its data cannot be read: ")
    expect(first).to_contain_text("words")
    expect(second.get_by_role("button", name="Play", exact=True)).to_be_visible()
    page.close()
