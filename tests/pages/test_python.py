"""Python in the page: the live cells of the built book, as a reader with a mouse, a keyboard or a finger uses them."""

import contextlib
import io
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, Response, Route, expect

from .conftest import HTML, toc
from .test_pages import READERS, THEMES_OWN, WCAG

PROGRAMS = Path(__file__).parent / "programs"
LIVE_PAGES = [path for path in toc() if (HTML / path).is_file() and "tag_live" in (HTML / path).read_text()]
CHAPTERS = ("04", "05", "06", "07", "08", "09", "11")
HOLES = next((path for path in LIVE_PAGES if "06-like-paging" in path), "the book is not built")

live_page = pytest.mark.parametrize("live_path", LIVE_PAGES or ["the book is not built"])


class Reader:
    """A reader in a window of his own; what his pages asked for and complained about is kept."""

    def __init__(self, page: Page, site: str) -> None:
        self.page = page
        self.site = site
        self.complaints: list[str] = []
        self.loaded: list[Response] = []
        self.hosts: set[str] = set()
        page.reader = self  # type: ignore[attr-defined]

    def open(self, path: str) -> None:
        self.page.goto(self.site + path, wait_until="networkidle")
        self.page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")

    @property
    def python(self) -> list[Response]:
        return [response for response in self.loaded if "/_static/python/" in response.url]

    def cell(self, number: int) -> Locator:
        return self.page.locator("div.cell.tag_live").nth(number)

    def change(self, number: int, code: str | None = None) -> Locator:
        """Open a cell, and put `code` into it."""
        cell = self.cell(number)
        if cell.locator("textarea").count() == 0:
            opener(cell).click()
        if code is not None:
            cell.locator("textarea").fill(code)
        return cell

    def start(self, number: int, code: str | None = None) -> Locator:
        cell = self.change(number, code)
        cell.get_by_role("button", name="Run", exact=True).click()
        return cell

    def run(self, number: int, code: str | None = None) -> Locator:
        """Run a cell to its end."""
        cell = self.start(number, code)
        wait_for_end(cell)
        return cell


def listen(page: Page) -> None:
    def complain(text: str) -> None:
        page.reader.complaints.append(text)

    page.on("console", lambda m: m.type in ("error", "warning") and complain(f"{m.type}: {m.text}"))
    page.on("pageerror", lambda error: complain(f"exception: {error}"))
    page.on("response", lambda response: page.reader.loaded.append(response))
    page.on("request", lambda r: r.url.startswith(("data:", "blob:")) or page.reader.hosts.add(urlsplit(r.url).netloc))


def opener(cell: Locator) -> Locator:
    return cell.get_by_role("button", name=re.compile("^Change and run"))


def wait_for_end(cell: Locator) -> None:
    expect(cell.get_by_role("button", name="Run", exact=True)).to_have_attribute(
        "aria-disabled", "false", timeout=90_000
    )


def printed(cell: Locator) -> str:
    return cell.locator(".kv-live-printed").text_content() or ""


def error(cell: Locator) -> str:
    return cell.locator(".kv-live-error").text_content() or ""


def status(cell: Locator) -> str:
    return cell.locator(".kv-live-output .kv-live-said").text_content() or ""


@pytest.fixture
def open_reader(open_window: Callable[..., Page], site: str) -> Callable[..., Reader]:
    def opened(width: int = 1280, theme: str = "light", touch: bool = False) -> Reader:
        page = open_window(listen, color_scheme=theme, has_touch=touch)
        page.set_viewport_size({"width": width, "height": 900})
        return Reader(page, site)

    return opened


@pytest.fixture
def reader(open_reader: Callable[..., Reader]) -> Reader:
    return open_reader()


@pytest.fixture
def holes(reader: Reader) -> Reader:
    """A reader of chapter 6, whose second live cell builds on its first."""
    reader.open(HOLES)
    return reader


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_chapter_has_a_cell_that_a_reader_can_run(site: str, chapter: str) -> None:
    assert [path for path in LIVE_PAGES if Path(path).name.startswith(chapter)]


