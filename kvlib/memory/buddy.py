"""The binary buddy allocator: chunks of powers of two that halve and join again."""

from kvlib.checks import whole
from kvlib.errors import BadInput
from kvlib.memory.allocator import Allocator


def next_power_of_two(number: int) -> int:
    """The smallest power of two that is at least `number`: 32 for 25."""
    power = 1
    while power < number:
        power *= 2
    return power


class BuddyAllocator(Allocator):
    """Chunks are powers of two; a chunk of n slots begins at a multiple of n.

    A free chunk is halved until it is as small as the request allows; its halves are buddies, and become one chunk
    again as soon as both are free. Any number of slots will do: 15,728 of them begin as chunks of 8192, 4096, 2048,
    1024, 256, 64, 32 and 16. Among the smallest chunks that are large enough the one with the lowest address is taken.

    Knuth, The Art of Computer Programming 1, section 2.5. The PagedAttention paper gives it to its Orca baselines
    (Kwon et al., SOSP 2023, section 6.1).
    """

    def __init__(self, num_slots: int) -> None:
        super().__init__(num_slots)
        self._starts: dict[int, set[int]] = {}  # size of a free chunk -> where such chunks begin
        size, start = next_power_of_two(num_slots), 0
        while size > 0:
            self._starts[size] = set()
            if start + size <= num_slots:
                self._starts[size].add(start)
                start += size
            size //= 2
        self.largest_chunk = self.largest_free

    def chunk_size(self, size: int) -> int:
        """The next power of two that is at least `size`."""
        return next_power_of_two(whole("size", size, 1, BadInput))

    @property
    def free_chunks(self) -> list[tuple[int, int]]:
        """(start, slots) of every free chunk, from the lowest address on."""
        return sorted((start, size) for size, starts in self._starts.items() for start in starts)

    def _gaps(self) -> list[tuple[int, int]]:
        return [(size, len(starts)) for size, starts in self._starts.items() if starts]

    def _take(self, slots: int) -> int | None:
        size = slots
        while size < self.largest_chunk and not self._starts[size]:
            size *= 2
        if not self._starts[size]:
            return None
        start = min(self._starts[size])
        self._starts[size].remove(start)
        while size > slots:
            size //= 2
            self._starts[size].add(start + size)  # the upper half stays free
        return start

    def _give_back(self, start: int, slots: int) -> None:
        while (buddy := start ^ slots) in self._starts[slots]:
            self._starts[slots].remove(buddy)
            start = min(start, buddy)
            slots *= 2
        self._starts[slots].add(start)
