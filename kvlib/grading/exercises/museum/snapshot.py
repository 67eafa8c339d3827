"""What an invariant sees of a memory."""

from typing import NamedTuple

Key = tuple[str, ...]


class Snapshot(NamedTuple):
    """A memory between two steps. A token is a word.

    A key is written out: all words from the start of a text to the end of the block.
    """

    num_blocks: int  # numbered from 1
    block_size: int  # words a block
    free: list[int]  # blocks that no table names, the next to be handed out first
    cached: list[int]  # the same, but kept for their keys; the next to be given up first
    counts: dict[int, int]  # block -> its reference count
    tables: dict[str, list[int]]  # sequence -> its blocks
    words: dict[str, list[str]]  # sequence -> all its words so far, the newest last
    num_stored: dict[str, int]  # sequence -> how many of its words are in its blocks
    written: dict[int, list[str]]  # block -> words written since it was handed out
    key_of: dict[int, Key]  # block -> the key that it was given
    holder: dict[Key, int]  # key -> the block in which it is found
