"""How smoothly a large memory plays: a figure for the end of the run, not a test of the machine that it runs on."""

import pytest

from kvlib.events import EventLog
from kvlib.memory import RecordedBlockManager
from kvlib.serving.request import Request
from kvlib.serving.scheduler import Scheduler

from .machines import data_of, opened_machines

machine = opened_machines
NUM_FRAMES = 240


@pytest.fixture(scope="module")
def crowd():
    """1,000 blocks of 4 and 64 sequences, most of which run together."""
    log = EventLog()
    scheduler = Scheduler(RecordedBlockManager(1000, 4, log), log=log)
    for number in range(64):
        num_prompt, num_output = 20 + 7 * number % 31, 40 + 5 * number % 23
        scheduler.add(Request(str(number), num_prompt, num_output))
        log.say(str(number), [f"word{place} " for place in range(num_prompt + num_output)])
    while scheduler.has_unfinished():
        step = scheduler.schedule()
        scheduler.computed(step)
        for work in step.prefills + step.decodes:
            work.sequence.append()
            if not work.request.growing:
                scheduler.finish(work.request, "length")
    return data_of(log)


@pytest.mark.alone
@pytest.mark.parametrize("speed", [1, 8])
def test_a_thousand_blocks_play(machine, record_property, crowd, speed):
    page = machine(crowd, width=1280, motion="no-preference", speed=speed, position=len(crowd["events"]) // 2)
    before = page.evaluate("model.get('position')")
    rate = page.evaluate(
        """async (numFrames) => {
            model.set("playing", true);
            const frame = () => new Promise(requestAnimationFrame);
            const start = await frame();
            let last = start;
            for (let number = 0; number < numFrames; number += 1) last = await frame();
            model.set("playing", false);
            return (1000 * numFrames) / (last - start);
        }""",
        NUM_FRAMES,
    )
    assert page.evaluate("model.get('position')") > before
    record_property(
        "frames a second that the machine drew here, of 60", f"{rate:8.1f}  1,000 blocks, 64 sequences, speed {speed}"
    )
