"""The state of contiguous memory that an event log describes: which sequence has which slots."""

from itertools import pairwise

from kvlib.events import EventLog


class Chunk:
    """`slots` slots from slot `start` on: `wanted` were asked for, the first `stored` hold tokens."""

    __slots__ = ("slots", "start", "stored", "wanted")

    def __init__(self, start: int, slots: int, wanted: int) -> None:
        self.start = start
        self.slots = slots
        self.wanted = wanted
        self.stored = 0

    def __repr__(self) -> str:
        stop = self.start + self.slots
        return f"slots {self.start} to {stop - 1}, {self.wanted} of them asked for, {self.stored} with tokens"


class Chunks(dict[str, Chunk]):
    """The chunk of each sequence. `gaps` are the free [start, size] that the first in the queue found too small,
    none if nobody was refused since the memory changed.

    Each method lets one event happen, or returns why it cannot.
    """

    def __init__(self, log: EventLog) -> None:
        super().__init__()
        self.num_slots = log.num_slots
        self.gaps: list[list[int]] = []

    @property
    def num_held(self) -> int:
        """Slots in all chunks, rounding included."""
        return sum(chunk.slots for chunk in self.values())

    def reserve(self, seq: str, start: int, slots: int, wanted: int) -> str | None:
        """`seq` gets a chunk."""
        if seq in self:
            return f"{seq} holds {self[seq]}"
        if not 1 <= wanted <= slots or not self._are_free(start, slots):
            return f"a chunk is for 1 slot or more, all of them free; {self._said()}"
        self[seq] = Chunk(start, slots, wanted)
        self.gaps = []
        return None

    def write(self, seq: str, start: int, stop: int) -> str | None:
        """`seq` stores tokens `start` to `stop` - 1."""
        chunk = self.get(seq)
        if chunk is None or start != chunk.stored or not start <= stop <= chunk.wanted:
            return f"{seq} holds {chunk}"
        chunk.stored = stop
        return None

    def refuse(self, seq: str, slots: int, gaps: list) -> str | None:
        """`seq` finds no chunk of `slots` slots."""
        if seq in self:
            return f"{seq} holds {self[seq]}"
        pairs = all(isinstance(gap, list) and [type(number) for number in gap] == [int, int] for gap in gaps)
        if not pairs or not all(size < slots and self._are_free(start, size) for start, size in gaps):
            return f"each gap is [start, size] of free slots, fewer than {slots}; {self._said()}"
        placed = sorted(gaps)
        apart = all(start + size <= following for (start, size), (following, _) in pairwise(placed))
        if not apart or sum(size for _, size in gaps) != self.num_slots - self.num_held:
            return f"the gaps are all free slots, each once; {self._said()}"
        self.gaps = gaps
        return None

    def release(self, seq: str) -> str | None:
        """`seq` gives its chunk back."""
        if seq not in self:
            return f"{seq} holds no chunk"
        del self[seq]
        self.gaps = []
        return None

    def _are_free(self, start: int, size: int) -> bool:
        others = self.values()
        is_inside = 0 <= start < start + size <= self.num_slots
        return is_inside and all(start + size <= it.start or it.start + it.slots <= start for it in others)

    def _said(self) -> str:
        held = "; ".join(f"{seq} holds {chunk}" for seq, chunk in self.items())
        return f"of {self.num_slots} slots {held or 'all are free'}"
