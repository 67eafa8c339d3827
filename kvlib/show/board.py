"""The state that an event log describes, step by step: what the figures and the machine draw."""

from collections.abc import Iterator

from kvlib.errors import BadEvents
from kvlib.events import EventLog
from kvlib.memory import BlockTable


class Board:
    """The memory after some events of a log.

    `tables` maps a sequence to its BlockTable, `counts[block]` is the number of table entries that name a block.
    Applying an event that contradicts the state raises BadEvents: a picture of an impossible memory is never drawn.
    """

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self.tables: dict[str, BlockTable] = {}
        self.counts = [0] * (log.num_blocks + 1)

    @classmethod
    def at(cls, log: EventLog, step: int | None = None) -> "Board":
        """The board at the end of `step`; of the whole log if `step` is None."""
        board = cls(log)
        for number, event in enumerate(log.events):
            if step is not None and event["step"] > step:
                break
            board.apply(event, number)
        return board

    @classmethod
    def each_step(cls, log: EventLog) -> "Iterator[tuple[int, Board]]":
        """(step, board) at the end of every step that has events. The same board is handed out, changed, each time."""
        board = cls(log)
        for number, event in enumerate(log.events):
            board.apply(event, number)
            if number + 1 == len(log.events) or log.events[number + 1]["step"] != event["step"]:
                yield event["step"], board

    def owners(self, block: int) -> list[str]:
        """The sequences whose tables name `block`."""
        return [seq for seq, table in self.tables.items() if block in table.blocks]

    def filled(self, block: int) -> int:
        """How many slots of `block` hold tokens of a sequence, 0 for a block that nobody names."""
        return max(
            (filled for table in self.tables.values() for b, filled in table.entries() if b == block),
            default=0,
        )

    def text(self, seq: str) -> list[str]:
        """The text pieces of the tokens that `seq` has stored, in order."""
        return self.log.texts.get(seq, [])[: self.tables[seq].num_tokens]

    def apply(self, event: dict, number: int) -> None:
        """Let one event happen. `number` is its place in the log, for the message when it cannot."""
        problem = self._change(event)
        if problem:
            raise BadEvents(f"event {number} of the log, {event}, cannot happen: {problem}")

    def _change(self, event: dict) -> str | None:
        match event:
            case {"kind": "allocate", "block": block} if self._count(block):
                return f"block {block} belongs to {self.owners(block)}"
            case {"kind": "allocate", "seq": seq, "index": index, "block": block}:
                return self._enter(seq, index, block)
            case {"kind": "share", "seq": seq, "index": index, "block": block, "filled": filled}:
                problem = self._enter(seq, index, block)
                if not problem:
                    self.tables[seq].num_tokens += filled
                return problem
            case {"kind": "copy", "seq": seq, "index": index, "source": source, "target": target}:
                return self._copy(seq, index, source, target)
            case {"kind": "write", "seq": seq, "start": start, "stop": stop}:
                return self._write(seq, start, stop)
            case {"kind": "free", "seq": seq, "block": block}:
                return self._free(seq, block)
        return None  # evict, preempt and finish change no table: the memory has gone, or goes, by free events

    def _count(self, block: int) -> int:
        return self.counts[block] if 1 <= block <= self.log.num_blocks else 0

    def _enter(self, seq: str, index: int, block: int) -> str | None:
        if not 1 <= block <= self.log.num_blocks:
            return f"the memory has blocks 1 to {self.log.num_blocks}"
        table = self.tables.setdefault(seq, BlockTable(self.log.block_size, [], 0))
        if index != len(table.blocks):
            return f"the next entry of the table of {seq} has index {len(table.blocks)}"
        table.blocks.append(block)
        self.counts[block] += 1
        return None

    def _copy(self, seq: str, index: int, source: int, target: int) -> str | None:
        blocks = self.tables[seq].blocks if seq in self.tables else []
        if index >= len(blocks) or blocks[index] != source:
            return f"entry {index} of the table of {seq} does not name block {source}: {blocks}"
        if self._count(source) < 2 or self._count(target) or not 1 <= target <= self.log.num_blocks:
            owners = (self.owners(source), self.owners(target))
            return f"a copy goes from a block with two owners or more to a free one, their owners are {owners}"
        blocks[index] = target
        self.counts[source] -= 1
        self.counts[target] += 1
        return None

    def _write(self, seq: str, start: int, stop: int) -> str | None:
        table = self.tables.get(seq)
        if table is None or start != table.num_tokens or not start <= stop <= start + table.room:
            return f"{seq} has the table {table}"
        if any(self.counts[block] > 1 for block in table.blocks[start // table.block_size :]):
            return f"a block written to has another owner: {table}"
        table.num_tokens = stop
        return None

    def _free(self, seq: str, block: int) -> str | None:
        blocks = self.tables[seq].blocks if seq in self.tables else []
        if not blocks or blocks[-1] != block:
            return f"the last block of {seq} is freed first, and its table names {blocks}"
        self.counts[block] -= 1
        table = self.tables[seq]
        table.num_tokens -= table.entries()[-1][1]
        blocks.pop()
        if not blocks:
            del self.tables[seq]
        return None
