"""The machine and the bench as live widgets in JupyterLab: what a reader does reaches Python, what Python does is seen.

The pictures lie in _build/screenshots.
"""

import re

import nbformat
import pytest
from playwright.sync_api import expect

MACHINE = """
import ipywidgets as widgets
from kvlib.events import EventLog
from kvlib.memory import RecordedBlockManager
from kvlib.show.machine import Machine

log = EventLog()
manager = RecordedBlockManager(44, 4, log)
for name, num_tokens in (("first", 6), ("second", 9)):
    log.next_step()
    manager.admit(name, num_tokens)
    log.say(name, [f"word{place} " for place in range(num_tokens)])

machine = Machine(log, label="Two texts")
told, more = widgets.Label("Python has seen nothing"), widgets.Button(description="Write more")
machine.observe(lambda change: setattr(told, "value", f"Python is at {change.new}"), "position")

def write(button):
    log.next_step()
    manager.append("first")
    log.say("first", ["later "])
    machine.update()

more.on_click(write)
display(told, more)
machine
"""

TWICE = "machine"

BENCH = """
from kvlib.show.lab_bench import LabBench

LabBench()
"""


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    file = tmp_path_factory.mktemp("widgets") / "widgets.ipynb"
    cells = [nbformat.v4.new_code_cell(code) for code in (MACHINE, TWICE, BENCH)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}  # else JupyterLab asks which one
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), file)
    return file


@pytest.fixture(scope="module")
def machines(page):
    """The two views of the one machine; the bench shows another."""
    expect(page.locator(".kv-machine")).not_to_have_count(0)
    expect(page.locator(".kv-bench")).to_be_visible()
    return page.locator(".jp-OutputArea-output:not(:has(.kv-bench)) .kv-machine")


def press(machine, name):
    machine.get_by_role("button", name=name, exact=True).click()


def expect_position(machine, position, length):
    slider = machine.get_by_role("slider", name="Events")
    expect(slider).to_have_attribute("aria-valuetext", re.compile(f"^{position} of {length} events"))


def test_a_press_reaches_python_and_the_other_view(page, machines):
    expect(machines).to_have_count(2)
    press(machines.first, "To the end")
    expect(page.get_by_text("Python is at 7")).to_be_visible()
    for view in (machines.first, machines.last):
        expect_position(view, 7, 7)
    press(machines.last, "One event back")
    expect(page.get_by_text("Python is at 6")).to_be_visible()
    expect_position(machines.first, 6, 7)


def test_what_python_adds_is_shown_in_both_views(page, machines):
    press(machines.first, "To the end")
    page.get_by_role("button", name="Write more").click()
    for view in (machines.first, machines.last):
        expect_position(view, 8, 8)
        expect(view).to_contain_text("later")


def test_the_bench_has_its_runs_from_the_kernel(page):
    bench = page.locator(".kv-bench")
    bench.get_by_role("button", name="Skip").click()
    bench.get_by_role("button", name="Run", exact=True).click()
    bench.get_by_role("button", name="To the end", exact=True).first.click()
    expect(bench.locator("table tbody tr")).to_have_count(1)


@pytest.mark.parametrize("theme", ["Light", "Dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_widgets_follow_the_theme_and_the_width(page, machines, change_theme, shoot, width, theme):
    page.set_viewport_size({"width": width, "height": 1000})
    change_theme(theme)
    ink = machines.first.evaluate("element => getComputedStyle(element).color")
    assert (sum(map(int, ink[4:-1].split(","))) > 382) == (theme == "Dark")
    for name, part in (("machine", machines.first), ("bench", page.locator(".kv-bench"))):
        page.wait_for_function("element => element.scrollWidth <= element.clientWidth + 1", arg=part.element_handle())
        shoot(part, f"lab-{name}-{width}-{theme.lower()}")
        assert part.bounding_box()["x"] + part.bounding_box()["width"] <= width


def test_the_browser_had_nothing_to_complain_about(page):
    assert page.complaints == []
