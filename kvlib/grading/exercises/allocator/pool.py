"""What is seen of a pool of blocks under a random workload."""

from collections.abc import Iterator

from kvlib.chance import Chance
from kvlib.errors import DoubleFree, OutOfBlocks
from kvlib.grading.exercise import Score, Seen, Wrong
from kvlib.grading.exercises.allocator.calls import made, tried, whole_numbers
from kvlib.grading.raised import described

CALLS = 60


def pool(answer: object, chance: Chance) -> Iterator[Seen | Score]:
    """Take, give back, ask for too much, give back what is not in use; and in the end all blocks."""
    trial = _Trial(answer, chance)
    yield from trial.work()
    yield Score("blocks ever used", len(trial.touched), trial.peak)
    yield trial.misuse()
    yield trial.drain()


class _Trial:
    """A pool in use: `held` are the blocks of each owner, `touched` all blocks that anybody ever had."""

    def __init__(self, answer: object, chance: Chance) -> None:
        self.num_blocks = 40 + chance.below(9)
        self.pool = made(answer, num_blocks=self.num_blocks)
        self.chance = chance
        self.held: list[list[int]] = []
        self.touched: set[int] = set()
        self.peak = 0

    @property
    def num_used(self) -> int:
        return sum(map(len, self.held))

    @property
    def num_free(self) -> int:
        return self.num_blocks - self.num_used

    def work(self) -> Iterator[Seen]:
        used, refused, fault, refusal_fault = [], [], self.miscounted("At first"), ""
        for call in range(CALLS):
            if fault or refusal_fault:
                break
            count = self.num_free + 1 if call % 12 == 11 else 1 + self.chance.below(4)
            if call % 12 != 11 and self.held and self.chance.below(100) < 45:
                fault = self.give_back(self.chance.below(len(self.held)))
            elif count > self.num_free:
                refused.append([call, self.num_free])
                refusal_fault = self.ask_too_much(count)
            else:
                fault = self.take(count)
            used.append(len({block for blocks in self.held for block in blocks}))
            self.peak = max(self.peak, self.num_used)
        yield Seen("each block that is handed out is one of the pool's and has no other owner", used, fault)
        yield Seen("a take of more than there is raises OutOfBlocks and changes nothing", refused, refusal_fault)

    def take(self, count: int) -> str:
        given, raised = tried(self.pool.take, count)
        if isinstance(raised, OutOfBlocks):
            return f"take({count}) raises OutOfBlocks while {self.num_free} of {self.num_blocks} blocks are free."
        if raised:
            return f"take({count}) fits: {self.num_free} of {self.num_blocks} blocks are free. {described(raised)}"
        blocks = whole_numbers(given)
        if blocks is None or len(blocks) != count:
            return f"take({count}) returns {given!r:.60}; a list of {count} block numbers is wanted."
        owned = {block for owner in self.held for block in owner}
        for block in blocks:
            if not 1 <= block <= self.num_blocks:
                known = "0 is the null block, which nobody gets" if block == 0 else "there is no such block"
                return f"take({count}) hands out block {block}: {known}. The blocks are 1 to {self.num_blocks}."
        if twice := owned.intersection(blocks):
            return f"Block {min(twice)} is handed out twice: take({count}) gives it away while somebody has it."
        if len(set(blocks)) < count:
            return f"take({count}) returns {blocks}, one of them more than once; each is one block."
        self.held.append(blocks)
        self.touched.update(blocks)
        return self.miscounted(f"After take({count})")

    def give_back(self, place: int) -> str:
        blocks = self.held[place]
        if raised := tried(self.pool.give_back, list(blocks)).raised:
            return f"give_back({blocks}) is in order: all of them are in use. {described(raised)}"
        del self.held[place]
        return self.miscounted(f"After give_back({blocks})")

    def ask_too_much(self, count: int) -> str:
        said = f"take({count}) while {self.num_free} of {self.num_blocks} are free"
        done = tried(self.pool.take, count)
        if instead := done.instead_of(OutOfBlocks):
            why = "Whoever waits for memory catches that and no other" if done.raised else "All of them or none"
            return f"{said} {instead}. {why}."
        return self.miscounted(f"A refused call changes nothing, but after {said}, which is refused,")

    def misuse(self) -> Seen:
        """What is given back and is not in use, alone and beside what is."""
        law = "giving back what is not in use raises DoubleFree and changes nothing"
        while len(self.held) < 2 and not self.take(2):
            pass
        if len(self.held) < 2:
            raise Wrong("After a refused call, or one that should be refused, the pool hands out no block any more.")
        blocks, gone = self.held[-1], self.held.pop(0)
        self.pool.give_back(list(gone))
        counts: list[int] = []
        for given, words in (
            ([gone[0]], "a block that was given back before"),
            ([blocks[0], gone[0]], "a block in use beside one that is free"),
            ([blocks[0], blocks[0]], "one block twice in one call"),
            ([self.num_blocks + 1], "a block that the pool does not have"),
            ([0], "the null block, which nobody has"),
        ):
            said = f"give_back({given}), {words},"
            if instead := tried(self.pool.give_back, given).instead_of(DoubleFree):
                return Seen(law, counts, f"{said} {instead}.")
            if fault := self.miscounted(f"A refused call changes nothing, but after {said} which is refused,"):
                return Seen(law, counts, fault)
            counts.append(self.num_free)
        return Seen(law, counts)

    def drain(self) -> Seen:
        """Everything back, then everything at once."""
        law = "when all is given back all can be had again, at once"
        for blocks in self.held:
            self.pool.give_back(list(blocks))
        self.held = []
        fault = self.miscounted("When everybody has given back") or self.take(0) or self.take(self.num_blocks)
        return Seen(law, self.num_used, fault)

    def miscounted(self, when: str) -> str:
        number = self.pool.num_free
        if callable(number):
            return "num_free is a method; it is read without brackets, so write @property above it."
        return "" if number == self.num_free else f"{when} num_free is {number!r:.20}; it should be {self.num_free}."