@live_page
def test_nothing_of_python_is_loaded_before_a_reader_runs_a_cell(reader: Reader, live_path: str) -> None:
    reader.open(live_path)
    reader.change(0)
    reader.page.wait_for_timeout(300)
    assert reader.python == []


@live_page
def test_each_live_cell_prints_what_stands_below_it(reader: Reader, live_path: str) -> None:
    reader.open(live_path)
    for number in range(reader.page.locator("div.cell.tag_live").count()):
        cell = reader.run(number)
        stands_below = "".join(cell.locator(".cell_output .stream pre").all_text_contents())
        assert (printed(cell), error(cell) if cell.locator(".kv-live-error").count() else "") == (stands_below, "")
    assert reader.complaints == []
    assert reader.hosts == {urlsplit(reader.site).netloc}


def test_only_a_page_with_live_cells_loads_the_script_for_them(reader: Reader) -> None:
    reader.open(next(path for path in toc() if path not in LIVE_PAGES))
    assert not [response.url for response in reader.loaded if "cells." in response.url]
    reader.open(HOLES)
    assert len([response.url for response in reader.loaded if "cells." in response.url]) == 2


def test_the_button_names_the_bytes_that_running_loads_and_they_are_loaded_once(holes: Reader) -> None:
    named = opener(holes.cell(0)).inner_text()
    holes.run(0)
    holes.run(1)
    size = sum(len(response.body()) for response in holes.python)
    assert str(size) == holes.page.locator('meta[name="kv-python"]').get_attribute("data-bytes")
    assert named == f"Change and run this here ({size / 1e6:.1f} MB of Python, once)"
    assert opener(holes.cell(2)).inner_text() == "Change and run this here"
    assert len({response.url for response in holes.python}) == len(holes.python) == 4


def test_what_a_cell_builds_on_is_run_before_it(holes: Reader) -> None:
    assert printed(holes.run(1)).startswith("F has [")
    assert holes.cell(0).locator("textarea").count() == 0


def test_a_change_above_reaches_the_cell_below(holes: Reader) -> None:
    holes.run(0, "from kvlib.memory import BlockManager\nmanager = BlockManager(99, 4)")
    assert printed(holes.run(1)) == f"F has {list(range(1, 10))}\n"


def test_an_error_in_a_cell_above_is_shown_with_its_place(holes: Reader) -> None:
    holes.run(0, "print('so far')\n1 / 0")
    cell = holes.run(1)
    assert status(cell) == "Live cell 1, above, ended with an error:"
    assert error(cell).splitlines() == [
        "Traceback (most recent call last):",
        '  File "live cell 1", line 2, in <module>',
        "ZeroDivisionError: divide by zero",
    ]


def test_reset_brings_the_code_back(holes: Reader) -> None:
    original = printed(holes.run(0))
    cell = holes.run(0, "print('changed')")
    assert printed(cell) == "changed\n"
    cell.get_by_role("button", name="Reset").click()
    assert printed(holes.run(0)) == original


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("1 + 1", "2\n"),
        ("sorted(\n    'ba'\n)  # as in a notebook", "['a', 'b']\n"),
        ("print('no newline', end='')", "no newline"),
        ("print('春眠 é')", "春眠 é\n"),
        ("{'z': 1, 'a': 2, 'm': 3}", "{'z': 1, 'a': 2, 'm': 3}\n"),
        ("def f(**names):\n    return names\nf(b=1, a=2)", "{'b': 1, 'a': 2}\n"),
        ("x = 3", ""),
    ],
)
def test_code_prints_as_it_would_in_a_notebook(holes: Reader, code: str, shown: str) -> None:
    cell = holes.run(0, code)
    assert printed(cell) == shown
    assert status(cell) == ("It printed:" if shown else "It ran, and printed nothing.")


