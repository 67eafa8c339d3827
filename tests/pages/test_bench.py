"""The lab bench in chapter 14, as a reader uses it: by mouse, by keyboard, by touch, with and without Python."""

import json
import re
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, Route, expect

from kvlib.serving.lab_bench import ALLOCATIONS, NUMS_SEQUENCES, Run, run
from kvlib.show.lab_bench import POSITIONS, LabBench
from kvlib.show.modules import joined, module

from .conftest import HTML, ROOT

CHAPTER = "book/14-the-lab-bench.html"
NO_HOST = ("data:", "blob:", "file:")
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


class Bench:
    """The bench of an open page, by the names that a reader sees or hears."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.place = page.get_by_role("region", name="Lab bench")
        self.run_button = self.place.get_by_role("button", name="Run", exact=True)
        self.stop_button = self.place.get_by_role("button", name="Stop", exact=True)
        self.status = self.place.locator(".kv-bench-status")
        self.shown = self.place.locator(".kv-bench-shown")
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
        self.start(allocation, number)
        self.machine("To the end").click()

    def start(self, allocation: object, number: int) -> None:
        """Run a position, until it is there."""
        self.choose(allocation, number)
        self.run_button.click()
        expect(self.place.locator(".kv-bench-run")).to_have_attribute("aria-busy", "false", timeout=30_000)

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


def listen(page: Page) -> None:
    page.on("console", lambda m: m.type in ("error", "warning") and page.complaints.append(m.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("request", lambda r: r.url.startswith(NO_HOST) or page.hosts.add(urlsplit(r.url).netloc))


@pytest.fixture
def open_bench(open_window: Callable[..., Page], site: str) -> Iterator[Callable[..., Bench]]:
    """Opens the chapter in a window of its own; at the end nothing may have been complained of or asked elsewhere."""
    pages = []

    def opened(width: int = 1280, url: str = site + CHAPTER, **settings: object) -> Bench:
        page = open_window(listen, **settings)
        pages.append(page)
        page.complaints, page.hosts = [], set()  # type: ignore[attr-defined]
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(url)
        return Bench(page)

    yield opened
    assert [complaint for page in pages for complaint in page.complaints] == []
    assert {host for page in pages for host in page.hosts} <= {urlsplit(site).netloc}


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
        words = f"{position[1]} sequences, {name_of(position[0])}. Computed in this page: its readings are those of"
        expect(bench.shown).to_have_text(f"{words} the run computed before.")


def test_a_run_computed_in_the_page_is_compared_event_by_event_where_the_stored_one_is_there(bench: Bench) -> None:
    bench.skip()
    bench.run(8, 12)
    expect(bench.shown).to_have_text("12 sequences, blocks of 8. ")
    bench.switch.check()
    bench.run(8, 12)
    expect(bench.shown).to_contain_text("Computed in this page: event by event the run computed before.")
    bench.page.evaluate("kvRuns['8-12'].log.texts.s1[0] = 'another'")
    bench.run(8, 12)
    expect(bench.shown).to_contain_text("Computed before. What Python computed here was another run.")


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
    bench.start(allocation, number)
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
    bench.start(4, 24)
    bench.machine("Pause").click()
    assert bench.readings() != as_read(run(4, 24))
    bench.machine("To the end").click()
    assert bench.readings() == as_read(run(4, 24))
    assert len(bench.table()) == 1


def test_run_plays_by_itself_to_its_end_and_its_speed_is_kept(bench: Bench) -> None:
    bench.skip()
    bench.start("longest", 8)
    bench.place.get_by_role("combobox").select_option("64")
    expect(bench.status).to_contain_text("at most 8 at once, 43.4 %", timeout=30_000)
    bench.start(16, 8)
    expect(bench.place.get_by_role("combobox")).to_have_value("64")


# What the bench says of itself


def hold_back(page: Page, pattern: str) -> list[Route]:
    """Answer no request of this pattern; returns those that were made, to be answered later."""
    held: list[Route] = []
    page.route(pattern, lambda route: held.append(route))
    return held


def test_while_a_run_is_loading_the_old_one_is_marked_and_the_new_one_named(bench: Bench) -> None:
    bench.skip()
    bench.run(4, 24)
    read = bench.readings()
    held = hold_back(bench.page, "**/_static/bench/*")
    bench.choose("longest", 24)
    bench.run_button.click()
    expect(bench.status).to_have_text("24 sequences, rows of 20: loading the run.")
    expect(bench.place.locator(".kv-bench-run")).to_have_attribute("aria-busy", "true")
    expect(bench.shown).to_have_text("24 sequences, blocks of 4. ")
    assert bench.readings() == read
    held[0].continue_()
    expect(bench.shown).to_have_text("24 sequences, rows of 20. ")
    expect(bench.status).to_contain_text("Playing.")


def test_loading_can_be_stopped(bench: Bench) -> None:
    bench.skip()
    expect(bench.stop_button).to_have_attribute("aria-disabled", "true")
    held = hold_back(bench.page, "**/_static/bench/*")
    bench.run_button.click()
    bench.stop_button.click()
    expect(bench.status).to_have_text("Stopped.")
    expect(bench.stop_button).to_have_attribute("aria-disabled", "true")
    held[0].continue_()
    bench.page.wait_for_function("globalThis.kvRuns?.['1-24']")
    expect(bench.status).to_have_text("Stopped.")
    expect(bench.shown).to_be_hidden()
    bench.run(1, 24)
    assert bench.readings() == as_read(run(1, 24))


def test_the_status_is_true_of_a_run_that_plays_is_stopped_and_is_looked_at_again(bench: Bench) -> None:
    bench.skip()
    bench.start(4, 24)
    expect(bench.status).to_have_text("Playing. “To the end” in the machine shows the readings at once.")
    bench.stop_button.click()
    expect(bench.status).to_have_text("Paused.")
    expect(bench.machine("Play")).to_be_visible()
    bench.machine("Play").click()
    expect(bench.status).to_contain_text("Playing.")
    bench.machine("To the end").click()
    ended = bench.status.text_content()
    bench.machine("To the start").click()
    expect(bench.status).to_have_text("Paused.")
    bench.machine("To the end").click()
    assert bench.status.text_content() == ended
    assert len(bench.table()) == 1


def test_levers_that_stand_elsewhere_than_the_run_are_said_to(bench: Bench) -> None:
    bench.skip()
    changed = bench.place.get_by_text("The levers have been changed. Run starts over.")
    bench.radio("Tokens in a block", 2).check()
    expect(changed).to_have_count(0)
    bench.run(2, 24)
    bench.radio("Tokens in a block", "longest").check()
    expect(changed).to_be_visible()
    bench.radio("Tokens in a block", 2).check()
    expect(changed).to_have_count(0)


def test_what_stands_below_does_not_jump_while_a_run_plays(bench: Bench) -> None:
    bench.skip()
    bench.start(4, 24)
    bench.machine("Pause").click()
    slider, place = bench.place.get_by_role("slider"), bench.place.locator(".kv-bench-machine")
    heights: list[float] = []
    for position in (10, 100, 200, 300, run(4, 24).readings[-1].position):
        slider.fill(str(position))
        bench.page.wait_for_timeout(100)
        heights.append(place.bounding_box()["height"])
    assert heights == sorted(heights)


# Predictions


def test_run_is_closed_until_the_reader_predicts_or_skips(bench: Bench) -> None:
    expect(bench.run_button).to_be_disabled()
    bench.place.get_by_role("button", name="Commit").click()
    asked = bench.place.get_by_role("region", name="Three predictions")
    expect(asked.get_by_role("status")).to_contain_text("Choose an answer to each")
    expect(bench.question(1).get_by_role("radio").first).to_be_focused()
    expect(bench.run_button).to_be_disabled()
    bench.skip()
    expect(bench.run_button).to_be_enabled()
    expect(bench.run_button).to_be_focused()


def test_enter_on_an_answer_commits_to_nothing(bench: Bench) -> None:
    for number in (1, 2, 3):
        bench.question(number).get_by_role("radio").first.check()
    bench.page.keyboard.press("Enter")
    expect(bench.run_button).to_be_disabled()
    expect(bench.question(3)).to_be_visible()


def test_after_the_predictions_levers_and_run_are_in_sight(open_bench: Callable[..., Bench]) -> None:
    bench = open_bench(390)
    skip = bench.place.get_by_role("button", name="Skip")
    skip.scroll_into_view_if_needed()
    bench.page.evaluate("scrollBy(0, 700)")
    skip.focus()
    bench.page.keyboard.press("Enter")
    header = bench.page.locator(".bd-header-article").bounding_box()
    first = bench.radio("Tokens in a block", 1).bounding_box()
    assert first["y"] > header["y"] + header["height"]
    expect(bench.run_button).to_be_in_viewport()


def test_the_three_runs_that_the_bench_names_answer_all_three_questions(bench: Bench) -> None:
    bench.skip()
    expect(bench.place).to_contain_text("Three runs answer all three questions: blocks of 1, blocks of 16 and rows")
    for allocation in (1, 16, "longest"):
        bench.run(allocation, 24)
    assert not any("Not read yet" in bench.verdict(number) for number in (1, 2, 3))


def test_right_predictions_are_answered_by_the_readings(bench: Bench) -> None:
    for number, words in enumerate(("it falls", "8", "blocks of 1"), 1):
        bench.question(number).get_by_role("radio", name=words, exact=True).check()
    bench.place.get_by_role("button", name="Commit").click()
    assert [bench.verdict(number).split(".")[0] for number in (1, 2, 3)] == ["Not read yet"] * 3
    bench.run(1, 32)
    assert bench.verdict(1).startswith("Not read yet")
    bench.run(16, 32)
    bench.place.get_by_role("link", name="Question 1 is answered below.").click()
    expect(bench.place.locator(".kv-bench-answers li").first).to_be_focused()
    expect(bench.place.locator(".kv-bench-verdict").first).to_be_in_viewport()
    assert bench.verdict(1) == (
        "As you said. With 32 sequences it falls: 100 % with blocks of 1, 53.1 % with blocks of 16."
    )
    bench.run("longest", 32)
    expect(bench.place.get_by_role("link", name="Questions 2 and 3 are answered below.")).to_be_visible()
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
    expect(bench.radio("Sequences that come", 24)).to_be_focused()
    keys.press("ArrowRight")
    expect(bench.radio("Sequences that come", 32)).to_be_checked()
    keys.press("Shift+Tab")
    expect(bench.radio("Tokens in a block", 1)).to_be_focused()
    keys.press("ArrowLeft")
    expect(bench.radio("Tokens in a block", "longest")).to_be_checked()
    for _ in range(2):
        keys.press("Tab")
    expect(bench.run_button).to_be_focused()
    keys.press("Tab")
    expect(bench.stop_button).to_be_focused()
    for _ in range(4):  # no run is shown yet, and each of the three answers is reached by a link only
        if not bench.switch.evaluate("box => box === document.activeElement"):
            keys.press("Tab")
    expect(bench.switch).to_be_focused()
    keys.press("Space")
    expect(bench.switch).to_be_checked()
    keys.press("Space")
    bench.run_button.focus()
    keys.press("Enter")
    expect(bench.machine("Pause")).to_be_visible()
    expect(bench.run_button).to_be_focused()
    keys.press("Tab")
    keys.press("Enter")
    expect(bench.machine("Play")).to_be_visible()
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
    bench.stop_button.tap()
    expect(bench.status).to_have_text("Paused.")
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
    expect(bench.place).to_contain_text("The runs were computed before.")
    bench.skip()
    bench.run(2, 48)
    assert bench.readings() == as_read(run(2, 48))


def test_where_python_does_not_load_the_run_computed_before_is_played_and_the_page_says_so(bench: Bench) -> None:
    bench.page.route("**/kvlib.json*", lambda route: route.fulfill(status=200, body="{}"))
    bench.skip()
    bench.switch.check()
    bench.run(4, 16)
    words = bench.shown.inner_text()
    assert re.fullmatch(
        r"16 sequences, blocks of 4\. Computed before\. Python broke down \(.*\)\. Run it again\.", words
    )
    assert bench.readings() == as_read(run(4, 16))


def test_an_error_of_python_is_said_in_one_sentence(bench: Bench) -> None:
    broken = json.dumps({"lacking.py": "", "live.py": (ROOT / "book/static/python/live.py").read_text()})
    bench.page.route("**/kvlib.json*", lambda route: route.fulfill(status=200, body=broken))
    bench.skip()
    bench.switch.check()
    bench.run(4, 16)
    expect(bench.shown).to_have_text(
        "16 sequences, blocks of 4. Computed before. Python ended with ImportError: no module named 'kvlib'."
    )


def test_a_package_that_computes_another_run_is_found_out(bench: Bench) -> None:
    def change(route: Route) -> None:
        text = route.fetch().text()
        route.fulfill(status=200, body=text.replace("NUM_SLOTS = 176", "NUM_SLOTS = 96"))

    bench.page.route("**/kvlib.json*", change)
    bench.skip()
    bench.switch.check()
    bench.run(4, 24)
    expect(bench.shown).to_contain_text("Computed before. What Python computed here was another run.")
    assert bench.readings() == as_read(run(4, 24))


def test_a_run_without_python_and_without_its_file_is_said_in_words_and_the_old_one_stays(
    browser: Browser, site: str
) -> None:
    page = browser.new_page()
    page.goto(site + CHAPTER)
    bench = Bench(page)
    bench.skip()
    bench.run(4, 24)
    page.route("**/_static/**", lambda route: route.abort())
    lost = "This run could not be loaded. Is there a network? Runs that have been played here can be played again."
    still = "Still shown: 24 sequences, blocks of 4."
    bench.start(8, 24)
    expect(bench.status).to_have_text(f"{lost} {still}")
    bench.switch.check()
    bench.start(8, 24)
    expect(bench.status).to_have_text(f"Python could not be loaded (Failed to fetch). Run it again. {lost} {still}")
    expect(bench.shown).to_have_text("24 sequences, blocks of 4. ")
    assert bench.readings() == as_read(run(4, 24))
    bench.switch.uncheck()
    bench.run(4, 24)
    expect(bench.status).to_contain_text("Read.")
    page.close()


# Beside the cells that a reader changes


def live_cell(bench: Bench, code: str) -> Locator:
    """The first live cell of the page, with `code` in it, started."""
    cell = bench.page.locator("div.cell.tag_live").first
    cell.get_by_role("button", name=re.compile("^Change and run")).click()
    cell.locator("textarea").fill(code)
    cell.get_by_role("button", name="Run", exact=True).click()
    return cell


def test_a_cell_that_never_ends_does_not_hold_the_bench_up(bench: Bench) -> None:
    cell = live_cell(bench, "while True:\n    pass")
    expect(cell.locator(".kv-live-output .kv-live-said")).to_have_text("Running")
    bench.skip()
    bench.switch.check()
    bench.run(4, 24)
    expect(bench.shown).to_contain_text("Computed in this page")
    assert bench.readings() == as_read(run(4, 24))
    expect(cell.locator(".kv-live-output .kv-live-said")).to_have_text("Running")


def test_bench_and_cells_share_no_names_and_no_modules(bench: Bench) -> None:
    code = "import kvlib.serving.lab_bench as lab\nlab.NUM_SLOTS = 96\nrun = 5\nprint(run)"
    cell = live_cell(bench, code)
    expect(cell.locator(".kv-live-printed")).to_have_text("5\n")
    bench.skip()
    bench.switch.check()
    bench.run(4, 24)
    assert bench.readings() == as_read(run(4, 24))
    cell.locator("textarea").fill("print(run)")
    cell.get_by_role("button", name="Run", exact=True).click()
    expect(cell.locator(".kv-live-output .kv-live-said")).to_have_text("It printed:")
    expect(cell.locator(".kv-live-printed")).to_have_text("5\n")


def test_computing_can_be_stopped_and_begun_again(bench: Bench) -> None:
    held = hold_back(bench.page, "**/kvlib.json*")
    bench.skip()
    bench.switch.check()
    bench.run_button.click()
    expect(bench.status).to_contain_text("Loading Python")
    bench.stop_button.click()
    expect(bench.status).to_have_text("Stopped.")
    bench.page.unroute("**/kvlib.json*")
    assert held
    bench.run(1, 24)
    expect(bench.shown).to_contain_text("Computed in this page")


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
        f"Read. 24 sequences, blocks of 16: at most {most} at once, {share} of the held slots hold tokens, "
        f"{rounds} rounds. "
    )
    assert bench.place.locator(".kv-bench-heard").bounding_box()["width"] <= 1  # for who sees, the counters have it


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
