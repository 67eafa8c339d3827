"""The machine by mouse, by keyboard and by touch, with a kernel behind it and in several views."""

import pytest
from playwright.sync_api import expect

from .machines import FORKED, button_of, opened_machines, position_of

machine = opened_machines


@pytest.mark.parametrize("way", ["mouse", "keyboard", "touch"])
def test_buttons_go_forward_and_back_by_event_and_by_step(machine, way):
    page = machine(touch=way == "touch")

    def press(name):
        if way == "mouse":
            button_of(page, name).click(force=True)  # also what says that it is disabled
        elif way == "touch":
            button_of(page, name).tap(force=True)
        else:
            button_of(page, name).focus()
            page.keyboard.press("Enter")
        return position_of(page)

    assert [press("One event forward") for _ in range(3)] == [1, 2, 3]
    assert [press("One step forward") for _ in range(4)] == [5, 8, 10, 10]
    assert [press("One event back") for _ in range(3)] == [9, 8, 7]
    assert [press("One step back") for _ in range(4)] == [5, 0, 0, 0]
    assert press("To the end") == 10
    assert press("To the start") == 0


def test_the_slider_goes_by_events_with_the_arrow_keys_and_anywhere_with_the_mouse(machine):
    page = machine()
    slider = page.get_by_role("slider", name="Events")
    slider.focus()
    for key, position in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", 10), ("Home", 0)):
        page.keyboard.press(key)
        assert position_of(page) == position
    box = slider.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert position_of(page) == 5
    expect(slider).to_have_attribute("aria-valuetext", "5 of 10 events, step 1")


def test_playing_goes_to_the_end_and_play_begins_anew_there(machine):
    page = machine(speed=64)
    button_of(page, "Play").click()
    page.wait_for_function("model.get('position') === 10 && !model.get('playing')")
    button_of(page, "Play").click()
    page.wait_for_function("model.get('position') > 0 && model.get('position') <= 10")
    page.wait_for_function("model.get('position') === 10 && !model.get('playing')")


def test_pause_stops_where_it_is(machine):
    page = machine()
    button_of(page, "Play").click()
    page.wait_for_function("model.get('position') > 0")
    button_of(page, "Pause").click()
    stopped = position_of(page)
    page.wait_for_timeout(600)
    assert position_of(page) == stopped < 10
    assert button_of(page, "Play").is_visible()


def test_the_space_bar_plays_and_pauses_wherever_it_does_nothing_else(machine):
    page = machine()
    for name, role in (("Memory", "application"), ("Block tables", "group"), ("Events", "slider")):
        page.get_by_role(role, name=name).focus()
        for playing in (True, False):
            page.keyboard.press(" ")
            assert page.evaluate("model.get('playing')") is playing
    at = position_of(page)
    button_of(page, "One event forward").focus()
    page.keyboard.press(" ")
    assert position_of(page) == at + 1
    assert page.evaluate("model.get('playing')") is False


def test_each_button_has_its_word(machine):
    page = machine()
    words = page.locator(".kv-buttons button").all_inner_texts()
    assert [word.strip() for word in words] == ["start", "step", "event", "Play", "event", "step", "end"]
    page.evaluate("model.set('playing', true)")
    assert button_of(page, "Pause").inner_text().strip() == "Pause"


def test_the_label_stands_above_the_machine_and_names_it(machine):
    page = machine(label="Two texts")
    expect(page.locator(".kv-title")).to_have_text("Two texts")
    page.evaluate("model.set('label', 'Three texts')")
    expect(page.locator(".kv-title")).to_be_visible()
    expect(page.locator(".kv-title")).to_have_text("Three texts")
    assert page.get_by_role("region", name="Three texts").count() == 1


def test_speed_is_chosen_by_its_name_and_changes_the_trait(machine):
    page = machine()
    page.get_by_label("Speed").select_option("4 ×")
    assert page.evaluate("model.get('speed')") == 4


def test_a_second_view_of_one_model_shows_the_same_and_does_not_play_it_twice_as_fast(machine):
    page = machine()
    page.evaluate(
        """() => {
            const second = document.body.appendChild(document.createElement("div"));
            second.id = "second";
            renderMachine({ model, el: second });
        }"""
    )
    page.evaluate("model.set('position', 6)")
    assert page.locator(".kv-place").all_inner_texts() == ["step 2 · event 6 of 10"] * 2
    ticks = page.evaluate(
        """() => new Promise((done) => {
            let ticks = 0;
            model.on("change:position", () => ticks++);
            model.on("change:playing", () => model.get("playing") || done(ticks));
            model.set("speed", 8);
            model.set("playing", true);
        })"""
    )
    assert ticks == 4