@pytest.mark.parametrize(
    ("code", "line", "last"),
    [
        ("print(1\nx =", "line 2", "SyntaxError: invalid syntax"),
        ("x = 1\n\nnothing", "line 3", "NameError: name 'nothing' isn't defined"),
        ("import numpy", "line 1", "ImportError: no module named 'numpy'"),
        ("input()", "line 1", "EOFError: a cell in a page cannot ask; write the answer into its code"),
        (
            "from kvlib.memory import BlockManager\nBlockManager(0, 4)",
            "line 2",
            "BadConfig: num_blocks is 0 (int); give a whole number, an int of at least 1",
        ),
        ("def f(n):\n    return f(n + 1)\nf(1)", "line 3", "RuntimeError: maximum recursion depth exceeded"),
    ],
)
def test_an_error_comes_back_as_pythons_own_text(holes: Reader, code: str, line: str, last: str) -> None:
    lines = error(holes.run(0, code)).splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1].startswith(f'  File "live cell 1", {line}')
    assert lines[-1] == last
    assert len(lines) <= 13


@pytest.mark.parametrize(("code", "shown"), [("sys.exit('no block')", "SystemExit: no block"), ("sys.exit(0)", "")])
def test_a_cell_that_ends_itself_says_why(holes: Reader, code: str, shown: str) -> None:
    cell = holes.run(0, f"import sys\n{code}")
    assert (error(cell) if shown else printed(cell)) == shown


@pytest.mark.parametrize("loop", ["pass", "print(1)", "print(end='1')"])
def test_a_loop_without_end_can_be_stopped_and_leaves_the_page_usable(holes: Reader, loop: str) -> None:
    holes.run(1)
    cell = holes.start(0, f"while True:\n    {loop}")
    expect(cell.locator(".kv-live-output .kv-live-said")).to_have_text("Running")
    cell.get_by_role("button", name="Stop").click()
    expect(cell.locator(".kv-live-output .kv-live-said")).to_have_text("Stopped.")
    cell.get_by_role("button", name="Reset").click()
    assert printed(holes.run(1)).startswith("F has [")
    assert len(holes.python) == 4


def test_what_a_loop_prints_is_cut(holes: Reader) -> None:
    text = printed(holes.run(0, "for i in range(300000):\n    print(i)"))
    assert text.endswith("... the rest is not shown\n")
    assert len(text) < 101_000


def test_memory_has_an_end_and_what_filled_it_is_let_go(holes: Reader) -> None:
    assert error(holes.run(0, "kept = []\nwhile True:\n    kept.append(1)")).splitlines()[-1].startswith("MemoryError")
    assert error(holes.run(0, "kept")).splitlines()[-1] == "NameError: name 'kept' isn't defined"


def test_a_run_waits_for_the_one_before_it(holes: Reader) -> None:
    holes.start(0, "for i in range(10 ** 6):\n    pass\nshared = 'from above'")
    assert printed(holes.run(1, "print(shared)")) == "from above\n"


def test_the_keyboard_alone_is_enough_and_is_not_trapped(holes: Reader) -> None:
    keys, cell = holes.page.keyboard, holes.cell(0)
    opener(cell).focus()
    keys.press("Enter")
    area = cell.locator("textarea")
    expect(area).to_be_focused()
    original = area.input_value()
    keys.press("Control+a")
    keys.type("for i in range(2):\nprint(i)")
    assert area.input_value() == "for i in range(2):\n    print(i)"
    keys.press("Enter")
    keys.press("Tab")
    keys.type("print()")
    assert area.input_value().endswith("\n        print()")
    for _ in range(9):
        keys.press("Control+z")
    assert area.input_value() == original
    keys.press("Control+a")
    keys.type("print(3)")
    keys.press("Shift+Enter")
    wait_for_end(cell)
    assert printed(cell) == "3\n"
    keys.press("Escape")
    for name in ("Run", "Stop", "Reset"):
        keys.press("Tab")
        expect(cell.get_by_role("button", name=name, exact=True)).to_be_focused()
    keys.press("Enter")
    expect(area).to_be_focused()
    keys.press("Escape")
    keys.press("Tab")
    keys.press("Enter")
    wait_for_end(cell)
    expect(cell.get_by_role("button", name="Run", exact=True)).to_be_focused()
    keys.press("Shift+Tab")
    expect(area).to_be_focused()
    keys.press("Shift+Tab")
    expect(area).not_to_be_focused()


