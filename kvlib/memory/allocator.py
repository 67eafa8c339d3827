"""What every allocator of contiguous memory does: hand out chunks, take them back, refuse what cannot be.

A slot holds the key and value of one token. A chunk is a range of slots that lie side by side.
"""

from kvlib.checks import whole
from kvlib.errors import BadInput, DoubleFree, OutOfBlocks, RequestTooLarge


class Allocator:
    """What the allocators below have in common: who asks, what is refused, how much is left.

    `num_slots` slots, 1 or more, numbered from 0. `num_free` of them are in no chunk now. No request may want a
    chunk of more than `largest_chunk` slots. A call that raises has changed nothing.
    """

    largest_chunk: int

    def __init__(self, num_slots: int) -> None:
        self.num_slots = whole("num_slots", num_slots)
        self.num_free = num_slots
        self._chunks: dict[int, int] = {}  # start -> slots

    @property
    def largest_free(self) -> int:
        """The size of the largest chunk that could be taken now, in slots; 0 if there is none."""
        return max((size for size, _ in self._gaps()), default=0)

    @property
    def free_chunks(self) -> list[tuple[int, int]]:
        """(start, slots) of the free memory, from the lowest address on, as it could be handed out."""
        raise NotImplementedError

    def chunk_size(self, size: int) -> int:
        """How many slots a request for `size` slots is given."""
        raise NotImplementedError

    def can_allocate(self, size: int) -> bool:
        """Whether `allocate(size)` would succeed now."""
        return self.chunk_size(size) <= self.largest_free

    def check_fits(self, size: int) -> None:
        """Raise RequestTooLarge if a request for `size` slots cannot be met even when all slots are free."""
        if self.chunk_size(size) > self.largest_chunk:
            raise RequestTooLarge(
                f"{size} slots want a chunk of {self.chunk_size(size)}; {self.num_slots} slots have at most one of "
                f"{self.largest_chunk}; ask for fewer slots or give the memory more"
            )

    def allocate(self, size: int) -> int:
        """Take a chunk for `size` slots, 1 or more; returns its first slot.

        Raises RequestTooLarge if there can never be such a chunk, OutOfBlocks if there is none now.
        """
        self.check_fits(size)
        slots = self.chunk_size(size)
        start = self._take(slots)
        if start is None:
            raise OutOfBlocks(
                f"{size} slots want a chunk of {slots}; {self.num_free} of {self.num_slots} slots are free, at most "
                f"{self.largest_free} of them in one chunk; free a chunk first"
            )
        self._chunks[start] = slots
        self.num_free -= slots
        return start

    def free(self, start: int) -> None:
        """Give the chunk that begins at slot `start` back. Raises DoubleFree if no chunk in use begins there."""
        whole("start", start, 0, BadInput)
        if start not in self._chunks:
            raise DoubleFree(f"no chunk in use begins at slot {start}; it was freed already or never handed out")
        slots = self._chunks.pop(start)
        self.num_free += slots
        self._give_back(start, slots)

    def stranded(self, size: int) -> int:
        """Free slots in gaps too small for a request for `size` slots: external fragmentation."""
        slots = self.chunk_size(size)
        return sum(size * count for size, count in self._gaps() if size < slots)

    def _gaps(self) -> list[tuple[int, int]]:
        """(size, how many there are) of the gaps that free memory is in, each of which could be a chunk."""
        raise NotImplementedError

    def _take(self, slots: int) -> int | None:
        """The lowest start of a gap for `slots` slots, which is now taken; None if there is no such gap."""
        raise NotImplementedError

    def _give_back(self, start: int, slots: int) -> None:
        raise NotImplementedError
