"""What lights up with a token, a table entry or a block, by mouse, by keyboard and by touch."""

import pytest

from kvlib.memory.contiguous import Max

from .machines import CROWDED, data_of, opened_machines, picture_of
from .runs import contiguous

machine = opened_machines


def test_arrow_keys_walk_the_board_and_say_what_lies_there(machine):
    page = machine(position=8)
    board = page.get_by_role("application")
    seen = page.locator(".kv-seen")
    board.focus()
    said = []
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "End", "ArrowLeft", "Home"):
        page.keyboard.press(key)
        said.append(seen.inner_text())
    assert said == [
        "Block 1 is entry 0 in A's table and entry 0 in B's table, so its count is 2; 4 of 4 slots filled.",
        "Block 2 is entry 1 in A's table; 3 of 4 slots filled.",
        "Block 3 is entry 1 in B's table; 3 of 4 slots filled.",
        "Block 5 is free.",
        "Block 4 is free.",
        "Block 1 is entry 0 in A's table and entry 0 in B's table, so its count is 2; 4 of 4 slots filled.",
    ]
    page.keyboard.press("Escape")
    assert seen.inner_text() == ""


def lit(page):
    entries, tokens = (
        page.eval_on_selector_all(
            f"{which}.kv-lit", "items => items.map(item => item.dataset.entry ?? item.dataset.token)"
        )
        for which in (".kv-entry", ".kv-token")
    )
    return entries, tokens


@pytest.mark.parametrize("way", ["mouse", "touch", "keyboard"])
def test_a_token_lights_its_block_and_the_entries_and_tokens_of_all_owners(machine, way):
    page = machine(position=8, touch=way == "touch")
    token = page.locator("[data-token='first 1']")
    if way == "mouse":
        token.hover()
    elif way == "touch":
        token.tap()
    else:
        page.get_by_role("group", name="Texts").focus()
        for _ in range(3):
            page.keyboard.press("ArrowRight")
    assert lit(page) == (["first 0", "second 0"], ["first 1", "second 1"])
    assert "Slot 1 has token 1, “happy”." in page.locator(".kv-seen").inner_text()


def test_a_table_entry_lights_its_whole_block(machine):
    page = machine(position=8)
    page.locator("[data-entry='second 1']").hover()
    assert lit(page) == (["second 1"], ["second 4", "second 5", "second 6"])
    page.mouse.move(1, 1)
    assert lit(page) == ([], [])


def test_a_point_of_the_board_lights_the_token_there(machine):
    page = machine(position=8)
    point_at_slot(page, 3, 2)
    assert lit(page) == (["second 1"], ["second 6"])
    page.mouse.move(1, 1)
    assert lit(page) == ([], [])


def dark_at(page, number, slot, across):
    """Whether ink is on the board `across` pixels from the left edge of a slot, halfway down."""
    return page.evaluate(
        """([number, slot, across]) => {
            const canvas = document.querySelector(".kv-board canvas");
            const layout = new Layout(new Log(model.get("data")), { width: canvas.clientWidth, row: model.get("row") });
            const { x, y, height } = layout.slotRect(number, slot);
            const at = [x + across, y + height / 2].map((place) => Math.floor(place * devicePixelRatio));
            const copy = new OffscreenCanvas(1, 1).getContext("2d");
            copy.drawImage(canvas, ...at, 1, 1, 0, 0, 1, 1);
            const [red, green, blue] = copy.getImageData(0, 0, 1, 1).data;
            return red < 60 && green < 60 && blue < 60;
        }""",
        [number, slot, across],
    )


THICK, THIN = -1.5, 0.5  # pixels from the edge of a slot: where its ring is when it is pointed at, or just stored


@pytest.mark.parametrize("way", ["a word", "a slot"])
def test_the_slot_pointed_at_has_the_only_ring(machine, way):
    page = machine(position=8)
    assert [dark_at(page, 2, slot, THIN) for slot in range(4)] == [False, False, True, False]
    if way == "a word":
        page.locator("[data-token='first 4']").hover()
    else:
        point_at_slot(page, 2, 0)
    assert [dark_at(page, 2, slot, THICK) for slot in range(4)] == [True, False, False, False]
    assert not dark_at(page, 2, 2, THIN)
    assert not dark_at(page, 3, 2, THIN)
    page.mouse.move(1, 1)
    assert dark_at(page, 2, 2, THIN)


def test_the_slot_of_a_row_that_is_pointed_at_has_the_only_ring(machine):
    page = machine(data_of(contiguous(40, Max(20), {"first": (3, 5), "second": (6, 4)})), position=5, row=20)
    page.locator("[data-token='first 1']").hover()
    assert [slot for slot in range(20) if dark_at(page, slot, 0, THICK)] == [1]
    page.locator(".kv-card .kv-name").first.hover()
    assert [slot for slot in range(20) if dark_at(page, slot, 0, THICK)] == [0]
    assert len(lit(page)[1]) == page.evaluate("document.querySelectorAll('[data-seq=first].kv-token').length")


def point_at_slot(page, number, slot):
    box = page.locator(".kv-board").bounding_box()
    x, y = page.evaluate(
        """([width, number, slot]) => {
            const layout = new Layout(new Log(model.get("data")), { width });
            const { x, y, width: across, height } = layout.slotRect(number, slot);
            return [x + across / 2, y + height / 2];
        }""",
        [box["width"], number, slot],
    )
    page.mouse.move(box["x"] + x, box["y"] + y)


@pytest.mark.parametrize("part", [".kv-card", ".kv-text"])
def test_a_letter_lights_its_whole_text(machine, part):
    page = machine(position=8)
    page.locator(f"{part} .kv-name").last.hover()
    entries, tokens = lit(page)
    assert entries == ["second 0", "second 1"]
    assert [token for token in tokens if token.startswith("second")] == [f"second {place}" for place in range(7)]
    assert page.locator(".kv-seen").inner_text() == "B has 7 tokens in blocks 1 and 3, the last with 3 of 4 filled."


def test_a_text_that_waits_says_so_when_it_is_pointed_at(machine):
    page = machine(CROWDED, position=10)
    page.locator("[data-token='b 0']").hover()
    assert page.locator(".kv-seen").inner_text() == "B waits for memory; its 2 tokens will be computed again."


def test_a_tap_shows_what_is_touched_and_a_second_tap_undoes_it_and_the_page_stays(machine):
    page = machine(position=8, touch=True, width=390)
    first = picture_of(page)
    token = page.locator("[data-token='second 6']")
    token.scroll_into_view_if_needed()
    at = page.evaluate("[scrollX, scrollY]")
    token.tap()
    assert lit(page) == (["second 1"], ["second 6"])
    assert picture_of(page) != first
    assert page.evaluate("[scrollX, scrollY]") == at
    token.tap()
    assert lit(page) == ([], [])
    assert picture_of(page) == first