def test_a_finger_on_a_phone_is_enough(open_reader: Callable[..., Reader]) -> None:
    reader = open_reader(390, touch=True)
    reader.open(HOLES)
    cell = reader.cell(0)
    opener(cell).tap()
    for name in ("Run", "Stop", "Reset"):
        box = cell.get_by_role("button", name=name, exact=True).bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 24
    cell.get_by_role("button", name="Run", exact=True).tap()
    wait_for_end(cell)
    assert status(cell) == "It printed:"
    needed, given = reader.page.evaluate(
        "[document.scrollingElement.scrollWidth, document.scrollingElement.clientWidth]"
    )
    assert needed <= given


@pytest.mark.parametrize(("width", "theme"), READERS)
def test_open_cells_are_accessible(
    open_reader: Callable[..., Reader], screenshots: Path, width: int, theme: str
) -> None:
    reader = open_reader(width, theme)
    reader.open(HOLES)
    reader.run(0)
    reader.run(1, "manager.admit('F', num_tokens=3600)")
    reader.start(2, "while True:\n    pass")
    assert reader.complaints == []
    rules = {"runOnly": {"type": "tag", "values": WCAG}, "resultTypes": ["violations"]}
    found = Axe().run(reader.page, options=rules).response["violations"]
    reader.cell(0).scroll_into_view_if_needed()
    reader.page.screenshot(path=screenshots / f"live-cells-{width}-{theme}.png", full_page=True)
    assert [violation for violation in found if violation["id"] not in THEMES_OWN] == []


def test_what_is_printed_is_announced(holes: Reader) -> None:
    output = holes.run(0).get_by_role("status")
    assert printed(holes.cell(0)) in (output.text_content() or "")


def test_from_a_disk_the_page_says_what_running_needs(reader: Reader) -> None:
    reader.page.goto((HTML / HOLES).as_uri())
    said = reader.page.locator(".kv-live").all_text_contents()
    assert said[0] == 'Running code here needs a web server; the command "make book" starts one.'
    assert set(said[1:]) == {""}


def test_where_loading_fails_the_page_says_so_and_tries_again_when_asked(holes: Reader) -> None:
    def refuse(route: Route) -> None:
        route.fulfill(status=503)

    holes.page.route("**/kvlib.json*", refuse)
    cell = holes.run(0)
    assert error(cell) == "Python could not be loaded (kvlib.json gave status 503). Run it again."
    holes.page.unroute("**/kvlib.json*", refuse)
    assert status(holes.run(0)) == "It printed:"


def test_loading_says_how_far_it_is_and_can_be_stopped(holes: Reader) -> None:
    megabytes = opener(holes.cell(0)).inner_text().split("(")[1].split()[0]
    holes.page.route("**/micropython.wasm*", lambda route: None)  # never answered
    cell = holes.start(0)
    said = cell.locator(".kv-live-output .kv-live-said")
    expect(said).to_have_text(re.compile(rf"^Loading Python: 0\.\d of {megabytes} MB$"))
    cell.get_by_role("button", name="Stop").click()
    expect(said).to_have_text("Stopped.")
    holes.page.unroute("**/micropython.wasm*")
    assert status(holes.run(0)) == "It printed:"


@pytest.mark.parametrize("program", sorted(PROGRAMS.glob("*.py")), ids=lambda path: path.stem)
def test_kvlib_does_the_same_in_the_page_as_here(holes: Reader, program: Path) -> None:
    code, here = program.read_text(), io.StringIO()
    with contextlib.redirect_stdout(here):
        exec(compile(code, program.name, "exec"), {"__name__": "__main__"})
    assert printed(holes.run(0, code)) == here.getvalue()


def test_every_part_of_kvlib_that_the_page_gets_can_be_imported(holes: Reader) -> None:
    packed = holes.page.request.get(holes.site + "_static/python/kvlib.json").json()
    modules = [path.removesuffix(".py").replace("/", ".") for path in packed if path.endswith(".py")]
    names = [name.removesuffix(".__init__") for name in modules]
    code = f"for name in {names!r}:\n    __import__(name)\nprint('all of them')"
    assert printed(holes.run(0, code)) == "all of them\n"
    assert {"kvlib.memory.radix_manager", "kvlib.serving.simulator", "kvlib.texts"} <= set(names)
