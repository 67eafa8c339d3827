"""What is seen of a manager of many sequences, beside kvlib's own under the same calls."""

from collections.abc import Iterator

from kvlib.chance import Chance
from kvlib.errors import OutOfBlocks
from kvlib.grading.exercise import Seen
from kvlib.grading.exercises.allocator.calls import Tried, tried
from kvlib.grading.exercises.allocator.compared import Compared
from kvlib.grading.raised import described

CALLS = 70


def manager(answer: object, chance: Chance) -> Iterator[Seen]:
    """Sequences come and end."""
    trial = _Trial(answer, chance)
    yield from trial.work(appends=0)
    yield trial.drain()


def growing(answer: object, chance: Chance) -> Iterator[Seen]:
    """Sequences come, grow and end; then once more in blocks of one token, which are always full."""
    for size in (0, 1):
        trial = _Trial(answer, chance, size)
        yield from trial.work(appends=70)
        yield trial.crowd()
        yield trial.drain()


class _Trial(Compared):
    """The calls; each says what is wrong after it, in words, or ""."""

    num_named = 0

    def work(self, appends: int) -> Iterator[Seen]:
        """Random calls, of which `appends` in a hundred append; what is free after each."""
        rooms, refused, fault, refusal_fault = [], [], "", ""
        for call in range(CALLS):
            if fault or refusal_fault:
                break
            drawn = self.chance.below(100)
            if self.lengths and drawn < appends:
                seq = self.any_sequence()
                if self.ours.can_append([seq]):
                    fault = self.append(seq)
                else:
                    refusal_fault = self.append_refused(seq)
                    refused.append([call, self.num_tokens])
            elif self.lengths and drawn < appends + (100 - appends) * 2 // 5:
                fault = self.free(self.any_sequence())
            else:
                num_tokens = 1 + self.chance.below(4 * self.size)
                if call % 9 == 8:
                    num_tokens = self.ours.num_free_blocks * self.size + 1
                if self.ours.can_admit(num_tokens):
                    fault = self.admit(num_tokens)
                else:
                    refusal_fault = self.admit_refused(num_tokens)
                    refused.append([call, self.num_tokens])
            rooms.append(self.num_blocks - len({block for table in self.tables().values() for block in table or ()}))
        yield Seen("each sequence has as many blocks as its tokens fill, and no block two owners", rooms, fault)
        yield Seen("what does not fit raises OutOfBlocks and changes nothing", refused, refusal_fault)

    def crowd(self) -> Seen:
        """All blocks are taken, and every sequence grows until its last one is full."""
        law = "where no block is free a sequence grows to the end of its last one"
        num_free, lengths, fault = self.ours.num_free_blocks, [], ""
        if num_free:
            fault = self.admit(num_free * self.size)
        for seq in list(self.lengths):
            while not fault and self.ours.can_append([seq]):
                fault = self.append(seq)
            fault = fault or self.append_refused(seq)
            lengths.append(self.theirs.lengths[seq])
        return Seen(law, lengths, fault)

    def any_sequence(self) -> str:
        return list(self.lengths)[self.chance.below(len(self.lengths))]

    def admit(self, num_tokens: int) -> str:
        if fault := self.judged(num_tokens):
            return fault
        self.num_named += 1
        seq = f"s{self.num_named}"
        self.ours.admit(seq, num_tokens)
        self.lengths[seq] = num_tokens
        if raised := tried(self.theirs.admit, seq, num_tokens).raised:
            return f"admit({seq!r}, {num_tokens}) fits: can_admit had said True. {described(raised)}"
        return self.fault(f"After admit({seq!r}, {num_tokens})")

    def admit_refused(self, num_tokens: int) -> str:
        if fault := self.judged(num_tokens):
            return fault
        return self.refusal_fault(tried(self.theirs.admit, "late", num_tokens), f"admit('late', {num_tokens})")

    def append(self, seq: str) -> str:
        before = self.tables()[seq]
        room = self.ours.table(seq).room
        where = "its last block has an empty slot" if room else f"{self.ours.num_free_blocks} blocks are free"
        self.ours.append(seq)
        self.lengths[seq] += 1
        if raised := tried(self.theirs.append, seq).raised:
            return f"append({seq!r}) fits: {where}. {described(raised)}"
        after = self.tables().get(seq)
        if after and before and after[: len(before)] != before:
            return (
                f"append({seq!r}) has changed its table from {before} to {after}: the tokens that it has would have to "
                "be copied. Entries stay; a new one is added behind them."
            )
        return self.fault(f"After append({seq!r})")

    def append_refused(self, seq: str) -> str:
        return self.refusal_fault(tried(self.theirs.append, seq), f"append({seq!r})")

    def free(self, seq: str) -> str:
        self.ours.free(seq)
        del self.lengths[seq]
        if raised := tried(self.theirs.free, seq).raised:
            return f"free({seq!r}) is in order. {described(raised)}"
        return self.fault(f"After free({seq!r})")

    def refusal_fault(self, done: Tried, call: str) -> str:
        if instead := done.instead_of(OutOfBlocks):
            free = self.ours.num_free_blocks
            return f"{call} does not fit, {free} blocks are free: it {instead}."
        return self.fault(f"A refused call changes nothing, but after {call}, which is refused,")

    def drain(self) -> Seen:
        """Everybody ends, and one sequence takes the whole pool."""
        law = "when all sequences have ended the whole pool can be had again"
        num_ended, fault = len(self.lengths), ""
        for seq in list(self.lengths):
            fault = fault or self.free(seq)
        return Seen(law, [num_ended, self.num_blocks * self.size], fault or self.admit(self.num_blocks * self.size))
