"""Invariants that are easily taken for the one that an exhibit breaks: they do not notice it, or do not hold anyway."""

from kvlib.grading.exercises.museum.queue import Queue
from kvlib.grading.exercises.museum.snapshot import Snapshot


def each_block_is_found(memory: Snapshot) -> bool:
    return all(memory.holder.get(key) == block for block, key in memory.key_of.items())


def each_key_is_found(memory: Snapshot) -> bool:
    return {*memory.key_of.values()} <= {*memory.holder}


def named_blocks_are_full(memory: Snapshot) -> bool:
    return all(len(memory.written[block]) == memory.block_size for block in _entries(memory))


def no_block_is_shared(memory: Snapshot) -> bool:
    return len({*_entries(memory)}) == len(_entries(memory))


def counts_are_right(memory: Snapshot) -> bool:
    return all(_entries(memory).count(block) == count for block, count in memory.counts.items())


def entries_add_up(memory: Snapshot) -> bool:
    return len(memory.free) + len(memory.cached) + len(_entries(memory)) == memory.num_blocks


def each_block_is_somewhere(memory: Snapshot) -> bool:
    return {*memory.free, *memory.cached, *_entries(memory)} == {*range(1, memory.num_blocks + 1)}


def shared_blocks_are_full(memory: Snapshot) -> bool:
    return all(len(memory.written[block]) == memory.block_size for block, count in memory.counts.items() if count > 1)


def all_words_are_written(memory: Snapshot) -> bool:
    return all(
        memory.written[block] == part
        for seq in memory.tables
        for block, part in _parts(memory, seq, memory.words[seq])
    )  # fmt: skip


def own_words_are_found(memory: Snapshot) -> bool:
    return all(
        memory.written[block][: len(part)] == part
        for seq in memory.tables
        for block, part in _parts(memory, seq, memory.words[seq][: memory.num_stored[seq]])
    )


def one_word_is_left(memory: Snapshot) -> bool:
    return all(memory.num_stored[seq] == len(words) - 1 for seq, words in memory.words.items())


def no_more_than_all_is_stored(memory: Snapshot) -> bool:
    return all(memory.num_stored[seq] <= len(words) for seq, words in memory.words.items())


def all_fit_together(queue: Queue) -> bool:
    return sum(_blocks(queue)) <= queue.num_blocks


def each_fits_now(queue: Queue) -> bool:
    return all(count <= queue.num_free for count in _blocks(queue))


def each_leaves_a_block(queue: Queue) -> bool:
    return all(count < queue.num_blocks for count in _blocks(queue))


def full_blocks_fit(queue: Queue) -> bool:
    return all(num_tokens // queue.block_size <= queue.num_blocks for num_tokens in queue.waiting.values())


def _entries(memory: Snapshot) -> list[int]:
    return [block for table in memory.tables.values() for block in table]


def _parts(memory: Snapshot, seq: str, words: list[str]) -> list[tuple[int, list[str]]]:
    """Each block of a sequence, and what of `words` belongs there."""
    size = memory.block_size
    return [(block, words[size * place : size * (place + 1)]) for place, block in enumerate(memory.tables[seq])]


def _blocks(queue: Queue) -> list[int]:
    return [-(-num_tokens // queue.block_size) for num_tokens in queue.waiting.values()]
