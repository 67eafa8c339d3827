"""What the slots of a board are used for, with hindsight."""

from kvlib.events import EventLog
from kvlib.memory.contiguous import Split
from kvlib.show.board import Board


def split(board: Board) -> Split:
    """What all slots of the memory are used for at the state of `board`, in slots.

    An empty slot that a sequence holds is reserved if the log goes on to write it, and internal if it never does. A
    slot of a block with several owners counts once. Blocks that nobody names are free, what they still hold included.
    """
    final = final_lengths(board.log)
    return _of_chunks(board, final) if board.log.num_slots else _of_blocks(board, final)


def final_lengths(log: EventLog) -> dict[str, int]:
    """The most tokens that the log has each sequence store."""
    longest: dict[str, int] = {}
    for event in log.events:
        if event["kind"] == "write":
            longest[event["seq"]] = max(longest.get(event["seq"], 0), event["stop"])
    return longest


def _of_blocks(board: Board, final: dict[str, int]) -> Split:
    size = board.log.block_size
    to_come: dict[int, int] = {}
    for seq, table in board.tables.items():
        for index, (block, filled) in enumerate(table.entries()):
            room = min(final.get(seq, 0) - index * size, size) - filled
            to_come[block] = max(to_come.get(block, 0), room)
    held = len(to_come) * size
    stored, reserved = sum(map(board.filled, to_come)), sum(to_come.values())
    return Split(stored, reserved, held - stored - reserved, 0, board.log.num_blocks * size - held)


def _of_chunks(board: Board, final: dict[str, int]) -> Split:
    chunks = board.chunks
    stored = sum(chunk.stored for chunk in chunks.values())
    reserved = sum(min(final.get(seq, 0), chunk.wanted) - chunk.stored for seq, chunk in chunks.items())
    wanted = sum(chunk.wanted for chunk in chunks.values())
    gaps = sum(size for _, size in chunks.gaps)
    free = chunks.num_slots - chunks.num_held - gaps
    return Split(stored, reserved, wanted - stored - reserved, chunks.num_held - wanted + gaps, free)
