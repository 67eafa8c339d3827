"""Contiguous memory for the simulator: a reservation for each request's whole life, as Orca's."""

from kvlib.memory.allocator import Allocator
from kvlib.memory.buddy import BuddyAllocator
from kvlib.memory.contiguous import ContiguousManager, Policy
from kvlib.serving.batch import SimulatedRequest


class Reservations:
    """`num_slots` slots, of which each request is given at once what `policy` reserves, in one chunk of
    `allocator`. A request that runs is never short of memory. Raises BadConfig for a setting out of range.
    """

    def __init__(self, num_slots: int, policy: Policy, allocator: type[Allocator] = BuddyAllocator) -> None:
        self.num_slots = num_slots
        self.num_held = 0  # slots reserved; what rounding adds is lost outside of them
        self.num_unused = 0  # of these, slots that their requests will never fill
        self.manager = ContiguousManager(num_slots, policy, allocator)
        self._refused: SimulatedRequest | None = None  # found no chunk, and none has been freed since

    def check_fits(self, num_prompt_tokens: int, num_output_tokens: int) -> None:
        """Raise RequestTooLarge if a request is longer than the policy or the empty memory allows."""
        self.manager.check_fits(num_prompt_tokens, num_output_tokens)

    def can_admit(self, request: SimulatedRequest) -> bool:
        """Whether a chunk for the request is free."""
        if request is self._refused:
            return False
        can = self.manager.can_admit(request.num_tokens, request.num_output_tokens)
        self._refused = None if can else request
        return can

    def admit(self, request: SimulatedRequest) -> None:
        """Reserve the chunk of a request that the batch has just started."""
        self.manager.admit(request, request.num_tokens, request.num_output_tokens)
        self._count(request, 1)

    def is_short(self, iteration: int) -> bool:
        """Whether a running request cannot go on: never."""
        return False

    def grow(self, iteration: int) -> None:
        """Each running request stores one more token, in its own chunk."""
        self.manager.tick()

    def free(self, request: SimulatedRequest, num_stored: int) -> None:
        """Take back the chunk of a request that ends."""
        self.manager.free(request)
        self._refused = None
        self._count(request, -1)

    def _count(self, request: SimulatedRequest, sign: int) -> None:
        slots = self.manager.policy.reserve(request.num_tokens, request.num_output_tokens)
        self.num_held += sign * slots
        self.num_unused += sign * (slots - request.num_tokens - request.num_output_tokens)
