"""The machine: the interactive picture of an event log, in a notebook, in a page and in a file of its own."""

import json

import traitlets

from kvlib.checks import whole
from kvlib.errors import BadEvents, BadInput
from kvlib.events import EventLog
from kvlib.show.board import Board
from kvlib.show.widget import Widget


class Machine(Widget):
    """The memory that `log` tells of, event by event: boards, block tables, texts and counters, to be played.

    `position` is the number of events that have happened, 0 to all, which None stands for. A `row` says how many slots
    of contiguous memory are drawn side by side, 0 for as many as fit. `label` says in a few words what is shown.
    In a notebook `position`, `playing` and `speed` (a factor, 1 at first) are traits: set and observe them.

    Raises BadInput for a position that the log does not have.
    """

    name = "machine"

    data = traitlets.Dict().tag(sync=True)
    position = traitlets.Int().tag(sync=True)
    playing = traitlets.Bool(False).tag(sync=True)
    speed = traitlets.Float(1.0).tag(sync=True)
    row = traitlets.Int(0).tag(sync=True)
    label = traitlets.Unicode().tag(sync=True)

    def __init__(self, log: EventLog, *, position: int | None = 0, row: int = 0, label: str = "The machine") -> None:
        if not isinstance(log, EventLog):
            raise BadInput(f"log is {log!r:.80}; give the EventLog that a run was recorded in")
        last = len(log)
        at = last if position is None else whole("position", position, 0, BadInput)
        if at > last:
            raise BadInput(f"position is {at}; the log has {last} events, so give at most that, or None for its end")
        self.recorded = log
        super().__init__(
            data=json.loads(log.to_json()), position=at, row=whole("row", row, 0, BadInput), label=str(label)
        )

    def update(self) -> None:
        """Show what has been added to the log since."""
        self.data = json.loads(self.recorded.to_json())

    @property
    def title(self) -> str:
        """The label, for the head of a page."""
        return self.label or type(self).__name__

    def in_words(self) -> str:
        """What stands in the memory at `position`."""
        board, stopped = Board(self.recorded), ""
        try:
            for number, event in enumerate(self.recorded.events[: self.position]):
                board.apply(event, number)
        except BadEvents as error:
            stopped = f" It stops there: {error}."
        if self.recorded.num_slots:
            memory = f"{self.recorded.num_slots} slots"
            held = [f"{seq} has {chunk}" for seq, chunk in board.chunks.items()]
        else:
            memory = f"{self.recorded.num_blocks} blocks of {self.recorded.block_size} slots"
            held = [
                f"{seq} has {table.num_tokens} tokens in blocks {', '.join(map(str, table.blocks))}"
                for seq, table in board.tables.items()
            ]
        return (
            f"{self.title}. A memory of {memory}, after {self.position} of {len(self.recorded)} events: "
            f"{'; '.join(held) or 'all of it is free'}.{stopped}"
        )
