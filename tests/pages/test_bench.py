"""The lab bench in chapter 14, as a reader uses it: by mouse, by keyboard, by touch, with and without Python."""

import json
import re
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from kvlib.serving.lab_bench import ALLOCATIONS, NUMS_SEQUENCES, Run, run
from kvlib.show.lab_bench import POSITIONS, LabBench
from kvlib.show.modules import joined, module

from .conftest import HTML

CHAPTER = "book/14-the-lab-bench.html"
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


class Bench:
    """The bench of an open page, by the names that a reader sees or hears."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.place = page.get_by_role("region", name="Lab bench")
        self.run_button = self.place.get_by_role("button", name="Run", exact=True)
        self.status = self.place.locator(".kv-bench-status")
        self.switch = self.place.get_by_role("checkbox", name="compute each run here")

    def question(self, number: int) -> Locator:
        return self.place.get_by_role("group", name=re.compile(f"^{number}\\. "))

    def radio(self, group: str, value: object) -> Locator:
        words = "no blocks: rows of 20" if value == "longest" else str(value)
        return self.place.get_by_role("group", name=group).get_by_role("radio", name=words, exact=True)

    def choose(self, allocation: object, number: int) -> None:
        self.radio("Tokens in a block", allocation).check()
        self.radio("Sequences that come", number).check()

    def skip(self) -> None:
        self.place.get_by_role("button", name="Skip").click()

    def run(self, allocation: object, number: int) -> None:
        """Run a position and go to its end."""
        self.choose(allocation, number)
        self.run_button.click()
        self.machine("To the end").click()

    def machine(self, button: str) -> Locator:
        return self.place.locator(".kv-bench-machine").get_by_role("button", name=button, exact=True)

    def readings(self) -> list[str]:
        return [self.place.locator(f"[data-reading={name}]").inner_text() for name in ("most", "share", "rounds")]

    def table(self) -> list[list[str]]:
        rows = self.place.get_by_role("table", name="Read so far").locator("tbody tr").all()
        return [row.locator("th, td").all_inner_texts() for row in rows]

    def verdict(self, number: int) -> str:
        return self.place.locator(".kv-bench-verdict").nth(number - 1).inner_text()


def percent(stored: int, held: int) -> str:
    """As a browser rounds: what is just between two digits goes up."""
    rounded = Decimal(100 * stored / held).quantize(Decimal("0.1"), ROUND_HALF_UP)
    return "100 %" if stored == held else f"{rounded} %"


def as_read(done: Run) -> list[str]:
    stored = sum(reading.num_stored for reading in done.readings)
    held = sum(reading.num_held for reading in done.readings)
    return [str(done.most_at_once), percent(stored, held), str(done.num_rounds)]


def name_of(allocation: object) -> str:
    return "rows of 20" if allocation == "longest" else f"blocks of {allocation}"


@pytest.fixture
def open_bench(browser: Browser, site: str) -> Iterator[Callable[..., Bench]]:
    """Opens the chapter in a window of its own; at the end nothing may have been complained of or asked elsewhere."""
    contexts, complaints, hosts = [], [], set()

    def opened(width: int = 1280, url: str = site + CHAPTER, **settings: object) -> Bench:
        context = browser.new_context(viewport={"width": width, "height": 900}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda m: m.type in ("error", "warning") and complaints.append(m.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda r: r.url.startswith(("data:", "blob:", "file:")) or hosts.add(urlsplit(r.url).netloc))
        page.goto(url)
        return Bench(page)

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
    assert hosts <= {urlsplit(site).netloc}


@pytest.fixture
def bench(open_bench: Callable[..., Bench]) -> Bench:
    return open_bench()


# What is read


def test_readings_equal_pythons_at_every_position_from_the_files_of_the_book(bench: Bench) -> None:
    bench.skip()
    for position in POSITIONS.values():
        bench.run(*position)
        assert bench.readings() == as_read(run(*position)), position
    rows = [
        [str(number), name_of(allocation), *as_read(run(allocation, number))]
        for number in NUMS_SEQUENCES
        for allocation in ALLOCATIONS
    ]
    assert bench.table() == rows


def test_readings_equal_pythons_at_every_position_computed_in_the_page(bench: Bench) -> None:
    bench.skip()
    bench.switch.check()
    for position in POSITIONS.values():
        bench.run(*position)
        assert bench.readings() == as_read(run(*position)), position
        expect(bench.place).to_contain_text("by the package's own code: the same as the run computed before.")


def test_events_computed_in_the_page_are_pythons_event_by_event(bench: Bench) -> None:
    script = joined("bench_runs") + "\nexport { computedRun };"
    given = [{"allocation": str(allocation), "number": number} for allocation, number in POSITIONS.values()]
    computed = bench.page.evaluate(
        """async ([script, positions]) => {
            const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
            const { computedRun } = await import(url);
            const runs = [];
            for (const position of positions) runs.push(await computedRun(position, {}));
            return runs;
        }""",
        [script, given],
    )
    assert computed == [json.loads(run(*position).to_json()) for position in POSITIONS.values()]


@pytest.mark.parametrize(("allocation", "number"), [(4, 12), (16, 32), ("longest", 24)])
def test_readings_count_up_with_the_run(bench: Bench, allocation: object, number: int) -> None:
    bench.skip()
    bench.choose(allocation, number)
    bench.run_button.click()
    bench.machine("Pause").click()
    slider = bench.place.get_by_role("slider")
    slider.fill("0")
    assert bench.readings() == ["–", "–", "–"]
    done = run(allocation, number)
    for count, reading in enumerate(done.readings, 1):
        for position, read in ((reading.position - 1, count - 1), (reading.position, count)):
            slider.fill(str(position))
            so_far = Run(done.log, done.readings[:read])
            assert bench.readings() == (as_read(so_far) if read else ["–", "–", "–"])


def test_run_starts_over(bench: Bench) -> None:
    bench.skip()
    bench.run(4, 24)
    bench.run_button.click()
    bench.machine("Pause").click()
    assert bench.readings() != as_read(run(4, 24))
    bench.machine("To the end").click()
    assert bench.readings() == as_read(run(4, 24))
    assert len(bench.table()) == 1


def test_run_plays_by_itself_to_its_end(bench: Bench) -> None:
    bench.skip()
    bench.choose("longest", 8)
    bench.run_button.click()
    bench.place.get_by_role("combobox").select_option("64")
    expect(bench.status).to_have_text(re.compile("at most 8 at once, 43.4 % .* 15 rounds"), timeout=30_000)


# Predictions


def test_run_is_closed_until_the_reader_predicts_or_skips(bench: Bench) -> None:
    expect(bench.run_button).to_be_disabled()
    bench.place.get_by_role("button", name="Commit").click()
    expect(bench.place.get_by_role("form").get_by_role("status")).to_contain_text("Choose an answer to each")
    expect(bench.question(1).get_by_role("radio").first).to_be_focused()
    expect(bench.run_button).to_be_disabled()
    bench.skip()
    expect(bench.run_button).to_be_enabled()
    expect(bench.run_button).to_be_focused()


def test_right_predictions_are_answered_by_the_readings(bench: Bench) -> None:
    for number, words in enumerate(("it falls", "8", "blocks of 1"), 1):
        bench.question(number).get_by_role("radio", name=words, exact=True).check()
    bench.place.get_by_role("button", name="Commit").click()
    assert [bench.verdict(number).split(".")[0] for number in (1, 2, 3)] == ["Not read yet"] * 3
    bench.run(1, 32)
    assert bench.verdict(1).startswith("Not read yet")
    bench.run(16, 32)
    expect(bench.status).to_contain_text("Prediction 1 is answered below.")
    assert bench.verdict(1) == (
        "As you said. With 32 sequences it falls: 100 % with blocks of 1, 53.1 % with blocks of 16."
    )
    bench.run("longest", 32)
    assert bench.verdict(2) == (
        "As you said. At most 8 of 32 at once. A ninth row would need 180 slots, and there are 176."
    )
    rounds = [run(allocation, 32).num_rounds for allocation in (1, 16, "longest")]
    assert bench.verdict(3) == (
        f"As you said. Rounds for 32 sequences: {rounds[0]} with blocks of 1, {rounds[1]} with blocks of 16, "
        f"{rounds[2]} with rows of 20."
    )


def test_wrong_predictions_are_told_so(bench: Bench) -> None:
    for number, words in enumerate(("it rises", "11", "all need the same"), 1):
        bench.question(number).get_by_role("radio", name=words, exact=True).check()
    bench.place.get_by_role("button", name="Commit").click()
    for allocation in (1, 16, "longest"):
        bench.run(allocation, 24)
    assert all(bench.verdict(number).startswith("Not as you said. ") for number in (1, 2, 3))


def test_who_skips_is_told_the_answers_without_a_judgement(bench: Bench) -> None:
    bench.skip()
    for allocation in (1, 16, "longest"):
        bench.run(allocation, 24)
    assert [bench.verdict(number).split(" ")[0] for number in (1, 2, 3)] == ["With", "At", "Rounds"]
    expect(bench.place.get_by_text("You made no prediction.")).to_have_count(3)


# By keyboard and by touch


def test_every_control_by_keyboard(bench: Bench) -> None:
    keys = bench.page.keyboard
    bench.question(1).get_by_role("radio").first.focus()
    for answer in ("Space", "ArrowRight", "ArrowDown"):
        keys.press("Space")
        if answer != "Space":
            keys.press(answer)
        keys.press("Tab")
    expect(bench.place.get_by_role("button", name="Commit")).to_be_focused()
    keys.press("Enter")
    expect(bench.place.get_by_text("You said: 11.")).to_be_visible()
    expect(bench.run_button).to_be_focused()
    keys.press("Shift+Tab")
    expect(bench.switch).to_be_focused()
    keys.press("Space")
    expect(bench.switch).to_be_checked()
    keys.press("Space")
    keys.press("Shift+Tab")
    expect(bench.radio("Sequences that come", 24)).to_be_focused()
    keys.press("ArrowRight")
    expect(bench.radio("Sequences that come", 32)).to_be_checked()
    keys.press("Shift+Tab")
    expect(bench.radio("Tokens in a block", 4)).to_be_focused()
    for _ in range(3):
        keys.press("ArrowRight")
    expect(bench.radio("Tokens in a block", "longest")).to_be_checked()
    for _ in range(3):
        keys.press("Tab")
    expect(bench.run_button).to_be_focused()
    keys.press("Enter")
    expect(bench.machine("Pause")).to_be_visible()
    expect(bench.run_button).to_be_focused()
    bench.machine("To the end").focus()
    keys.press("Enter")
    assert bench.readings() == as_read(run("longest", 32))


def test_every_control_by_touch(open_bench: Callable[..., Bench]) -> None:
    bench = open_bench(390, has_touch=True, is_mobile=True)
    for number in (1, 2, 3):
        for label in bench.question(number).locator("label").all():
            label.tap()
            expect(label.get_by_role("radio")).to_be_checked()
    bench.place.get_by_role("button", name="Commit").tap()
    expect(bench.place.get_by_text("You said: all that come.")).to_be_visible()
    for group in ("Tokens in a block", "Sequences that come"):
        for label in bench.place.get_by_role("group", name=group).locator("label").all():
            label.tap()
            expect(label.get_by_role("radio")).to_be_checked()
    bench.switch.tap()
    expect(bench.switch).to_be_checked()
    bench.switch.tap()
    bench.run_button.tap()
    bench.machine("To the end").tap()
    assert bench.readings() == as_read(run("longest", 64))


def test_skipping_by_touch_opens_run(open_bench: Callable[..., Bench]) -> None:
    bench = open_bench(390, has_touch=True, is_mobile=True)
    bench.place.get_by_role("button", name="Skip").tap()
    expect(bench.run_button).to_be_enabled()


def test_controls_are_large_enough_to_touch(open_bench: Callable[..., Bench]) -> None:
    bench = open_bench(320)
    boxes = [target.bounding_box() for target in bench.place.locator("label, button").all()]
    assert len(boxes) > 20
    assert [box for box in boxes if box is None or min(box["width"], box["height"]) < 24] == []


# Without a server, without Python, without a file


def test_python_is_loaded_when_a_run_is_computed_and_not_before(bench: Bench) -> None:
    loaded: list[str] = []
    bench.page.wait_for_load_state("networkidle")
    bench.page.on("request", lambda request: loaded.append(request.url.rpartition("/")[2].partition("?")[0]))
    bench.skip()
    bench.run(8, 12)
    bench.switch.check()
    assert loaded == ["8-12.js"]
    bench.run(8, 12)
    bench.run(8, 16)
    assert [loaded.count(name) for name in ("kvlib.json", "micropython.mjs", "micropython.wasm")] == [1, 1, 1]
    assert "8-16.js" not in loaded


def test_from_a_disk_the_runs_computed_before_are_played(open_bench: Callable[..., Bench]) -> None:
    bench = open_bench(url=(HTML / CHAPTER).as_uri())
    expect(bench.switch).to_be_disabled()
    expect(bench.place).to_contain_text("Runs were computed before.")
    bench.skip()
    bench.run(2, 48)
    assert bench.readings() == as_read(run(2, 48))


def test_where_python_does_not_load_the_run_computed_before_is_played_and_the_page_says_so(
    open_bench: Callable[..., Bench], site: str
) -> None:
    bench = open_bench()
    bench.page.route("**/kvlib.json*", lambda route: route.fulfill(status=200, body="{}"))
    bench.skip()
    bench.switch.check()
    bench.run(4, 16)
    expect(bench.place).to_contain_text("This run was computed before.")
    assert bench.readings() == as_read(run(4, 16))


def test_a_run_whose_file_is_missing_is_said_in_words(browser: Browser, site: str) -> None:
    page = browser.new_page()
    page.route("**/_static/bench/*", lambda route: route.abort())
    page.goto(site + CHAPTER)
    bench = Bench(page)
    bench.skip()
    bench.run_button.click()
    expect(bench.status).to_have_text("The file of this run cannot be loaded. Is the book's folder complete?")
    page.close()


def test_a_file_of_its_own_plays_every_run_without_another_file(
    open_bench: Callable[..., Bench], tmp_path: Path
) -> None:
    LabBench().save(tmp_path / "bench.html")
    bench = open_bench(url=(tmp_path / "bench.html").as_uri())
    bench.skip()
    for allocation in (1, "longest"):
        bench.run(allocation, 64)
        assert bench.readings() == as_read(run(allocation, 64))


def test_in_a_notebook_the_events_come_from_the_kernel(browser: Browser) -> None:
    widget = LabBench()
    traits = {name: getattr(widget, name) for name in ("allocations", "numbers", "readings", "live")}
    page = browser.new_page()
    page.expose_function("kernel", lambda name: json.loads(run(*POSITIONS[name]).to_json()))
    page.evaluate(
        """async ([script, traits]) => {
            const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
            const { default: widget } = await import(url);
            const handlers = [];
            const model = {
                get: (name) => traits[name], set: () => {}, save_changes: () => {}, off: () => {},
                on: (event, handler) => event === "msg:custom" && handlers.push(handler),
                send: async ({ run }) => {
                    const data = await kernel(run);
                    for (const handler of handlers) handler({ run, data });
                },
            };
            widget.render({ model, el: document.body });
        }""",
        [module("bench"), traits],
    )
    bench = Bench(page)
    expect(bench.switch).to_have_count(0)
    bench.skip()
    bench.run(8, 48)
    assert bench.readings() == as_read(run(8, 48))
    page.close()


# As it looks and as it is read aloud


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (390, "dark")])
def test_nothing_is_closed_to_anybody(browser: Browser, site: str, width: int, theme: str) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)
    page.goto(site + CHAPTER)
    bench = Bench(page)
    rules = {"runOnly": {"type": "tag", "values": WCAG}, "resultTypes": ["violations"]}

    def faults() -> list[tuple[str, str]]:
        found = Axe().run(page, context=".kv-bench", options=rules).response["violations"]
        return [(each["id"], node["html"][:120]) for each in found for node in each["nodes"]]

    asking = faults()
    bench.skip()
    bench.run(4, 24)
    ended = faults()
    bench.run_button.click()
    assert (asking, ended, faults()) == ([], [], [])
    page.close()


@pytest.mark.parametrize("width", [320, 390, 768, 1280, 1600])
def test_bench_never_makes_the_page_scroll_sideways(open_bench: Callable[..., Bench], width: int) -> None:
    bench = open_bench(width)
    fits = "document.scrollingElement.scrollWidth <= document.scrollingElement.clientWidth"
    assert bench.page.evaluate(fits)
    bench.skip()
    for allocation in (1, 16, "longest"):
        bench.run(allocation, 24)
        assert bench.page.evaluate(fits)


def test_the_end_of_a_run_is_said_once_in_a_sentence(bench: Bench) -> None:
    bench.skip()
    expect(bench.status).to_have_attribute("role", "status")
    bench.run(16, 24)
    most, share, rounds = as_read(run(16, 24))
    expect(bench.status).to_have_text(
        f"24 sequences, blocks of 16: at most {most} at once, {share} of the held slots hold tokens, {rounds} rounds."
    )


def test_without_scripts_the_page_says_what_the_bench_is(browser: Browser, site: str) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(site + CHAPTER)
    expect(page.locator(".kv-widget-text")).to_contain_text("One lever sets how many tokens a block holds")
    page.context.close()


def test_screenshots_are_kept(open_bench: Callable[..., Bench], screenshots: Path) -> None:
    for width in (390, 1280):
        for theme in ("light", "dark"):
            bench = open_bench(width, color_scheme=theme)
            bench.skip()
            for allocation in (1, 16, "longest"):
                bench.run(allocation, 24)
            kept = screenshots / f"bench-{width}-{theme}.png"
            bench.page.evaluate("scrollTo(0, 0)")
            bench.page.screenshot(path=kept, full_page=True)
            assert kept.stat().st_size > 10_000
