"""Where the parts of the machine are: together on a phone, in their places while it plays, whole inside a chapter."""

import pytest

from kvlib.memory.contiguous import Max

from .machines import FORKED, button_of, data_of, opened_machines
from .runs import Run, contiguous, pieces, varied

machine = opened_machines
HEADER = 56  # pixels, of the book's bar above a page on a phone


def plate():
    """A dozen sequences in the 44 blocks of 4 of the book's pictures."""
    run = Run(44, 4)
    for number in range(12):
        run.add(f"r{number}", pieces(run.random, 5), 12)
        run.play(1)
    return data_of(run.play().log)


EVERY_PLACE = """async () => {
    const places = new Set();
    for (let position = model.get("data").events.length; position >= 0; position--) {
        model.set("position", position);
        await new Promise(requestAnimationFrame);
        places.add([...document.querySelectorAll(".kv-machine > *")].map(({ offsetTop }) => offsetTop).join());
    }
    return places.size;
}"""


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_moves_once_the_longest_texts_and_words_have_had_their_room(machine, width):
    page = machine(data_of(varied("recompute", 2)), width=width)
    page.evaluate(EVERY_PLACE)
    assert page.evaluate(EVERY_PLACE) == 1


def test_the_controls_stay_where_they_are_at_every_event(machine):
    data = data_of(varied("prefix", 1))
    page = machine(data, width=390)
    places = set()
    for position in range(len(data["events"]) + 1):
        page.evaluate(f"model.set('position', {position})")
        places.add(page.evaluate("document.querySelector('.kv-controls').offsetTop"))
    assert len(places) == 1


def test_a_wider_machine_forgets_the_room_that_a_narrow_one_needed(machine):
    page = machine(plate(), width=320, position=250)
    page.evaluate("model.set('position', 0)")
    page.wait_for_timeout(50)
    kept = page.evaluate("document.querySelector('.kv-texts').offsetHeight")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.wait_for_function("kept => document.querySelector('.kv-texts').offsetHeight < kept", arg=kept)


def test_counters_board_and_buttons_are_on_a_phone_s_screen_together(machine):
    page = machine(plate(), width=390, touch=True, position=200)
    counters = page.locator(".kv-readings").bounding_box()
    buttons = button_of(page, "Play").bounding_box()
    assert buttons["y"] + buttons["height"] - counters["y"] <= 844 - HEADER


@pytest.mark.parametrize("width", [320, 390, 720, 1280])
@pytest.mark.parametrize("kind", ["blocks", "slots"])
def test_in_a_chapter_cards_are_whole_and_paragraphs_stand_close(machine, width, kind):
    rows = contiguous(176, Max(20), {f"r{number}": (4, 9) for number in range(12)})
    page = machine(plate() if kind == "blocks" else data_of(rows), width=width, themed=True, position=40)
    for name in (".kv-card p", ".kv-card li", ".kv-text", ".kv-readings dd", ".kv-words p"):
        margins = page.eval_on_selector_all(
            name, "items => items.flatMap(item => Object.values(getComputedStyle(item).margin.split(' ')))"
        )
        assert set(margins) == {"0px"}, name
    cut = "list => list.scrollHeight - list.clientHeight"
    assert page.eval_on_selector(".kv-tables", cut) <= 0
    assert page.locator(".kv-card").count() > 2
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [320, 390])
def test_text_twice_as_large_and_long_ids_do_not_make_the_page_wider(machine, width):
    data = data_of(varied("swap", 1))
    page = machine(data | {"events": [{"step": 0, "kind": "arrive", "seq": "x" * 400}, *data["events"]]}, width=width)
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    for position in (1, 20, len(data["events"])):
        page.evaluate(f"model.set('position', {position})")
        page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width
    buttons = page.locator(".kv-buttons button").all()
    assert all(button.evaluate("button => button.scrollWidth <= button.clientWidth") for button in buttons)


@pytest.mark.parametrize(
    ("sizes", "width"),
    [((0, 0, 20_000), 320), ((0, 0, 100_000), 720), ((100_000, 4, 0), 320), ((5, 4, 0), 24)],
)
def test_any_memory_is_drawn_at_any_width(machine, sizes, width):
    sizes = dict(zip(("num_blocks", "block_size", "num_slots"), sizes, strict=True))
    page = machine(FORKED | {"events": []} | sizes, width=width)
    assert page.get_by_role("alert").count() == 0
    assert 0 < page.locator(".kv-board").bounding_box()["height"] < 1000


def test_texts_beyond_the_room_are_counted_and_shown_on_demand(machine):
    page = machine(plate(), width=390, touch=True, position=230)
    texts = page.locator(".kv-texts")
    assert texts.evaluate("list => list.scrollHeight > list.clientHeight")
    assert texts.evaluate("list => getComputedStyle(list).overflowY") == "hidden"  # a finger scrolls the page
    count = page.locator(".kv-text").count()
    assert page.locator(".kv-part").last.inner_text().split() == [str(count), "texts", "Show", "all"]
    page.get_by_role("button", name="Show all").tap()
    assert texts.evaluate("list => list.scrollHeight === list.clientHeight")
    page.get_by_role("button", name="Show fewer").tap()
    assert texts.evaluate("list => list.scrollHeight > list.clientHeight")


def test_texts_that_a_finger_cannot_scroll_go_back_to_their_top_when_nothing_is_lit(machine):
    page = machine(plate(), width=390, touch=True, position=230)
    last = page.locator(".kv-card .kv-name").last
    scrolled = "document.querySelector('.kv-texts').scrollTop"
    last.tap()
    assert page.evaluate(scrolled) > 0
    last.tap()
    assert page.evaluate(scrolled) == 0


def test_the_edge_fades_behind_which_there_are_more_tables(machine):
    page = machine(plate(), width=390, position=230)
    tables = page.locator(".kv-tables")
    mask = "list => getComputedStyle(list).maskImage"
    assert "gradient" in tables.evaluate(mask)
    tables.evaluate("list => list.scrollTo(list.scrollWidth, 0)")
    page.wait_for_function("() => getComputedStyle(document.querySelector('.kv-tables')).maskImage === 'none'")
    assert machine(FORKED, width=1280, position=8).locator(".kv-tables").evaluate(mask) == "none"
