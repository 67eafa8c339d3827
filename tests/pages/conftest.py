"""A browser on the built book. Build it first (`make book SERVE=0`); these tests read _build/html.

KVBOOK_HTML names another folder of pages.
"""

import functools
import gzip
import os
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urljoin

import pytest
from playwright.sync_api import Browser, Page, Response

ROOT = Path(__file__).parents[2]
HTML = Path(os.environ.get("KVBOOK_HTML", ROOT / "_build" / "html"))
SCREENSHOTS = ROOT / "_build" / "screenshots"
NOT_BUILT = "the book is not built"


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

    path: str
    page: Page
    complaints: list[str] = field(default_factory=list)  # console errors and warnings, exceptions, failed requests
    hosts: set[str] = field(default_factory=set)
    responses: list[Response] = field(default_factory=list)

    def bytes_by_url(self) -> dict[str, int]:
        """As sent by a server that compresses."""
        return {response.url: len(gzip.compress(response.body())) for response in self.responses if response.ok}


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    if not HTML.joinpath("index.html").exists():
        pytest.fail(f"{NOT_BUILT}: there is no index.html in {HTML}; run `make book SERVE=0` first")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

        def end_headers(self) -> None:
            # Else a browser guesses from a file's age for how long it is fresh, and asks again for some.
            self.send_header("Cache-Control", "max-age=3600")
            super().end_headers()

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(HTML)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def open_page(site: str, browser: Browser) -> Callable[..., Visit]:
    """Opens a page in the window of the readers with this width and theme; the page that is open there stays open."""
    latest: dict[tuple[int, str], Visit] = {}

    def visit(path: str, width: int = 1280, theme: str = "light") -> Visit:
        before = latest.get((width, theme))
        if before and before.path == path:
            return before
        seen = latest[width, theme] = Visit(path, before.page if before else window(width, theme))
        seen.page.goto(site + path, wait_until="networkidle")
        seen.complaints += [f"status {each.status}: {each.url}" for each in seen.responses if not each.ok]
        return seen

    def window(*reader: int | str) -> Page:
        width, theme = reader
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)

        def complain(text: str) -> None:
            latest[reader].complaints.append(text)

        def ask(url: str) -> None:
            if not url.startswith(("data:", "blob:")):
                latest[reader].hosts.add(url.split("/")[2])

        page.on("console", lambda m: m.type in ("error", "warning") and complain(f"{m.type}: {m.text}"))
        page.on("pageerror", lambda error: complain(f"exception: {error}"))
        page.on("requestfailed", lambda request: complain(f"failed: {request.url}"))
        page.on("request", lambda request: ask(request.url))
        page.on("response", lambda response: latest[reader].responses.append(response))
        return page

    return visit


@pytest.fixture(scope="session")
def idle_windows() -> defaultdict[tuple, list[Page]]:
    return defaultdict(list)


@pytest.fixture
def open_window(browser: Browser, idle_windows: defaultdict[tuple, list[Page]]) -> Iterator[Callable[..., Page]]:
    """Gives a test an empty window with these settings; `watch` adds listeners to a new one.

    One that no test uses any more is taken first: a page in it costs Chromium a fifth of one in a new window.
    """
    taken = []

    def take(watch: Callable[[Page], None], **settings: object) -> Page:
        kind = (watch, *sorted(settings.items()))
        if not idle_windows[kind]:
            page = browser.new_page(**settings)
            watch(page)
            idle_windows[kind].append(page)
        taken.append((kind, idle_windows[kind].pop()))
        return taken[-1][1]

    yield take
    for kind, page in taken:
        page.unroute_all(behavior="ignoreErrors")
        page.goto("about:blank")
        page.mouse.move(0, 0)
        idle_windows[kind].append(page)


@pytest.fixture
def screenshots() -> Path:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return SCREENSHOTS
