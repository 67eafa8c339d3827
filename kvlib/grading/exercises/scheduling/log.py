"""What a scheduler did, as the event log of a block manager that does as it says: for the machine and the timeline."""

from collections.abc import Callable, Sequence
from typing import Any

from kvlib.events import EventLog
from kvlib.grading.exercises.scheduling.drive import Journal, ours, played
from kvlib.memory import RecordedBlockManager
from kvlib.serving.workload import Arrival

TEXTS = (
    "Monday began with rain, and the river rose all day, but the bridge held until the evening train",
    "Nobody saw the cat leave, yet the chair was empty at noon and the window stood open",
    "Seven boats went out that morning, and six came back before night with little to show",
)
PROMPT = 3  # words


def told_by(answer: Callable[..., Any], num_blocks: int = 7, block_size: int = 4) -> EventLog:
    """The three TEXTS, a token a word, as `answer` schedules them; what it must be is `Driven`'s to say."""
    return _log(played(answer, _arrivals(), num_blocks, block_size), num_blocks, block_size)


def told_by_ours(num_blocks: int = 7, block_size: int = 4) -> EventLog:
    """The same under kvlib's own rules."""
    return _log(ours(_arrivals(), num_blocks, block_size), num_blocks, block_size)


def _words() -> list[list[str]]:
    return [[f"{word} " for word in text.split()] for text in TEXTS]


def _arrivals() -> list[Arrival]:
    return [Arrival(0.0, PROMPT, len(words) - PROMPT) for words in _words()]


def _log(journal: Journal, num_blocks: int, block_size: int) -> EventLog:
    log = EventLog()
    manager = RecordedBlockManager(num_blocks, block_size, log)
    words = {str(number): text for number, text in enumerate(_words(), 1)}
    for name, text in words.items():
        log.add("arrive", seq=name)
        log.say(name, text[:PROMPT])
    for iteration, ran in enumerate(journal.ran, 1):
        log.next_step()
        names = [str(number) for number in ran]
        _make_room(log, manager, names)
        for name in names:
            if name in manager:
                manager.append(name)
            else:
                manager.admit(name, len(log.texts[name]))
        for name in names:
            log.say(name, [words[name][len(log.texts[name])]])
            if journal.ended[int(name)] == iteration:
                manager.free(name)
                log.add("finish", seq=name, reason="length")
    return log


def _make_room(log: EventLog, manager: RecordedBlockManager, running: Sequence[str]) -> None:
    for name in reversed(manager.sequences):
        if name not in running:
            manager.free(name)
            log.add("preempt", seq=str(name), how="recompute")