def test_new_events_of_a_kernel_are_added_and_played(machine):
    page = machine(FORKED | {"events": FORKED["events"][:5]}, position=5, speed=64)
    page.get_by_text("What the signs mean").click()
    page.evaluate("data => model.set('data', data)", FORKED)
    page.wait_for_function("model.get('position') === 10")
    assert page.locator("details[open]").count() == 1
    assert page.locator(".kv-seen").inner_text() == ""


def test_new_events_leave_a_reader_who_is_elsewhere_where_he_is(machine):
    page = machine(FORKED | {"events": FORKED["events"][:8]}, position=3)
    page.get_by_role("application").focus()
    page.evaluate("data => model.set('data', data)", FORKED)
    expect(page.locator(".kv-place")).to_have_text("step 1 · event 3 of 10")
    assert page.evaluate("[document.activeElement.role, model.get('playing')]") == ["application", False]


def test_all_views_of_a_model_get_its_new_events_and_so_does_a_later_one(machine):
    page = machine(FORKED | {"events": FORKED["events"][:8]}, position=3)
    show = "renderMachine({ model, el: document.body.appendChild(document.createElement('div')) })"
    page.evaluate(f"() => {{ {show} }}")
    page.evaluate("data => model.set('data', data)", FORKED)
    page.evaluate(f"() => {{ {show} }}")
    assert page.locator(".kv-place").all_inner_texts() == ["step 1 · event 3 of 10"] * 3


def test_a_log_that_could_not_be_drawn_yet_is_shown_when_it_can(machine):
    page = machine(FORKED | {"num_blocks": 0, "block_size": 0, "events": []})
    assert page.get_by_role("alert").is_visible()
    page.evaluate("data => model.set('data', data)", FORKED)
    expect(page.locator(".kv-place")).to_have_text("step 0 · event 0 of 10")


def test_a_position_that_is_no_whole_number_is_rounded(machine):
    for position, shown in ((2.4, 2), ("x", 0), (None, 0), (-3, 0)):
        expect(machine(position=position).locator(".kv-place")).to_contain_text(f"event {shown} of 10")


def test_time_in_which_a_page_draws_nothing_does_not_count(machine):
    page = machine(speed=1)
    page.evaluate("model.set('playing', true)")
    until = "for (const start = performance.now(); performance.now() < start + 1500; );"
    page.evaluate(f"() => {{ {until} return new Promise(requestAnimationFrame); }}")
    assert position_of(page) <= 1


def test_a_host_block_with_a_huge_number_does_not_hang_the_page(machine):
    events = [
        {"step": 0, "kind": "allocate", "seq": "a", "index": 0, "block": 1},
        {"step": 0, "kind": "write", "seq": "a", "start": 0, "stop": 2},
        {"step": 1, "kind": "swap", "seq": "a", "how": "out", "blocks": [1], "host_blocks": [10**9]},
    ]
    page = machine(FORKED | {"events": events, "texts": {}}, position=3)
    assert page.locator(".kv-board").bounding_box()["height"] < 30_000
    assert "host block 1000000000" in page.locator(".kv-said").inner_text()


def test_another_log_replaces_the_first(machine):
    page = machine()
    page.evaluate("data => model.set('data', data)", FORKED | {"num_blocks": 7})
    assert page.get_by_role("application", name="Memory of 7 blocks").count() == 1
    assert page.get_by_role("application").count() == 1


def test_tab_goes_through_the_machine_in_the_order_in_which_it_is_seen(machine):
    page = machine(position=5)
    names = []
    for _ in range(14):
        page.keyboard.press("Tab")
        names.append(page.evaluate("document.activeElement.ariaLabel ?? document.activeElement.textContent"))
    assert names[:3] == [
        "Block tables: arrow keys go from entry to entry",
        "Memory of 5 blocks: arrow keys go from block to block",
        "Events",
    ]
    buttons = ["To the start", "One step back", "One event back", "Play"]
    assert names[3:10] == [*buttons, "One event forward", "One step forward", "To the end"]
    below = ["What the signs mean", "Texts: arrow keys go from token to token", "The state in words"]
    assert names[11:14] == below


def test_a_closed_machine_listens_to_nothing(machine):
    page = machine()
    page.evaluate("closeMachine()")
    assert page.evaluate("[...model.handlers.values()].every(handlers => handlers.length === 0)")
