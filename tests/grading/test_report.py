from html.parser import HTMLParser

import pytest
from axe_playwright_python.sync_playwright import Axe

from kvlib.grading.judge import Broken, Result
from kvlib.grading.marks import Mark
from kvlib.grading.report import as_html, file_names

WRONG = Result(
    False,
    "wrong: broke 'each block once'",
    (Broken("each block once", "[3, 1]", "[3, 3]"),),
    "pool: wrong. Block 3 twice.",
)
MARKS = [
    Mark("ada", "03-pool", "pool", 0, 4, "wrong: broke 'each block once'", "ada/x.ipynb", WRONG),
    Mark(
        "ada",
        "03-pool",
        "table",
        2,
        2,
        "right",
        "ada/x.ipynb",
        Result(True, "right", said="table: right. 3 blocks wasted."),
    ),
    Mark("ada", "04-waste", "waste", 0, 3, "nothing was handed in"),
]


class Tags(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags, self.text, self.open = [], "", []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data

    def of(self, name):
        return [attributes for tag, attributes in self.tags if tag == name]


def test_a_report_says_what_failed_which_property_it_broke_and_both_values():
    text = " ".join(Tags(as_html("ada", MARKS)).text.split())
    for words in (
        *("2 of 9 points", "pool: 0 of 4 points", "each block once", "[3, 1]", "[3, 3]", "pool: wrong. Block 3 twice."),
        *("table: right. 3 blocks wasted.", "Nothing was handed in.", "03-pool", "04-waste"),
    ):
        assert words in text


def test_a_report_needs_no_script_no_network_and_no_other_file():
    page = Tags(as_html("ada", MARKS))
    assert page.of("script") == page.of("img") == []
    assert [link["href"] for link in page.of("link")] == ["data:,"]
    assert page.of("meta")[2]["content"].startswith("default-src 'none'")


def test_a_report_can_be_read_aloud_and_in_the_dark():
    html = as_html("ada", MARKS)
    page = Tags(html)
    assert page.open == []
    assert page.of("html") == [{"lang": "en"}]
    assert [tag for tag, _ in page.tags if tag in ("h1", "h2", "h3")] == ["h1", "h2", "h3", "h3", "h2", "h3"]
    assert all("scope" in head for head in page.of("th"))
    assert len(page.of("caption")) == len(page.of("table")) == 1
    assert "color-scheme: light dark" in html


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_report_has_no_fault_that_a_tool_for_accessibility_finds(browser, tmp_path, scheme):
    (tmp_path / "ada.html").write_text(as_html("ada", MARKS), encoding="utf-8")
    page = browser.new_page(color_scheme=scheme, viewport={"width": 320, "height": 800})
    page.goto((tmp_path / "ada.html").as_uri())
    assert [fault["id"] for fault in Axe().run(page).response["violations"]] == []
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    page.close()


def test_nothing_that_was_handed_in_becomes_html():
    evil = "</pre><script>alert(1)</script>"
    result = Result(False, evil, (Broken(evil, evil, evil),), evil)
    page = Tags(as_html(evil, [Mark(evil, evil, evil, 0, 1, evil, evil, result)]))
    assert page.of("script") == []
    assert page.text.count(evil) > 8


def test_each_student_has_a_file_of_their_own():
    students = ["ada", "Ada", "a b", "a/b", "../x", "李四", "x" * 300, "", "=1\n"]
    names = file_names(students)
    assert len({name.casefold() for name in names.values()}) == len(students)
    assert names["李四"] == "李四"
    assert all(name and len(name.encode()) < 250 and not set(name) & set('/\\.:*?"<>|\n ') for name in names.values())
