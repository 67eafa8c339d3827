"""The memory of lab 5: blocks with counts, and the tables that name them."""

from kvlib.errors import OutOfBlocks
from kvlib.events import EventLog


class Memory:
    """Blocks numbered 1 to `num_blocks`, and the tables of the sequences that use them."""

    def __init__(self, num_blocks: int, block_size: int) -> None:
        self.block_size = block_size  # tokens
        self.counts = [0] * (num_blocks + 1)  # of each block: how many tables name it
        self.free_blocks = list(range(num_blocks, 0, -1))  # those that no table names
        self.tables: dict[str, list[int]] = {}  # sequence -> its blocks
        self.num_tokens: dict[str, int] = {}  # sequence -> tokens stored

    def take(self) -> int:
        """A free block, which has a count of 1 from now on."""
        if not self.free_blocks:
            raise OutOfBlocks("no block is free; free a sequence first")
        block = self.free_blocks.pop()
        self.counts[block] = 1
        return block

    def admit(self, seq: str, num_tokens: int) -> None:
        """A new sequence: its prompt of `num_tokens` tokens, in blocks of its own."""
        num_blocks = -(-num_tokens // self.block_size)
        self.tables[seq] = [self.take() for _ in range(num_blocks)]
        self.num_tokens[seq] = num_tokens


class Film:
    """The log of a memory that keeps none: at each look it tells what has changed since the last one."""

    def __init__(self, memory: Memory) -> None:
        self.log = EventLog()
        self.log.open(len(memory.counts) - 1, memory.block_size)
        self._memory = memory
        self._tables: dict[str, list[int]] = {}
        self._num_tokens: dict[str, int] = {}

    def look(self) -> None:
        """Write down what has happened: sequences that are gone, new ones, and those that have grown."""
        self.log.next_step()
        for seq in [seq for seq in self._tables if seq not in self._memory.tables]:
            self._free(seq)
        for seq, table in self._memory.tables.items():
            known, num_tokens = self._tables.setdefault(seq, []), self._memory.num_tokens[seq]
            stored = self._num_tokens.get(seq, 0)
            if known and known[-1] != table[len(known) - 1]:
                source, known[-1] = known[-1], table[len(known) - 1]
                self.log.add("copy", seq=seq, index=len(known) - 1, source=source, target=known[-1])
            for index, block in enumerate(table[len(known) :], len(known)):
                stored = self._enter(seq, index, block, stored, num_tokens)
            if stored < num_tokens:
                self.log.add("write", seq=seq, start=stored, stop=num_tokens)
            self._num_tokens[seq] = num_tokens

    def _enter(self, seq: str, index: int, block: int, stored: int, num_tokens: int) -> int:
        count, size = self._count(block) + 1, self.log.block_size
        self._tables[seq].append(block)
        if count == 1:
            self.log.add("allocate", seq=seq, index=index, block=block)
            return stored
        filled = min(size, num_tokens - index * size)
        self.log.add("share", seq=seq, index=index, block=block, count=count, filled=filled)
        return stored + filled

    def _free(self, seq: str) -> None:
        table = self._tables[seq]
        while table:
            block = table.pop()
            self.log.add("free", seq=seq, block=block, count=self._count(block))
        del self._tables[seq], self._num_tokens[seq]

    def _count(self, block: int) -> int:
        return sum(table.count(block) for table in self._tables.values())
