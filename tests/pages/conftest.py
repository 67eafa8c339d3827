"""A browser on the built book. Build it first (`make book SERVE=0`); these tests read _build/html.

KVBOOK_CHROMIUM names the browser where it is not `chromium` on the path; KVBOOK_HTML another folder of pages.
"""

import functools
import gzip
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urljoin

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[2]
HTML = Path(os.environ.get("KVBOOK_HTML", ROOT / "_build" / "html"))
SCREENSHOTS = ROOT / "_build" / "screenshots"
NOT_BUILT = "the book is not built"
# Without these Chromium asks its maker's servers for updates, and a network that refuses is reported as an error.
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync")  # fmt: skip


def toc() -> list[str]:
    """The pages in reading order, as paths from the top of the site, read from the sidebar of the first page."""
    if not (HTML / "index.html").exists():
        return [NOT_BUILT]
    first = re.search(r"url=([^\"]+)", (HTML / "index.html").read_text()).group(1)
    sidebar = re.search(r'<nav class="bd-links.*?</nav>', (HTML / first).read_text(), re.DOTALL).group(0)
    links = re.findall(r'<a class="[^"]*reference internal[^"]*" href="([^"]+)"', sidebar)
    pages = [first if link.startswith("#") else urljoin(first, link) for link in links]
    return list(dict.fromkeys([first, *pages]))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "path" in metafunc.fixturenames:
        metafunc.parametrize("path", toc(), scope="session")  # one page after the other: few are open at a time


@dataclass
class Visit:
    """One page as one reader opens it, and what happened on the way."""

    page: Page
    complaints: list[str] = field(default_factory=list)  # console errors and warnings, exceptions, failed requests
    hosts: set[str] = field(default_factory=set)
    bytes_by_url: dict[str, int] = field(default_factory=dict)  # as sent by a server that compresses


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    if not HTML.joinpath("index.html").exists():
        pytest.fail(f"{NOT_BUILT}: there is no index.html in {HTML}; run `make book SERVE=0` first")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(HTML)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = os.environ.get("KVBOOK_CHROMIUM") or shutil.which("chromium")
    if not executable:
        pytest.fail("no Chromium: install one (Debian: apt install chromium) or name it in KVBOOK_CHROMIUM")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=list(QUIET))
        yield started
        started.close()


@pytest.fixture(scope="session")
def open_page(site: str, browser: Browser) -> Callable[..., Visit]:
    """Opens a page in a fresh window; the same page, width and theme give the same visit again."""
    opened: dict[tuple[str, int, str], Visit] = {}

    def visit(path: str, width: int = 1280, theme: str = "light") -> Visit:
        for left in [key for key in opened if key[0] != path]:
            opened.pop(left).page.context.close()
        if (path, width, theme) not in opened:
            opened[path, width, theme] = first_visit(path, width, theme)
        return opened[path, width, theme]

    def first_visit(path: str, width: int, theme: str) -> Visit:
        page = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme).new_page()
        seen = Visit(page)
        responses = []
        page.on("console", lambda m: m.type in ("error", "warning") and seen.complaints.append(f"{m.type}: {m.text}"))
        page.on("pageerror", lambda error: seen.complaints.append(f"exception: {error}"))
        page.on("requestfailed", lambda request: seen.complaints.append(f"failed: {request.url}"))
        page.on("request", lambda r: r.url.startswith(("data:", "blob:")) or seen.hosts.add(r.url.split("/")[2]))
        page.on("response", lambda response: responses.append(response))
        page.route(lambda url: not url.startswith((site, "data:", "blob:")), lambda route: route.abort())
        page.goto(site + path, wait_until="networkidle")
        for response in responses:
            if response.ok:
                seen.bytes_by_url[response.url] = len(gzip.compress(response.body()))
            else:
                seen.complaints.append(f"status {response.status}: {response.url}")
        return seen

    return visit


weights: dict[str, int] = {}
frame_rates: dict[str, float] = {}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if weights:
        terminalreporter.section("page weight, compressed")
        for path, size in weights.items():
            terminalreporter.line(f"{size / 1000:8.0f} kB  {path}")
    if frame_rates:
        terminalreporter.section("frames a second that the machine drew here, of 60")
        for what, rate in frame_rates.items():
            terminalreporter.line(f"{rate:8.1f}  {what}")


@pytest.fixture
def page_weights() -> dict[str, int]:
    """Bytes of each page with all that it loads; printed at the end of the run."""
    return weights


@pytest.fixture
def rates() -> dict[str, float]:
    """Frames a second of what was played; printed at the end of the run, not tested: machines are noisy."""
    return frame_rates


@pytest.fixture
def screenshots() -> Path:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return SCREENSHOTS
