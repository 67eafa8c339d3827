"""What is drawn and played in lab 6 before the learner has written it."""

from collections.abc import Mapping, Sequence
from hashlib import sha256

from kvlib.events import EventLog
from kvlib.memory import RecordedBlockManager
from kvlib.models.tokenizer import Tokenizer
from kvlib.show.figures import (
    GRID,
    INK,
    MUTED,
    ON_COLOUR,
    Picture,
    Rectangle,
    canvas,
    figure,
    sequence_colour,
    show,
)

WIDTH, ROW, BOX = 360, 56, 28  # pixels: of a picture, from one strip to the next, of a box
COLOURS = {"held": INK, "one": sequence_colour(0), "other": sequence_colour(1), "missing": "none"}


def strips(rows: Mapping[str, Sequence[tuple[str, str]]]) -> Picture:
    """A row of boxes for each title; a box is its text and what it is, one of COLOURS."""
    width = WIDTH / max(map(len, rows.values()))
    said = []
    with figure(WIDTH, ROW * len(rows)) as fig:
        ax = canvas(fig, WIDTH, ROW * len(rows), margin=1)
        for number, (title, boxes) in enumerate(rows.items()):
            y = ROW * number
            ax.text(0, y + 11, title, color=MUTED, va="center")
            for place, (text, kind) in enumerate(boxes):
                x, missing = place * width, kind == "missing"
                edge = GRID if missing else COLOURS[kind]
                ax.add_patch(Rectangle((x + 1, y + 22), width - 2, BOX, facecolor=COLOURS[kind], edgecolor=edge))
                ink = MUTED if missing else ON_COLOUR
                ax.text(x + width / 2, y + 22 + BOX / 2, text, color=ink, ha="center", va="center", parse_math=False)
            said.append(f"{title}: {', '.join(f'{text} ({kind})' for text, kind in boxes)}")
    return show(fig, alt=f"{'; '.join(said)}.")


def named_blocks(text: str, tokenizer: Tokenizer, block_size: int) -> list[tuple[bytes, str]]:
    """Of each full block of a text, a digest of all tokens up to its end, and what it says: as `chains` draws it."""
    token_ids = tokenizer.encode(text)
    pieces = tokenizer.pieces(token_ids)
    return [
        (
            sha256(repr(token_ids[: (index + 1) * block_size]).encode()).digest(),
            "".join(pieces[index * block_size : (index + 1) * block_size]),
        )
        for index in range(len(token_ids) // block_size)
    ]


def three_requests() -> EventLog:
    """What kvlib's manager does in five blocks of four tokens: A comes, then B, A again, and C, which needs three."""
    log = EventLog()
    manager = RecordedBlockManager(5, 4, log)
    for name, num_blocks in (("A", 3), ("B", 2), ("A", 3), ("C", 3)):
        keys = [f"{name}{place}" for place in range(num_blocks)]
        log.next_step()
        manager.admit(name, 4 * num_blocks, keys)
        manager.publish(name, keys)
        log.next_step()
        manager.free(name)
    return log
