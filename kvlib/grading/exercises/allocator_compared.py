"""A learner's manager beside kvlib's own: what is out of order in its tables, in words."""

from kvlib.chance import Chance
from kvlib.grading.exercises.allocator_pool import made, whole_numbers
from kvlib.memory import BlockManager


class Compared:
    """A learner's manager and ours, which are asked the same; `lengths` are the tokens of each sequence."""

    def __init__(self, answer: object, chance: Chance) -> None:
        self.num_blocks, self.size = 10 + chance.below(8), 2 + chance.below(4)
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
            without = len(blocks) * self.size + 1
            return f"{has} and a table of {len(blocks)}: token {without} has no slot. It needs {needed}."
        if len(blocks) > needed:
            full = " All slots of the others are taken, but nobody has come for the next." * (tokens % self.size == 0)
            return f"{has} and a table of {len(blocks)}; {needed} would do, and one holds nothing.{full}"
        return ""

    def room_fault(self, when: str) -> str:
        """Whether as many blocks can be had as are free, asked by can_admit, which changes nothing."""
        free = self.ours.num_free_blocks
        if self.theirs.pool.num_free < free:
            return f"{when} {free} blocks are free, the pool has {self.theirs.pool.num_free}: some were not given back."
        for count in range(1, self.num_blocks + 1):
            says = self.theirs.can_admit(count * self.size)
            if bool(says) != (count <= free):
                return f"{when} can_admit says {says!r:.20}. {self.misjudged(count * self.size, '')}"
        return ""

    def misjudged(self, num_tokens: int, words: str) -> str:
        """What `can_admit` should have seen."""
        needed, free = self.ours.blocks_for(num_tokens), self.ours.num_free_blocks
        return (
            f"{num_tokens} tokens in blocks of {self.size} need {needed}, {free} of {self.num_blocks} are free{words}. "
            "Blocks are compared with blocks, and as many as there are will do."
        )
