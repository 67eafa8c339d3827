"""First fit: chunks of exactly the size asked for."""

from kvlib.checks import whole
from kvlib.errors import BadInput
from kvlib.memory.allocator import Allocator


class FirstFitAllocator(Allocator):
    """Chunks are exactly as large as asked for, in the lowest gap that is large enough; neighbouring gaps become one.

    Nothing is lost to rounding, so beside the buddy allocator it shows how much of the waste is rounding. The paper's
    baselines do not use it.
    """

    def __init__(self, num_slots: int) -> None:
        super().__init__(num_slots)
        self.largest_chunk = num_slots
        self._size_at = {0: num_slots}  # first slot of a gap -> its slots
        self._start_before = {num_slots: 0}  # slot behind a gap -> its first slot

    def chunk_size(self, size: int) -> int:
        """`size` itself."""
        return whole("size", size, 1, BadInput)

    @property
    def free_chunks(self) -> list[tuple[int, int]]:
        """(start, slots) of every gap, from the lowest address on."""
        return sorted(self._size_at.items())

    def _gaps(self) -> list[tuple[int, int]]:
        return [(size, 1) for size in self._size_at.values()]

    def _take(self, slots: int) -> int | None:
        start = min((start for start, size in self._size_at.items() if size >= slots), default=None)
        if start is not None:
            size = self._remove(start)
            if size > slots:
                self._add(start + slots, size - slots)
        return start

    def _give_back(self, start: int, slots: int) -> None:
        if start + slots in self._size_at:
            slots += self._remove(start + slots)
        if start in self._start_before:
            start = self._start_before[start]
            slots += self._remove(start)
        self._add(start, slots)

    def _add(self, start: int, slots: int) -> None:
        self._size_at[start] = slots
        self._start_before[start + slots] = start

    def _remove(self, start: int) -> int:
        slots = self._size_at.pop(start)
        del self._start_before[start + slots]
        return slots
