"""What happened, from its record or from its laws: the exercises of chapters 13 and 14."""

from math import ceil

from kvlib.chance import Chance
from kvlib.events import EventLog
from kvlib.grading.exercises.chapters.lists import Drawn, lists
from kvlib.grading.exercises.sums import Case, sums
from kvlib.memory import RecordedBlockManager
from kvlib.serving.lab_bench import ARRIVALS_A_ROUND
from kvlib.serving.lab_memories import LabRows

LONGEST = 20  # tokens, the slots of a row


def _rebuilt(chance: Chance, number: int) -> Drawn:
    log = EventLog()
    manager = RecordedBlockManager(num_blocks=12, block_size=2, log=log)
    for name in ("A", "B"):
        manager.admit(name, 2 + chance.below(3))
    for _ in range(2 + chance.below(2)):
        for name in ("A", "B"):
            manager.append(name)
    if number:
        leaver = "AB"[chance.below(2)]
        manager.free(leaver)
        if number % 2:
            manager.admit(leaver, 2 + chance.below(4))
    right = {str(name): list(manager.table(name).blocks) for name in manager.sequences}
    left = {event["seq"] for event in log.events if event["kind"] == "free"}
    given: dict[str, list[int]] = {}
    for event in log.events:
        if event["kind"] == "allocate":
            given.setdefault(event["seq"], []).append(event["block"])
    mistakes = {
        "A block that is let go leaves its table.": given,
        "A table is in the order of its entries, the first tokens first.": {
            name: blocks[::-1] for name, blocks in right.items()
        },
        "A text that comes back begins a new table, with its first entry.": {
            name: blocks for name, blocks in right.items() if name not in left
        },
    }
    return Drawn({"events": log.events}, right, mistakes, f"When {', '.join(filter(None, map(_told, log.events)))}: it")


def _told(event: dict) -> str:
    verb = {"allocate": "is given", "free": "lets go of"}.get(event["kind"])
    return f"{event['seq']} {verb} {event['block']}" if verb else ""


def _num_rounds(chance: Chance, number: int) -> Case:
    rows = 5 + chance.below(4)
    stays = [3 + chance.below(LONGEST - 4) for _ in range(rows + 1 + chance.below(12))]
    if number == 0:  # nobody waits, and the last to come is the last to leave
        stays = [*stays[: rows - 1], LONGEST]
    mistakes = {
        "A sequence without a row waits.": max(place // ARRIVALS_A_ROUND + stay for place, stay in enumerate(stays)),
        "Rows stand empty at the end, and before all have come: follow each sequence.": ceil(sum(stays) / rows),
        "They do not come all at once, but four before each round.": _rounds(stays, rows, len(stays)),
        "A row is free for the round after its sequence's last, not for that one.": (
            _rounds([stay - 1 for stay in stays], rows) + 1
        ),
        "That is the longest stay alone.": max(stays),
    }
    return Case({"stays": stays, "num_rows": rows}, _rounds(stays, rows), mistakes)


def _rounds(stays: list[int], num_rows: int, arrivals: int = ARRIVALS_A_ROUND) -> int:
    """Rounds until all have left the rows of the bench, when so many come before each round."""
    memory, rounds = LabRows(num_rows * LONGEST, LONGEST, EventLog()), 0
    to_come = list(enumerate(stays))
    while to_come or memory.is_busy():
        for name, stay in to_come[:arrivals]:
            memory.add(str(name), 1, stay)
        del to_come[:arrivals]
        memory.write()
        memory.end()
        rounds += 1
    return rounds


REBUILT = lists(
    "the log alone says which block each entry names",
    _rebuilt,
    "a dict of lists of blocks",
    lambda tables: tuple((name, blocks) for name, blocks in tables if blocks),
)
NUM_ROUNDS = sums("rounds until the last sequence has left its row", _num_rounds)
