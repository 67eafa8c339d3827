"""How the machine is drawn: the same state the same way, at every width, in both themes, for every reader."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from kvlib.memory.contiguous import Max

from .machines import data_of, forked, opened_machines, picture_of
from .runs import Run, contiguous, pieces, varied

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
machine = opened_machines


@pytest.mark.parametrize("moment", range(11))
def test_a_state_is_drawn_the_same_whichever_way_one_comes_to_it(machine, moment):
    page = machine(position=moment)
    first = picture_of(page)
    for position in (0, moment, 10, moment):
        page.evaluate(f"model.set('position', {position})")
    assert picture_of(page) == first


def test_a_machine_that_is_put_into_the_page_later_is_drawn_the_same(machine):
    page = machine(position=8)
    first = picture_of(page)
    page.evaluate(
        """() => {
            const el = document.createElement("div");
            renderMachine({ model, el });
            document.getElementById("here").replaceChildren(el);
        }"""
    )
    page.wait_for_function("old => document.querySelector('.kv-board canvas').toDataURL() === old", arg=first)


def test_readers_who_want_no_motion_see_none_and_others_do(machine):
    moving = """() => {
        const canvas = document.querySelector(".kv-motion");
        model.set("position", 5);
        model.set("position", 6);
        return new Promise((done) => setTimeout(() => {
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            done(data.some((value) => value > 0));
        }, 120));
    }"""
    assert machine(motion="reduce").evaluate(moving) is False
    assert machine(motion="no-preference").evaluate(moving) is True


@pytest.mark.parametrize("width", [280, 320, 390, 720, 1280, 1600])
@pytest.mark.parametrize("kind", ["blocks", "many", "slots"])
def test_the_page_never_scrolls_sideways(machine, width, kind):
    if kind == "slots":
        data, row = data_of(contiguous(176, Max(20), {f"r{n}": (4, 9) for n in range(12)})), 20
    else:
        data, row = data_of(many() if kind == "many" else forked()), 0
    page = machine(data, width=width, row=row, position=8)
    page.get_by_text("The state in words").click()
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width
    assert page.evaluate("document.querySelector('.kv-board canvas').clientWidth") <= width
    assert page.evaluate("document.querySelector('.kv-machine').scrollWidth") <= width - 24


def many():
    """Forty sequences at once in a thousand blocks."""
    run = Run(1000, 4, max_num_seqs=64)
    for number in range(40):
        run.add(f"r{number}", pieces(run.random, 30), 6)
    return run.play().log


def test_many_sequences_scroll_in_their_own_places(machine):
    page = machine(data_of(many()), position=4000)
    assert page.evaluate("document.scrollingElement.scrollHeight") < 2000


def test_a_narrower_window_and_another_theme_draw_anew(machine):
    page = machine(position=8)
    first = picture_of(page)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.wait_for_function("old => document.querySelector('.kv-board canvas').toDataURL() !== old", arg=first)
    page.set_viewport_size({"width": 400, "height": 900})
    page.wait_for_function("document.querySelector('.kv-board canvas').clientWidth === 376")
    assert page.evaluate("document.querySelector('.kv-board canvas').width") == 2 * 376


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("playing", [False, True])
def test_axe_finds_nothing(machine, theme, playing):
    page = machine(data_of(varied("prefix", 1)), theme=theme, position=60, playing=playing, speed=0.5)
    page.get_by_text("The state in words").click()
    rules = {"runOnly": {"type": "tag", "values": WCAG}, "resultTypes": ["violations"]}
    found = Axe().run(page, options=rules).response["violations"]
    assert [(it["id"], [node["html"] for node in it["nodes"]]) for it in found] == []


@pytest.mark.parametrize("width", [320, 720])
def test_what_is_touched_is_large_enough(machine, width):
    page = machine(width=width, position=8)
    sizes = page.eval_on_selector_all(
        ".kv-controls button, .kv-controls input, .kv-controls select, .kv-entry, .kv-token, summary",
        "items => items.map(item => [item.getBoundingClientRect().width, item.getBoundingClientRect().height])",
    )
    assert min(min(size) for size in sizes) >= 24
