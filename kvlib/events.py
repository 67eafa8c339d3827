"""The event log: everything that happens to the memory, in order, in one JSON form.

Figures, the machine in the page and the tests read this log and nothing else.
"""

import json

from kvlib.checks import whole
from kvlib.errors import BadEvents

VERSION = 2

# What each kind of event carries. `seq` is a sequence's id, `index` the number of a logical block, `count` the
# reference count after the event.
KINDS: dict[str, dict[str, type]] = {
    "arrive": {"seq": str},  # a request has come and waits
    "allocate": {"seq": str, "index": int, "block": int},  # a table entry gets a block of its own
    "share": {
        "seq": str,
        "index": int,
        "block": int,
        "count": int,
        "filled": int,
    },  # an entry names a filled block
    "copy": {"seq": str, "index": int, "source": int, "target": int},  # copy-on-write
    "write": {"seq": str, "start": int, "stop": int},  # positions start to stop - 1 get their keys and values
    "free": {"seq": str, "block": int, "count": int},  # a table entry lets its block go
    "evict": {"block": int},  # a cached block loses its contents because it is handed out
    # a sequence's whole table moves "out" to the host or back "in", entry by entry; or is "dropped" there, from nowhere
    "swap": {"seq": str, "how": str, "blocks": list, "host_blocks": list},
    # contiguous memory: a chunk of `slots` slots from slot `start` on, `wanted` asked for, the rest is rounding
    "reserve": {"seq": str, "start": int, "slots": int, "wanted": int},
    "release": {"seq": str},  # the whole chunk goes back
    # the first in the queue wants a chunk of `slots`, no gap is as large: [start, size] of all gaps there are, which
    # are of no use until the next reserve or release
    "refuse": {"seq": str, "slots": int, "gaps": list},
    "preempt": {"seq": str, "how": str},  # the scheduler takes a running sequence's memory away
    "finish": {"seq": str, "reason": str},  # the sequence has ended
}


class EventLog:
    """Events in the order they happened, each a dict with `step`, `kind` and the fields of its kind.

    `num_blocks` (without the null block) and `block_size` (tokens) are those of the memory; a contiguous one, without
    blocks, has `num_slots` instead. `texts[seq]` holds one piece of text for each position of a sequence, as far as it
    is known.
    """

    def __init__(self) -> None:
        self.num_blocks = 0
        self.block_size = 0
        self.num_slots = 0
        self.step = 0
        self.texts: dict[str, list[str]] = {}
        self.events: list[dict] = []

    def open(self, num_blocks: int, block_size: int) -> None:
        """Say which memory this log is of. Raises BadEvents if it is another's already."""
        self._check_unopened()
        self.num_blocks = whole("num_blocks", num_blocks, 0, BadEvents)
        self.block_size = whole("block_size", block_size, 0, BadEvents)

    def open_slots(self, num_slots: int) -> None:
        """Say that the log is of a contiguous memory. Raises BadEvents if it is another's already."""
        self._check_unopened()
        self.num_slots = whole("num_slots", num_slots, 1, BadEvents)

    def _check_unopened(self) -> None:
        if self.num_blocks or self.num_slots:
            size = f"{self.num_slots} slots" if self.num_slots else f"{self.num_blocks} blocks"
            raise BadEvents(f"the log is of another memory, of {size}, already; give a new EventLog()")

    def add(self, kind: str, **fields: object) -> None:
        """Append one event of the current step. Raises BadEvents if `fields` are not those of KINDS[kind]."""
        if kind not in KINDS or sorted(fields) != sorted(KINDS[kind]):
            raise BadEvents(f"an event {kind!r} with {sorted(fields)} was added; KINDS says what there is: {KINDS}")
        event: dict[str, object] = {"step": self.step, "kind": kind}
        event.update(fields)
        check_event(event, "the event")
        self.events.append(event)

    def say(self, seq: str, pieces: list[str]) -> None:
        """Add the text of the next tokens of `seq`, one piece a token."""
        self.texts.setdefault(seq, []).extend(pieces)

    def next_step(self) -> None:
        """One more iteration of the scheduler begins."""
        self.step += 1

    def to_json(self) -> str:
        """The whole log as one JSON object; `from_json` gives an equal log back."""
        data = {
            "version": VERSION,
            "num_blocks": self.num_blocks,
            "block_size": self.block_size,
            "num_slots": self.num_slots,
            "step": self.step,
            "texts": self.texts,
            "events": self.events,
        }
        return json.dumps(data)

    @classmethod
    def from_json(cls, text: str) -> "EventLog":
        """Read a log. Raises BadEvents, naming the event, if it is cut short, of another version or malformed."""
        try:
            data = json.loads(text)
        except (ValueError, TypeError, RecursionError) as error:
            raise BadEvents(f"the log is not whole JSON ({error}); it may be cut short: write it again") from None
        version = data.get("version") if isinstance(data, dict) else None
        if type(version) is not int or version != VERSION:
            raise BadEvents(f"the log has version {version!r}, this kvlib reads version {VERSION}; record it again")
        log = cls()
        log.open(_field(data, "num_blocks", int, "the log"), _field(data, "block_size", int, "the log"))
        if _field(data, "num_slots", int, "the log"):
            log.open_slots(data["num_slots"])
        log.step = _field(data, "step", int, "the log")
        texts = _field(data, "texts", dict, "the log")
        for seq in texts:
            log.say(seq, _field(texts, seq, list, "texts"))
        for number, event in enumerate(_field(data, "events", list, "the log")):
            check_event(event, f"event {number}")
            log.events.append(event)
        return log

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EventLog) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]  # a log grows

    def __len__(self) -> int:
        return len(self.events)


def check_event(event: object, name: str) -> None:
    """Raise BadEvents, calling the event `name`, unless it is a dict with the fields of its kind."""
    kind = event.get("kind") if isinstance(event, dict) else None
    if not isinstance(event, dict) or not isinstance(kind, str) or kind not in KINDS:
        raise BadEvents(f"{name} is {event!r}; an event is an object whose kind is one of {sorted(KINDS)}")
    _field(event, "step", int, name)
    for field, type_ in KINDS[kind].items():
        _field(event, field, type_, f"{name} ({kind})")


def _field(data: dict, field: str, kind: type, name: str):  # type: ignore[no-untyped-def]
    value = data.get(field)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise BadEvents(f"{name} has {field} = {value!r}; expected a value of type {kind.__name__}")
    return value
