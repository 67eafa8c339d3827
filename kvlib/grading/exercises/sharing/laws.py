"""What must hold of a memory with shared blocks, whatever was done to it."""

from kvlib.grading.exercises.broken import Broken
from kvlib.grading.exercises.sharing.memory import Memory

COUNTS = "the count of a block is the number of tables that name it"
FREE = "a block is free when no table names it, and not before"


def check_counts(memory: Memory, what: str) -> None:
    """Raise Broken, naming the block and `what` was done, unless counts and free blocks are those of the tables."""
    free = list(memory.free_blocks)
    for block in range(1, len(memory.counts)):
        owners = [seq for seq, table in memory.tables.items() if block in table]
        count, times_free = memory.counts[block], free.count(block)
        if owners and times_free:
            raise Broken(
                FREE,
                f"After {what}, block {block} is free while the table of {owners[0]!r} names it: it would be handed "
                "out and overwritten. Give a block back when its count has come to 0.",
            )
        if times_free > 1:
            raise Broken(FREE, f"After {what}, block {block} is twice among the free blocks, and would be taken twice.")
        if count != len(owners):
            raise Broken(
                COUNTS,
                f"After {what}, block {block} has a count of {count}, and {len(owners)} tables name it "
                f"({', '.join(owners) or 'none'}).",
            )
        if not owners and not times_free:
            raise Broken(
                FREE, f"After {what}, no table names block {block} and it is not free: nobody can have it again."
            )
