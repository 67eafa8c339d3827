"""A page with one machine on it, whose model the test holds as `model`."""

import json
from pathlib import Path

import pydata_sphinx_theme
import pytest

from kvlib.events import EventLog
from kvlib.memory import RecordedBlockManager
from kvlib.show.modules import joined, styles

BOOK_CSS = (Path(__file__).parents[2] / "book" / "static" / "book.css").read_text()
THEME = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static"
THEME_CSS = (THEME / "styles" / "pydata-sphinx-theme.css").read_text()

PAGE = """<!doctype html><html lang="en" data-theme="{theme}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>A machine</title><link rel="icon" href="data:,">
<style>{styles} body {{ background: var(--kv-paper); color: var(--kv-ink); margin: 12px }}
.bd-article {{ padding: 0 }}</style></head>
<body><main><article class="bd-article"><h1>A machine</h1><div id="here"></div></article></main>
<script type="module">{script}
window.model = new PageModel({traits});
Object.assign(window, {{ Layout, Log, marksOf, renderMachine }});
window.closeMachine = renderMachine({{ model, el: document.getElementById("here") }});
</script></body></html>"""

ADDRESS = "http://machine.test/"


def listen(page):
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))


def open_machine(page, data, *, width=720, theme="light", motion="reduce", themed=False, **traits):
    """The machine in a window, with what its console said as `page.complaints`; `data` is the log's JSON object.

    As in a chapter an article is around the machine, and the book's styles come after its own; `themed` puts those of
    the site's theme before them.
    """
    traits = {"position": 0, "playing": False, "speed": 1, "row": 0, "label": "The machine"} | traits | {"data": data}
    page.complaints = []
    html = PAGE.format(
        theme=theme,
        styles=(THEME_CSS if themed else "") + styles("machine") + BOOK_CSS,
        script=joined("machine", "mount"),
        traits=json.dumps(traits).replace("<", "\\u003c"),
    )
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(reduced_motion=motion)
    page.route(ADDRESS, lambda route: route.fulfill(body=html, content_type="text/html"))
    page.goto(ADDRESS)
    page.wait_for_selector(".kv-machine > *", state="attached")


@pytest.fixture
def opened_machines(open_window):
    """Opens machines of logs, FORKED if none is given; none of them may have complained."""
    pages = []

    def open_one(data=FORKED, *, touch=False, **options):
        pages.append(open_window(listen, has_touch=touch, is_mobile=touch, device_scale_factor=2))
        open_machine(pages[-1], data, **options)
        return pages[-1]

    yield open_one
    assert [complaint for page in pages for complaint in page.complaints] == []


def forked():
    """A prompt of six tokens, its fork, and a token of each: the block that both name is copied once."""
    log = EventLog()
    manager = RecordedBlockManager(5, 4, log)
    log.next_step()
    manager.admit("first", 6)
    log.say("first", ["All ", "happy ", "families ", "are ", "alike; ", "each "])
    manager.fork("first", "second")
    log.say("second", log.texts["first"])
    log.next_step()
    manager.append("second")
    log.say("second", ["unhappy "])
    manager.append("first")
    log.say("first", ["one "])
    log.next_step()
    manager.free("second")
    return log


def crowded(how):
    """Three blocks of two: B gives way to A ("recompute" or "swap" says `how`), waits, comes back and ends."""
    log = EventLog()
    log.open(3, 2)
    log.say("a", ["The ", "sea ", "was ", "calm "])
    log.say("b", ["A ", "boat "])
    log.next_step()
    for seq, block in (("a", 1), ("b", 2)):
        log.add("arrive", seq=seq)
        log.add("allocate", seq=seq, index=0, block=block)
        log.add("write", seq=seq, start=0, stop=2)
    log.next_step()
    if how == "swap":
        log.add("swap", seq="b", how="out", blocks=[2], host_blocks=[1])
    else:
        log.add("free", seq="b", block=2, count=0)
    log.add("preempt", seq="b", how=how)
    log.add("allocate", seq="a", index=1, block=2)
    log.add("write", seq="a", start=2, stop=4)
    log.next_step()
    for block in (2, 1):
        log.add("free", seq="a", block=block, count=0)
    log.add("finish", seq="a", reason="stop")
    if how == "swap":
        log.add("swap", seq="b", how="in", blocks=[3], host_blocks=[1])
    else:
        log.add("allocate", seq="b", index=0, block=3)
        log.add("write", seq="b", start=0, stop=2)
    log.next_step()
    log.add("free", seq="b", block=3, count=0)
    log.add("finish", seq="b", reason="stop")
    return log


def data_of(log):
    return json.loads(log.to_json())


def position_of(page):
    return page.evaluate("model.get('position')")


def picture_of(page):
    """The pixels of the board, as text."""
    return page.evaluate("document.querySelector('.kv-board canvas').toDataURL()")


def button_of(page, name):
    return page.get_by_role("button", name=name, exact=True)


def readings_of(page):
    """name -> what its counter shows, for those that are seen."""
    parts = [
        reading.locator("dt, dd:not(.kv-names)") for reading in page.locator(".kv-readings dl > div:visible").all()
    ]
    return dict(part.all_inner_texts() for part in parts)


FORKED = data_of(forked())  # its steps end after 0, 5, 8 and 10 events
CROWDED = data_of(crowded("recompute"))  # its steps end after 0, 6, 10, 15 and 17 events
