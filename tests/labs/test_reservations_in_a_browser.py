"""*Reservation policies* in JupyterLab, in a browser: its cells run, its machine plays a learner's log, its bench runs.

The pictures lie in _build/screenshots.
"""

import re

import pytest
from playwright.sync_api import expect

from .workbook import solved, workbook

LAB = "04-reservation-policies"


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    return solved(LAB, tmp_path_factory.mktemp("reservations"))


@pytest.fixture(scope="module")
def bench(page):
    expect(page.locator(".kv-bench")).to_be_visible()
    return page.locator(".kv-bench")


@pytest.fixture(scope="module")
def machine(page, bench):
    return page.locator(".jp-OutputArea-output:not(:has(.kv-bench)) .kv-machine").first


def test_every_check_says_right_and_no_cell_raised(page, bench):
    assert page.locator(".jp-OutputArea [data-mime-type='application/vnd.jupyter.error']").count() == 0
    for exercise in workbook(LAB).exercises:
        expect(page.locator(".jp-OutputArea-output", has_text=f"{exercise}: right.")).to_be_visible()


def test_the_machine_plays_what_the_answers_did(machine):
    slider = machine.get_by_role("slider", name="Events")
    machine.get_by_role("button", name="To the end", exact=True).click()
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"^(\d+) of \1 events"))
    machine.get_by_role("button", name="One event back", exact=True).click()
    expect(slider).not_to_have_attribute("aria-valuetext", re.compile(r"^(\d+) of \1 events"))


def test_the_bench_runs_after_the_predictions(bench):
    bench.get_by_role("button", name="Skip").click()
    bench.get_by_role("button", name="Run", exact=True).click()
    bench.get_by_role("button", name="To the end", exact=True).first.click()
    expect(bench.locator("table tbody tr")).to_have_count(1)


@pytest.mark.parametrize("width", [1280, 390])
def test_machine_and_bench_fit_the_width(page, machine, bench, shoot, width):
    page.set_viewport_size({"width": width, "height": 1000})
    for name, part in (("machine", machine), ("bench", bench)):
        page.wait_for_function("element => element.scrollWidth <= element.clientWidth + 1", arg=part.element_handle())
        shoot(part, f"lab-4-{name}-{width}")
        assert part.bounding_box()["x"] + part.bounding_box()["width"] <= width


def test_the_browser_had_nothing_to_complain_about(page, bench):
    assert page.complaints == []
