"""Memory as it was handed out before paged attention: one reservation a sequence, in one contiguous chunk."""

from collections import namedtuple

from kvlib.checks import whole
from kvlib.errors import BadConfig, BadInput, RequestTooLarge, UnknownSequence
from kvlib.memory.allocator import Allocator
from kvlib.memory.buddy import BuddyAllocator
from kvlib.memory.reservation import Max, Oracle, Policy, Pow2

__all__ = ["ContiguousManager", "Max", "Oracle", "Policy", "Pow2", "Split"]


class Split(namedtuple("Split", ["stored", "reserved", "internal", "external", "free"])):
    """What slots are used for; the five add up to the slots that were asked about. The names are the paper's.

    ========  ================================================================================================
    stored    hold the key and value of a token
    reserved  will hold one before their sequence ends, and are nobody else's until then
    internal  internal fragmentation: reserved, but never written
    external  external fragmentation: lost between reservations, to rounding or as gaps too small for the next
    free      the rest
    ========  ================================================================================================

    The last token of a sequence has its slot, as in figure 3, though it is never fed back and so never stored:
    a simulation frees the sequence while that one is still to come.

    Kwon et al., SOSP 2023, section 3.1 and figures 2 and 3.
    """

    __slots__ = ()


class ContiguousManager:
    """Gives each sequence, for its whole life, the slots that `policy` reserves, in one chunk of `num_slots` slots.

    `allocator` is the class that cuts the chunks. Bookkeeping only. A call that raises has changed nothing.

    Apart from the search for a chunk, no call takes longer with more sequences. That is why `tick` only moves a
    clock: what is remembered of a sequence is the time at which it will be full, and that many ticks from now is how
    many of its tokens are still to come. A tick leaves it as it is, `write` brings it nearer.
    """

    def __init__(self, num_slots: int, policy: Policy, allocator: type[Allocator] = BuddyAllocator) -> None:
        if not isinstance(policy, Policy):
            raise BadConfig(f"policy is {policy!r}; give one, such as Max(2048)")
        self.policy = policy
        self.allocator = allocator(num_slots)
        self._sequences: dict[object, _Reservation] = {}
        self._now = 0
        self._full_at: dict[int, set[object]] = {}  # time -> the sequences that are full then
        self._stored = self._lengths = self._slots = 0  # sums over all sequences

    @property
    def sequences(self) -> list[object]:
        """The ids of the sequences that hold memory, in the order in which they were given it."""
        return list(self._sequences)

    def __contains__(self, seq_id: object) -> bool:
        """Whether `seq_id` holds memory."""
        return seq_id in self._sequences

    def check_fits(self, num_prompt_tokens: int, num_output_tokens: int) -> None:
        """Raise RequestTooLarge if such a request does not fit even into the empty memory."""
        self.allocator.check_fits(self.policy.reserve(num_prompt_tokens, num_output_tokens))

    def can_admit(self, num_prompt_tokens: int, num_output_tokens: int) -> bool:
        """Whether `admit` would succeed now."""
        try:
            return self.allocator.can_allocate(self.policy.reserve(num_prompt_tokens, num_output_tokens))
        except RequestTooLarge:
            return False

    def admit(self, seq_id: object, num_prompt_tokens: int, num_output_tokens: int) -> None:
        """Reserve a chunk for `seq_id` and store its prompt, 1 token or more.

        `num_output_tokens`, 1 or more, is how many it will write: Max does not look at it, Pow2 at its power of two.
        Raises RequestTooLarge if it can never fit, OutOfBlocks if it does not fit now.
        """
        if seq_id in self._sequences:
            raise BadInput(f"sequence {seq_id!r} already holds memory; free it first or choose another id")
        slots = self.policy.reserve(num_prompt_tokens, num_output_tokens)
        length, full_at = num_prompt_tokens + num_output_tokens, self._now + num_output_tokens
        if slots < length:
            raise BadConfig(
                f"{self.policy.name} reserves {slots} slots for {length} tokens; a policy reserves them all"
            )
        start = self.allocator.allocate(slots)
        self._sequences[seq_id] = _Reservation(start, slots, length, full_at)
        self._full_at.setdefault(full_at, set()).add(seq_id)
        self._stored += num_prompt_tokens
        self._lengths += length
        self._slots += slots

    def write(self, seq_id: object, num_tokens: int = 1) -> None:
        """Store the next `num_tokens` tokens, 1 or more, of `seq_id`. Raises BadInput beyond its last token."""
        sequence = self._get(seq_id)
        to_come = sequence.full_at - self._now
        if whole("num_tokens", num_tokens, 1, BadInput) > to_come:
            raise BadInput(
                f"sequence {seq_id!r} wants to store {num_tokens} more tokens, {to_come} of its {sequence.length} are "
                "to come; free it when it has ended"
            )
        self._forget_time(seq_id, sequence)
        sequence.full_at -= num_tokens
        self._full_at.setdefault(sequence.full_at, set()).add(seq_id)
        self._stored += num_tokens

    def tick(self) -> None:
        """Store one more token of every sequence, as one iteration does. Raises BadInput if one has ended."""
        if self._now in self._full_at:
            raise BadInput(f"sequences {list(self._full_at[self._now])[:8]} have all their tokens; free them first")
        self._now += 1
        self._stored += len(self._sequences)

    def free(self, seq_id: object) -> None:
        """Take the whole chunk of `seq_id` back."""
        sequence = self._get(seq_id)
        self._forget_time(seq_id, sequence)
        del self._sequences[seq_id]
        self.allocator.free(sequence.start)
        self._stored -= sequence.length - (sequence.full_at - self._now)
        self._lengths -= sequence.length
        self._slots -= sequence.slots

    def chunk(self, seq_id: object) -> tuple[int, int]:
        """(first slot, number of slots) of the chunk that `seq_id` holds, with what rounding added."""
        sequence = self._get(seq_id)
        return sequence.start, self.allocator.chunk_size(sequence.slots)

    def split_of(self, seq_id: object) -> Split:
        """What the chunk of `seq_id` is used for now."""
        sequence = self._get(seq_id)
        to_come = sequence.full_at - self._now
        rounding = self.allocator.chunk_size(sequence.slots) - sequence.slots
        return Split(sequence.length - to_come, to_come, sequence.slots - sequence.length, rounding, 0)

    def split(self, *, next_slots: int | None = None) -> Split:
        """What all slots are used for now.

        `next_slots` is what the next request would reserve, 1 slot or more: free gaps too small for it are then
        external fragmentation. Without it every slot outside a chunk is free.
        """
        gaps = 0
        if next_slots is not None:
            gaps = self.allocator.stranded(whole("next_slots", next_slots, 1, BadInput))
        num_free = self.allocator.num_free
        rounding = self.allocator.num_slots - num_free - self._slots
        to_come = self._lengths - self._stored
        return Split(self._stored, to_come, self._slots - self._lengths, rounding + gaps, num_free - gaps)

    def _get(self, seq_id: object) -> "_Reservation":
        if seq_id not in self._sequences:
            raise UnknownSequence(f"no sequence {seq_id!r} holds memory here; those that do: {self.sequences[:8]}")
        return self._sequences[seq_id]

    def _forget_time(self, seq_id: object, sequence: "_Reservation") -> None:
        others = self._full_at[sequence.full_at]
        others.remove(seq_id)
        if not others:
            del self._full_at[sequence.full_at]


class _Reservation:
    __slots__ = ("full_at", "length", "slots", "start")

    def __init__(self, start: int, slots: int, length: int, full_at: int) -> None:
        self.start = start
        self.slots = slots  # reserved, before rounding
        self.length = length  # tokens when it ends: prompt and output
        self.full_at = full_at
