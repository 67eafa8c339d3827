"""The state that an event log describes, step by step: what the figures and the machine draw."""

from collections.abc import Iterator

from kvlib.errors import BadEvents, BadInput
from kvlib.events import EventLog, check_event
from kvlib.memory import NULL_BLOCK, BlockTable
from kvlib.show.chunks import Chunks


class Board:
    """The memory after some events of a log.

    `tables` maps a sequence to its BlockTable, `counts[block]` is the number of table entries that name a block,
    `stored[block]` the number of tokens in it, whether it is still named or not. `swapped` has the tables of the
    sequences that wait on the host, in its blocks. In contiguous memory `chunks` has the chunk of each sequence.
    `waiting` are the requests that have come, or lost their memory, and hold none. `numbers` counts the sequences in
    the order in which they entered the memory, from 0.
    Applying an event that contradicts the state raises BadEvents: a picture of an impossible memory is never drawn.
    """

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self.tables: dict[str, BlockTable] = {}
        self.counts = [0] * (log.num_blocks + 1)
        self.stored: dict[int, int] = {}
        self.swapped: dict[str, BlockTable] = {}
        self._returned: dict[int, int] = {}  # block -> the host block it came back from in this step
        self.chunks = Chunks(log)
        self.waiting: list[str] = []
        self.num_preemptions = 0
        self.numbers: dict[str, int] = {}
        self.step = 0

    @classmethod
    def at(cls, log: EventLog, step: int | None = None) -> "Board":
        """The board at the end of `step`; of the whole log if it is None. BadInput for a step not in the log."""
        if step is not None and not 0 <= step <= log.step:
            raise BadInput(f"step is {step!r}; the log has steps 0 to {log.step}")
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
        return self.stored.get(block, 0) if self.counts[block] else 0

    def text(self, seq: str) -> list[str]:
        """The text pieces of the tokens that `seq` has stored, in order."""
        return self.log.texts.get(seq, [])[: self.tables[seq].num_tokens]

    def apply(self, event: dict, number: int) -> None:
        """Let one event happen. `number` is its place in the log, for the message when it cannot; then nothing has."""
        check_event(event, f"event {number}")
        if event["step"] > self.step:
            self._returned.clear()
        problem = f"step {self.step} has begun" if event["step"] < self.step else self._change(event)
        if problem:
            raise BadEvents(f"event {number} of the log, {event}, cannot happen: {problem}")
        self.step = event["step"]
        if "seq" in event:
            self._queue(event["kind"], event["seq"], event.get("how"))

    def _queue(self, kind: str, seq: str, how: str | None) -> None:
        """Who waits and who entered, after an event of `seq` has happened."""
        if kind == "arrive":
            self.waiting.append(seq)
        elif kind == "preempt":
            self.num_preemptions += 1
            if how == "recompute":
                self.waiting.insert(0, seq)
        elif seq in self.waiting and kind != "refuse":
            self.waiting.remove(seq)
        if kind not in ("arrive", "refuse"):
            self.numbers.setdefault(seq, len(self.numbers))

    def _change(self, event: dict) -> str | None:
        match event:
            case {"kind": "arrive", "seq": seq}:
                return f"{seq} has come before" if seq in self.numbers or seq in self.waiting else None
            case {"kind": "reserve", "seq": seq, "start": start, "slots": slots, "wanted": wanted}:
                return self.chunks.reserve(seq, start, slots, wanted)
            case {"kind": "refuse", "seq": seq, "slots": slots, "gaps": gaps}:
                return self.chunks.refuse(seq, slots, gaps)
            case {"kind": "release", "seq": seq}:
                return self.chunks.release(seq)
            case {"kind": "write", "seq": seq, "start": start, "stop": stop} if self.log.num_slots:
                return self.chunks.write(seq, start, stop)
            case {"kind": "allocate", "seq": seq, "index": index, "block": block}:
                if not self._is_free(block):
                    return f"block {block} is not one of {self.log.num_blocks}, or belongs to {self.owners(block)}"
                return self._enter(seq, index, block, filled=0)
            case {"kind": "share", "seq": seq, "index": index, "block": block, "filled": filled, "count": count}:
                return self._share(seq, index, block, filled, count)
            case {"kind": "copy", "seq": seq, "index": index, "source": source, "target": target}:
                return self._copy(seq, index, source, target)
            case {"kind": "write", "seq": seq, "start": start, "stop": stop}:
                return self._write(seq, start, stop)
            case {"kind": "free", "seq": seq, "block": block, "count": count}:
                return self._free(seq, block, count)
            case {"kind": "evict", "block": block}:
                return self._evict(block)
            case {"kind": "swap", "how": "out", "seq": seq, "blocks": blocks, "host_blocks": host_blocks}:
                return self._swap_out(seq, blocks, host_blocks)
            case {"kind": "swap", "how": "in", "seq": seq, "blocks": blocks, "host_blocks": host_blocks}:
                return self._swap_in(seq, blocks, host_blocks)
            case {"kind": "swap", "how": "dropped", "seq": seq, "host_blocks": host_blocks}:
                return self._drop_swapped(seq, host_blocks)
            case {"kind": "swap", "how": how}:
                return f"a swap goes 'out' or 'in', or what is out is 'dropped'; not {how!r}"
            case {"seq": seq} if seq in self.tables or seq in self.chunks:  # preempt, finish
                return f"{seq} still holds {self.tables.get(seq) or self.chunks[seq]}"
            case {"kind": "finish", "seq": seq} if seq in self.swapped:
                return f"{seq} still holds {self.swapped[seq]} on the host"
        return None

    def _is_free(self, block: int) -> bool:
        return NULL_BLOCK < block <= self.log.num_blocks and self.counts[block] == 0

    def _enter(self, seq: str, index: int, block: int, filled: int) -> str | None:
        table = self.tables.get(seq) or BlockTable(self.log.block_size, [], 0)
        if index != len(table.blocks):
            return f"the next entry of the table of {seq} has index {len(table.blocks)}"
        table.blocks.append(block)
        table.num_tokens += filled
        self.tables[seq] = table
        self.counts[block] += 1
        self.stored[block] = filled
        return None

    def _share(self, seq: str, index: int, block: int, filled: int, count: int) -> str | None:
        table = self.tables.get(seq)
        if self.stored.get(block) != filled or self.counts[block] + 1 != count:
            return f"block {block} stores {self.stored.get(block, 0)} tokens and has the owners {self.owners(block)}"
        if table and (table.room or block in table.blocks):
            return f"{seq} has the table {table}, to which this block cannot be added"
        return self._enter(seq, index, block, filled)

    def _copy(self, seq: str, index: int, source: int, target: int) -> str | None:
        blocks = self.tables[seq].blocks if seq in self.tables else []
        if not 0 <= index < len(blocks) or blocks[index] != source:
            return f"entry {index} of the table of {seq} does not name block {source}: {blocks}"
        if self.counts[source] < 2 or not self._is_free(target):
            owners = (self.owners(source), self.owners(target))
            return f"a copy goes from a block with two owners or more to a free one, their owners are {owners}"
        blocks[index] = target
        self.counts[source] -= 1
        self.counts[target] += 1
        self.stored[target] = self.stored[source]
        return None

    def _write(self, seq: str, start: int, stop: int) -> str | None:
        table = self.tables.get(seq)
        if table is None or start != table.num_tokens or not start <= stop <= start + table.room:
            return f"{seq} has the table {table}"
        first = start // table.block_size
        if any(self.counts[block] > 1 for block in table.blocks[first:]):
            return f"a block written to has another owner: {table}"
        table.num_tokens = stop
        self.stored.update(table.entries()[first:])
        return None

    def _free(self, seq: str, block: int, count: int) -> str | None:
        blocks = self.tables[seq].blocks if seq in self.tables else []
        if not blocks or blocks[-1] != block or self.counts[block] - 1 != count:
            return f"the last block of {seq} is freed first: {blocks}, with the owners {self.owners(block)}"
        table = self.tables[seq]
        table.num_tokens -= table.entries()[-1][1]
        blocks.pop()
        self.counts[block] -= 1
        if not blocks:
            del self.tables[seq]
        return None

    def _evict(self, block: int) -> str | None:
        if not self._is_free(block) or not self.stored.get(block):
            return f"block {block} holds nothing that could be lost, or belongs to {self.owners(block)}"
        del self.stored[block]
        return None

    def _swap_out(self, seq: str, blocks: list, host_blocks: list) -> str | None:
        table = self.tables.get(seq) or BlockTable(self.log.block_size, [], 0)
        if seq in self.swapped or table.blocks != blocks or not _are_blocks(host_blocks, len(blocks)):
            return f"{seq} has the table {table}, and each of its blocks goes to one block of the host"
        for block in blocks:
            self.counts[block] -= 1
        self.swapped[seq] = BlockTable(self.log.block_size, list(host_blocks), table.num_tokens)
        self.tables.pop(seq, None)
        return None

    def _swap_in(self, seq: str, blocks: list, host_blocks: list) -> str | None:
        table = self.swapped.get(seq)
        if table is None or table.blocks != host_blocks or not _are_blocks(blocks, len(host_blocks)):
            return f"{seq} has the table {table} on the host, and each of its blocks comes back to one block"
        for block, host_block in zip(blocks, host_blocks):
            if block not in range(1, self.log.num_blocks + 1):
                return f"block {block!r} is not one of {self.log.num_blocks}"
            if self.counts[block] and self._returned.get(block) != host_block:
                return f"block {block} belongs to {self.owners(block)}"
        for block, host_block, (_, filled) in zip(blocks, host_blocks, table.entries()):
            self.counts[block] += 1
            self.stored[block] = filled
            self._returned[block] = host_block
        self.tables[seq] = BlockTable(self.log.block_size, list(blocks), table.num_tokens)
        del self.swapped[seq]
        return None

    def _drop_swapped(self, seq: str, host_blocks: list) -> str | None:
        if seq not in self.swapped or self.swapped[seq].blocks != host_blocks:
            return f"{seq} has the table {self.swapped.get(seq)} on the host"
        del self.swapped[seq]
        return None


def _are_blocks(blocks: list, count: int) -> bool:
    """Whether a list names `count` different blocks, as every table does."""
    return (
        len(blocks) == count and all(type(block) is int and block > 0 for block in blocks) and len(set(blocks)) == count
    )
