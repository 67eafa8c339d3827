"""A memory whose blocks hold words: kvlib's block manager, sound or with a fault, and what it makes of tables."""

from collections.abc import Sequence

from kvlib.events import EventLog
from kvlib.grading.exercises.museum.exhibit import Exhibit
from kvlib.grading.exercises.museum.snapshot import Key, Snapshot
from kvlib.memory import BlockManager
from kvlib.memory.pool import BlockPool


class Memory:
    """`num_blocks` blocks of `block_size` words, managed as kvlib does, or with the fault of an exhibit.

    A call that cannot be raises what the manager raises. With a log every change can be watched.
    """

    def __init__(self, num_blocks: int, block_size: int, exhibit: Exhibit | None = None) -> None:
        self.manager = managed(num_blocks, block_size, exhibit)
        self.log = EventLog()
        self.log.open(num_blocks, block_size)
        self._words: dict[str, list[str]] = {}
        self._num_stored: dict[str, int] = {}
        self._num_named = [0] * (num_blocks + 1)  # how often tables name a block, by what the log says
        self._written: dict[int, list[str]] = {block: [] for block in range(1, num_blocks + 1)}

    @property
    def sequences(self) -> list[str]:
        return list(self._words)

    def is_computed(self, seq: str) -> bool:
        """Whether all that it has slots for is stored."""
        return self._num_stored[seq] == self.manager.table(seq).num_tokens

    def shared_with(self, seq: str) -> list[str]:
        """The sequences whose last block is that of `seq`, itself included."""
        last = self.manager.table(seq).blocks[-1]
        return [other for other in self._words if self.manager.table(other).blocks[-1] == last]

    def can_admit(self, words: Sequence[str]) -> bool:
        return self.manager.can_admit(len(words), self._keys(words, len(words)))

    def can_say(self, seq: str) -> bool:
        return self.manager.can_append([seq])

    def admit(self, seq: str, words: Sequence[str]) -> None:
        """Find the beginning of a prompt and take blocks for the rest; nothing is computed yet."""
        cached = set(self.manager.pool._cached)
        num_hits = self.manager.admit(seq, len(words), self._keys(words, len(words))) // self.manager.block_size
        self._words[seq], self._num_stored[seq] = list(words), num_hits * self.manager.block_size
        self.log.next_step()
        self.log.say(seq, [f"{word} " for word in words])
        for index, block in enumerate(self.manager.table(seq).blocks):
            if index < num_hits:
                self._log_share(seq, index, block, self.manager.block_size)
            else:
                self._hand_out(seq, index, block, cached)

    def compute(self, seq: str, following: str) -> None:
        """Compute what is not stored of a prompt; the model's next word is `following`."""
        self.log.next_step()
        self._store(seq, len(self._words[seq]))
        self._say(seq, following)

    def say(self, seq: str, following: str) -> None:
        """One step of decoding: the newest word is stored, and the next is `following`."""
        cached, table = set(self.manager.pool._cached), self.manager.table(seq)
        old = list(table.blocks)
        self.log.next_step()
        if copied := self.manager.append(seq):
            source, target = copied
            self._written[target] = list(self._written[source])
            if target in cached:
                self.log.add("evict", block=target)
            self._num_named[source] -= 1
            self._num_named[target] += 1
            self.log.add("copy", seq=seq, index=len(old) - 1, source=source, target=target)
        for index, block in enumerate(table.blocks[len(old) :], len(old)):
            self._hand_out(seq, index, block, cached)
        self._store(seq, self._num_stored[seq] + 1)
        self._say(seq, following)

    def fork(self, parent: str, child: str, following: str) -> None:
        """A second answer: `child` names the blocks of `parent`, whose newest word it does not share."""
        self.manager.fork(parent, child)
        num_stored = self._num_stored[parent]
        self._words[child], self._num_stored[child] = self._words[parent][:num_stored], num_stored
        self.log.next_step()
        self.log.say(child, [f"{word} " for word in self._words[child]])
        for index, (block, filled) in enumerate(self.manager.table(child).entries()):
            self._log_share(child, index, block, filled)
        self._say(child, following)

    def free(self, *seqs: str) -> None:
        """End sequences together: all their blocks go back in one call, the deepest first."""
        tables = {seq: self.manager.table(seq).blocks for seq in seqs}
        depth = max(map(len, tables.values()))
        blocks = [table[place] for place in range(depth - 1, -1, -1) for table in tables.values() if place < len(table)]
        self.log.next_step()
        for seq, table in tables.items():
            for block in table[::-1]:
                self._num_named[block] -= 1
                self.log.add("free", seq=seq, block=block, count=self._num_named[block])
            del self.manager._tables[seq], self._words[seq], self._num_stored[seq]
        self.manager.pool.release(blocks)

    def reads(self, seq: str) -> str:
        """What stands in the blocks of `seq`, as far as it counts on them: what its next word is made from."""
        found = [self._written[block] for block in self.manager.table(seq).blocks]
        size, num_stored = self.manager.block_size, self._num_stored[seq]
        words = [word for block in found for word in [*block, *["?"] * size][:size]]
        return " ".join(words[:num_stored])

    def snapshot(self) -> Snapshot:
        """The memory as it is now; what happens later does not change it."""
        manager, pool = self.manager, self.manager.pool
        blocks = range(1, pool.num_blocks + 1)
        return Snapshot(
            num_blocks=pool.num_blocks,
            block_size=manager.block_size,
            free=pool._free[::-1],
            cached=list(pool._cached),
            counts={block: pool.ref_counts[block] for block in blocks},
            tables={seq: list(manager.table(seq).blocks) for seq in self._words},
            words={seq: list(words) for seq, words in self._words.items()},
            num_stored=dict(self._num_stored),
            written={block: list(words) for block, words in self._written.items()},
            key_of={block: pool.keys[block] for block in blocks if pool.keys[block] is not None},  # type: ignore[misc]
            holder=dict(pool._holder),  # type: ignore[arg-type]
        )

    def _keys(self, words: Sequence[str], num_words: int) -> list[Key]:
        size = self.manager.block_size
        return [tuple(words[:stop]) for stop in range(size, num_words + 1, size)]

    def _hand_out(self, seq: str, index: int, block: int, cached: set[int]) -> None:
        self._written[block] = []
        self._num_named[block] += 1
        if block in cached:
            self.log.add("evict", block=block)
        self.log.add("allocate", seq=seq, index=index, block=block)

    def _store(self, seq: str, stop: int) -> None:
        start, size = self._num_stored[seq], self.manager.block_size
        for position in range(start, stop):
            slot, block = position % size, self.manager.table(seq).blocks[position // size]
            self._written[block][slot : slot + 1] = [self._words[seq][position]]
        self._num_stored[seq] = stop
        self.log.add("write", seq=seq, start=start, stop=stop)
        self.manager.publish(seq, self._keys(self._words[seq], stop))

    def _say(self, seq: str, word: str) -> None:
        self._words[seq].append(word)
        self.log.say(seq, [f"{word} "])

    def _log_share(self, seq: str, index: int, block: int, filled: int) -> None:
        self._num_named[block] += 1
        self.log.add("share", seq=seq, index=index, block=block, count=self._num_named[block], filled=filled)


def managed(num_blocks: int, block_size: int, exhibit: Exhibit | None) -> BlockManager:
    """kvlib's manager, of which an exhibit may replace the pool or the whole."""
    planted = exhibit.planted() if exhibit else None
    manager: BlockManager = getattr(planted, "BlockManager", BlockManager)(num_blocks, block_size)
    manager.pool = getattr(planted, "BlockPool", BlockPool)(num_blocks)
    return manager
