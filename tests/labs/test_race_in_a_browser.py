"""*Race the kernel* in JupyterLab, in a browser: its cells run, its knobs move by keyboard and mouse, its button works.

The pictures lie in _build/screenshots.
"""

import pytest
from playwright.sync_api import expect

from .workbook import solved


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    return solved("09-race-the-kernel", tmp_path_factory.mktemp("race"))


@pytest.fixture(scope="module")
def counts(page):
    return page.locator(".jp-OutputArea-output:not(:has(button))", has=page.locator(".widget-slider"))


@pytest.fixture(scope="module")
def race(page):
    return page.locator(".jp-OutputArea-output", has=page.locator("button.widget-button"))


def slider(panel, name):
    return panel.locator(".widget-slider", has_text=name)


def press(panel, name, *keys):
    for key in keys:
        slider(panel, name).locator(".noUi-handle").press(key)


def readout(panel, name):
    return slider(panel, name).locator(".widget-readout")


def test_every_cell_ran_without_an_error(page):
    assert page.locator(".jp-OutputArea [data-mime-type='application/vnd.jupyter.error']").count() == 0
    for line in ("floor: right.", "predict: right.", "fill: right.", "launch: right."):
        expect(page.locator(".jp-OutputArea-output", has_text=line)).to_be_visible()


@pytest.mark.parametrize(
    ("knob", "keys", "value", "words"),
    [
        ("requests", ["ArrowLeft", "ArrowLeft"], "16", "16 requests of 4,096 tokens"),
        ("context", ["ArrowRight"], "8,192", "16 requests of 8,192 tokens"),
        ("block size", ["ArrowRight", "ArrowRight"], "64", "blocks of 64"),
        ("dtype", ["ArrowRight"], "bf16", "blocks of 64, bf16"),
    ],
)
def test_a_slider_moves_by_keyboard_and_the_counts_follow(counts, knob, keys, value, words):
    press(counts, knob, *keys)
    expect(readout(counts, knob)).to_have_text(value)
    expect(counts).to_contain_text(words)


@pytest.mark.parametrize(
    ("knob", "value", "words"), [("requests", "128", "128 requests"), ("block size", "256", "of 256")]
)
def test_a_slider_moves_by_mouse_and_the_counts_follow(counts, knob, value, words):
    track = slider(counts, knob).locator(".noUi-target")
    track.scroll_into_view_if_needed()
    box, handle = track.bounding_box(), slider(counts, knob).locator(".noUi-handle").bounding_box()
    mouse, middle = counts.page.mouse, handle["y"] + handle["height"] / 2
    mouse.move(handle["x"] + handle["width"] / 2, middle)
    mouse.down()
    mouse.move(box["x"] + box["width"] + 20, middle, steps=5)
    mouse.up()
    expect(readout(counts, knob)).to_have_text(value)
    expect(counts).to_contain_text(words)


def test_without_a_gpu_the_panel_says_that_nothing_is_measured(race):
    expect(race).to_contain_text("No GPU here: nothing is measured on this machine.")
    expect(race).to_contain_text("Dashed lines follow from data sheets: T4 320 GB/s")


def test_the_button_checks_the_kernel_by_mouse_and_by_keyboard(race):
    button = race.locator("button.widget-button")
    button.click()
    expect(race).to_contain_text("blocks of 16, fp16: right, relative error")
    press(race, "dtype", "ArrowRight", "ArrowRight")
    expect(race.get_by_role("img")).to_contain_text("537 MB")  # Python knows: a click can overtake a knob
    button.press("Space")
    expect(race).to_contain_text("blocks of 16, e4m3: right, relative error")
    expect(race).to_contain_text("Not timed.")
    expect(button).to_have_text("Check in the interpreter")
    expect(button).to_be_focused()


def test_the_picture_follows_the_knobs(race):
    picture = race.get_by_role("img")
    expect(picture).to_contain_text("537 MB")
    press(race, "context", "ArrowLeft")
    expect(picture).to_contain_text("268 MB")


@pytest.mark.parametrize("theme", ["Light", "Dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_what_is_wider_than_the_page_scrolls_in_it(page, counts, race, change_theme, shoot, width, theme):
    page.set_viewport_size({"width": width, "height": 1000})
    change_theme(theme)
    for name, panel in (("counts", counts), ("panel", race)):
        shoot(panel, f"race-{name}-{width}-{theme.lower()}")
        for part in (panel, *panel.locator(".kv-figure, .kv-scroll, .widget-slider, button").all()):
            assert part.bounding_box()["x"] + part.bounding_box()["width"] <= width
        assert panel.evaluate("element => element.scrollWidth - element.clientWidth") <= 1


def test_the_browser_had_nothing_to_complain_about(page):
    assert page.complaints == []
