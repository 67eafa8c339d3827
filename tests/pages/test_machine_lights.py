"""What lights up with a token, a table entry or a block, by mouse, by keyboard and by touch."""

import pytest

from .machines import opened_machines

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
        "Block 1 is A's logical block 0 and B's logical block 0, so its count is 2; 4 of 4 slots filled.",
        "Block 2 is A's logical block 1; 3 of 4 slots filled.",
        "Block 3 is B's logical block 1; 3 of 4 slots filled.",
        "Block 5 is free.",
        "Block 4 is free.",
        "Block 1 is A's logical block 0 and B's logical block 0, so its count is 2; 4 of 4 slots filled.",
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
        page.keyboard.press("ArrowRight")
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
    box = page.locator(".kv-board").bounding_box()
    x, y = page.evaluate(
        """width => {
            const { x, y, width: across, height } = new Layout(new Log(model.get("data")), { width }).slotRect(3, 2);
            return [x + across / 2, y + height / 2];
        }""",
        box["width"],
    )
    page.mouse.move(box["x"] + x, box["y"] + y)
    assert lit(page) == (["second 1"], ["second 6"])
    page.mouse.move(1, 1)
    assert lit(page) == ([], [])
