"""A contiguous manager that writes everything it does to an event log."""

from kvlib.errors import BadInput
from kvlib.events import EventLog
from kvlib.memory.allocator import Allocator
from kvlib.memory.buddy import BuddyAllocator
from kvlib.memory.contiguous import ContiguousManager
from kvlib.memory.reservation import Policy


class RecordedContiguousManager(ContiguousManager):
    """Behaves as ContiguousManager does; `log` receives reserve, write and release events. Ids must be texts."""

    def __init__(
        self, num_slots: int, policy: Policy, log: EventLog, allocator: type[Allocator] = BuddyAllocator
    ) -> None:
        super().__init__(num_slots, policy, allocator)
        log.open_slots(num_slots)
        self.log = log

    def admit(self, seq_id: object, num_prompt_tokens: int, num_output_tokens: int) -> None:
        """As ContiguousManager.admit; logs the chunk and the prompt written into it."""
        if not isinstance(seq_id, str):
            raise BadInput(f"the id {seq_id!r:.80} is no text; a log names sequences by texts")
        super().admit(seq_id, num_prompt_tokens, num_output_tokens)
        start, slots = self.chunk(seq_id)
        wanted = self.policy.reserve(num_prompt_tokens, num_output_tokens)
        self.log.add("reserve", seq=seq_id, start=start, slots=slots, wanted=wanted)
        self.log.add("write", seq=seq_id, start=0, stop=num_prompt_tokens)

    def refuse(self, seq_id: str, num_prompt_tokens: int, num_output_tokens: int) -> None:
        """Log that `seq_id`, the first in the queue, finds no chunk now. Raises BadInput if it would find one."""
        if self.can_admit(num_prompt_tokens, num_output_tokens):
            raise BadInput(f"sequence {seq_id!r} fits now; admit it instead")
        slots = self.allocator.chunk_size(self.policy.reserve(num_prompt_tokens, num_output_tokens))
        gaps = [list(gap) for gap in self.allocator.free_chunks]
        self.log.add("refuse", seq=seq_id, slots=slots, gaps=gaps)

    def write(self, seq_id: object, num_tokens: int = 1) -> None:
        """As ContiguousManager.write; logs what is written."""
        super().write(seq_id, num_tokens)
        self._log_write(seq_id, num_tokens)

    def tick(self) -> None:
        """As ContiguousManager.tick; logs the token of each sequence."""
        super().tick()
        for seq_id in self.sequences:
            self._log_write(seq_id, 1)

    def free(self, seq_id: object) -> None:
        """As ContiguousManager.free; logs that the chunk goes back."""
        super().free(seq_id)
        self.log.add("release", seq=seq_id)

    def _log_write(self, seq_id: object, num_tokens: int) -> None:
        stop = self.split_of(seq_id).stored
        self.log.add("write", seq=seq_id, start=stop - num_tokens, stop=stop)
