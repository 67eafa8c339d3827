"""The page on how the book was built: every page that ran code has its time there, and the versions are those here."""

import re
from collections.abc import Callable
from importlib.metadata import version

from .conftest import HTML, toc


def test_each_page_whose_code_ran_has_its_time_and_together_they_are_the_sum(open_page: Callable) -> None:
    page = open_page("book/status.html").page
    rows = [row.locator("td").all_inner_texts() for row in page.locator("article table tbody tr").all()]
    *times, (_, total) = rows
    sources = {path: (HTML / "_sources" / path).with_suffix(".md").read_text(encoding="utf-8") for path in toc()}
    links = page.locator("article table tbody a").evaluate_all(
        "links => links.map((link) => new URL(link.href).pathname)"
    )
    assert [link[1:] for link in links] == [path for path, source in sources.items() if "\nkernelspec:" in source]
    assert all(re.fullmatch(r"\d+\.\d|not run", time) for _, time in times)
    assert abs(float(total) - sum(float(time) for _, time in times if time != "not run")) < 0.05 * len(times) + 0.06


def test_the_versions_are_those_that_are_installed(open_page: Callable) -> None:
    printed = open_page("book/status.html").page.locator("article .cell_output pre").inner_text()
    for package in ("torch", "jupyter-book", "kvlib"):
        assert re.search(rf"^{package} +{re.escape(version(package))}$", printed, re.MULTILINE)
