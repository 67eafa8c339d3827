"""A learner's manager beside kvlib's own: what is out of order in its tables, in words."""

from kvlib.chance import Chance
from kvlib.grading.exercises.allocator.calls import made, tried, whole_numbers
from kvlib.grading.raised import described
from kvlib.memory import BlockManager


class Compared:
    """A learner's manager and ours, which are asked the same; `lengths` are the tokens of each sequence."""

    def __init__(self, answer: object, chance: Chance, size: int = 0) -> None:
        self.num_blocks, self.size = 10 + chance.below(8), size or 2 + chance.below(4)
        self.theirs = made(answer, num_blocks=self.num_blocks, block_size=self.size)
        self.ours = BlockManager(self.num_blocks, self.size)
        self.chance = chance
        self.lengths: dict[str, int] = {}

    @property
    def num_tokens(self) -> int:
        """The tokens of all sequences, as the answer has them."""
        return sum(self.theirs.lengths.values())

    def tables(self) -> dict[str, list[int] | None]:
        """The blocks of each sequence, as the answer has them; None for what is no list of blocks."""
        return {seq: whole_numbers(blocks) for seq, blocks in dict(self.theirs.tables).items()}

    def fault(self, when: str) -> str:
        """What is out of order after a call, in words; "" if nothing is."""
        tables, lengths = self.tables(), dict(self.theirs.lengths)
        if sorted(tables) != sorted(self.lengths):
            return f"{when} tables has {sorted(tables)}; {sorted(self.lengths)} hold memory."
        if lengths != self.lengths:
            return f"{when} lengths is {lengths!r:.80}; the tokens are {self.lengths!r:.80}."
        owner: dict[int, str] = {}
        for seq, blocks in tables.items():
            if fault := self.table_fault(seq, blocks):
                return f"{when} {fault}"
            for block in blocks or ():
                if block in owner:
                    return f"{when} block {block} is in the tables of {owner[block]} and {seq}: it has two owners."
                owner[block] = seq
        return self.room_fault(when)

    def table_fault(self, seq: str, blocks: list[int] | None) -> str:
        """Whether a table has as many blocks as its tokens fill."""
        tokens, needed = self.lengths[seq], self.ours.blocks_for(self.lengths[seq])
        has = f"{seq} has {tokens} tokens in blocks of {self.size}"
        if blocks is None:
            return f"{has} and the table {self.theirs.tables[seq]!r:.60}, which is no list of blocks."
        if len(blocks) < needed:
            first = len(blocks) * self.size
            return f"{has} and a table of {len(blocks)}; it needs {needed}. Position {first} has no slot."
        if len(blocks) > needed:
            full = " All slots of the others are taken, but nobody has come for the next." * (tokens % self.size == 0)
            return f"{has} and a table of {len(blocks)}; {needed} would do, and one holds nothing.{full}"
        return ""

    def room_fault(self, when: str) -> str:
        """Whether as many blocks can be had as are free, asked by can_admit."""
        free, says = self.ours.num_free_blocks, self.theirs.pool.num_free
        if says != free:
            why = ": some were not given back" * (says < free)
            return (
                f"{when} {free} of {self.num_blocks} blocks should be free, and the pool's num_free says {says}{why}."
            )
        asked = (self.judged(count * self.size, f"{when} ") for count in range(1, self.num_blocks + 1))
        return next(filter(None, asked), "")

    def judged(self, num_tokens: int, when: str = "") -> str:
        """What is wrong with what `can_admit` does, in words; "" if nothing is."""
        needed, free = self.ours.blocks_for(num_tokens), self.ours.num_free_blocks
        says, raised = tried(self.theirs.can_admit, num_tokens)
        call = f"{when}can_admit({num_tokens})"
        if raised:
            return f"{call} is to say True or False. {described(raised)}"
        if self.theirs.pool.num_free != free:
            return f"{call} is to change nothing; it has changed num_free from {free} to {self.theirs.pool.num_free}."
        if says is None:
            return f"{call} returns None; is a `return` missing?"
        if bool(says) == (needed <= free):
            return ""
        return (
            f"{call} says {says!r:.20}: {num_tokens} tokens in blocks of {self.size} need {needed}, and {free} of "
            f"{self.num_blocks} are free. {self.misjudged(num_tokens, bool(says))}"
        )

    def misjudged(self, num_tokens: int, says: bool) -> str:
        """What may have been overlooked by one who says so."""
        needed = self.ours.blocks_for(num_tokens)
        if says:
            return "A last block that is not full is a block, too."
        if needed < self.ours.num_free_blocks:
            return "Blocks are compared with blocks, not with tokens."
        if num_tokens == needed * self.size and self.theirs.can_admit(num_tokens - 1):
            return f"{needed} full blocks need no block more."
        return "As many blocks as there are will do."
