"""Who waits, who is on the host and who has just left stays to be seen."""

from playwright.sync_api import expect

from .machines import CROWDED, crowded, data_of, opened_machines, readings_of

machine = opened_machines


def seen(page, position):
    """The texts and the cards as read, one a line."""
    page.evaluate(f"model.set('position', {position})")
    texts = page.eval_on_selector_all(
        ".kv-text",
        "lines => lines.map(line => [...line.children].map(part => part.innerText.trim()).filter(Boolean).join(' '))",
    )
    return texts, [text.split("\n")[0] for text in page.locator(".kv-card").all_inner_texts()]


def lost(page):
    return page.eval_on_selector_all(".kv-token.kv-lost", "items => items.map(item => item.dataset.token)")


def test_a_preempted_text_stays_as_one_that_waits_until_it_comes_back(machine):
    page = machine(CROWDED)
    assert seen(page, 6) == (["A The sea", "B A boat"], ["A", "B"])
    assert lost(page) == []
    assert seen(page, 10) == (["A The sea was calm", "B waits A boat"], ["A", "B waits"])
    assert lost(page) == ["b 0", "b 1"]
    assert page.locator(".kv-named:visible").inner_text().split() == ["waiting", "1", "B"]
    assert seen(page, 15) == (["A has ended The sea was calm", "B A boat"], ["A has ended", "B"])
    assert lost(page) == ["a 0", "a 1", "a 2", "a 3"]
    assert page.locator(".kv-named:visible").inner_text().split() == ["waiting", "0"]


def test_a_text_that_has_ended_goes_with_the_next_step(machine):
    page = machine(CROWDED)
    for position in (12, 13, 15):
        assert [text[0] for text in seen(page, position)[0]] == ["A", "B"]
    assert seen(page, 16) == (["B A boat"], ["B"])
    assert seen(page, 17) == (["B has ended A boat"], ["B has ended"])


def test_what_comes_back_is_drawn_the_same_as_what_was_never_away(machine):
    page = machine(CROWDED)
    first = seen(page, 6)
    seen(page, 17)
    assert seen(page, 6) == first
    assert lost(page) == []


def test_a_text_on_the_host_is_counted_and_named_there(machine):
    page = machine(data_of(crowded("swap")))
    assert seen(page, 10) == (["A The sea was calm", "B on the host A boat"], ["A", "B on the host"])
    assert lost(page) == []
    assert page.locator(".kv-named:visible").first.inner_text().split() == ["on", "the", "host", "1", "B"]


def test_the_host_is_counted_only_where_something_goes_there(machine):
    assert "on the host" not in readings_of(machine(CROWDED, position=10))
    assert readings_of(machine(data_of(crowded("swap")), position=3))["on the host"] == "0"


def test_of_many_that_wait_as_many_are_named_as_there_is_room_for(machine):
    events = [{"step": 1, "kind": "arrive", "seq": f"request-{number}"} for number in range(60)]
    page = machine(CROWDED | {"events": events}, position=60, width=320)
    expect(page.locator(".kv-names").last).to_have_css("text-overflow", "ellipsis")
    assert readings_of(page)["waiting"] == "60"
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 320


def test_a_block_tells_of_a_preemption_until_somebody_else_has_it(machine):
    page = machine(CROWDED)
    kinds = "end => marksOf(model.get('data').events.slice(6, end)).blocks.get(2).kind"
    assert [page.evaluate(kinds, end) for end in (7, 8, 9)] == ["freed", "preempted", "taken"]
