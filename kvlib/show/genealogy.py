"""Which beam continues which: the family tree of a beam search, from its event log."""

from typing import NamedTuple

from kvlib.checks import whole
from kvlib.errors import BadEvents, BadInput
from kvlib.events import EventLog
from kvlib.show.board import Board
from kvlib.show.figures import INK, MUTED, Picture, canvas, figure, show
from kvlib.show.memory import shown

WIDTH, TOP, ROW = 360, 28, 36  # pixels: of the picture, down to the first tokens, from one token to the next


class Beam(NamedTuple):
    """A sequence at the end of a step, the one of the step before that it continues, and its newest token's text."""

    seq: str
    parent: str | None
    text: str


def generations(log: EventLog) -> list[list[Beam]]:
    """The beams at the end of each step that leaves any; those of the first have no parent.

    A sequence goes on under its own name, or was forked in this step, and then its table is that of its parent. So the
    log must be of one search whose memory was never taken away. Who goes on keeps the place in the list, and who is
    new takes one that has become free.
    """
    found: list[list[Beam]] = []
    places: list[str] = []
    for _, board in Board.each_step(log):
        tables = board.tables
        new = [seq for seq in tables if seq not in places]
        parents: dict[str, str | None] = {seq: seq for seq in places if seq in tables}
        for seq in new:
            parents[seq] = next((old for old in places if old in tables and _same(board, old, seq)), None)
        kept = [seq if seq in tables else new.pop(0) if new else "" for seq in places]
        places = [seq for seq in kept if seq] + new
        if places:
            found.append([Beam(seq, parents[seq], _newest(board, seq)) for seq in places])
    return found


def genealogy(log: EventLog, num_tokens: int = 12) -> Picture:
    """The beams of the first `num_tokens` tokens, a row for each token, the prompt above them.

    Bold are the beams of the last row and all from which they descend; the others were given up. Raises BadEvents for
    a log in which no sequence outlives a step.
    """
    rows = generations(log)[: whole("num_tokens", num_tokens, 1, BadInput)]
    if not rows:
        raise BadEvents("no sequence outlives a step in this log; record a beam search of two tokens or more")
    alive = _ancestors(rows)
    width = WIDTH / max(map(len, rows))
    limit = max(1, int((width - 4) / 6.8))  # characters of 11.5-pixel type that fit
    height = TOP + ROW * len(rows)
    with figure(WIDTH, height) as fig:
        ax = canvas(fig, WIDTH, height)
        ax.text(WIDTH / 2, 10, "prompt", color=MUTED, ha="center", va="center")
        ends: dict[str | None, tuple[float, float]] = {None: (WIDTH / 2, 18)}
        for number, row in enumerate(rows):
            y, next_ends = TOP + ROW * number + 20, {**ends}
            for place, beam in enumerate(row):
                x, lives = (place + 0.5) * width, beam.seq in alive[number]
                colour = INK if lives else MUTED
                from_x, from_y = ends[beam.parent]
                look = {"lw": 2, "zorder": 3} if lives else {"lw": 1, "alpha": 0.6}
                ax.plot((from_x, x), (from_y, y - 9), color=colour, **look)
                weight = "bold" if lives else "normal"
                text = shown(beam.text, limit)
                ax.text(x, y, text, color=colour, ha="center", va="center", weight=weight, parse_math=False)
                next_ends[beam.seq] = (x, y + 9)
            ends = next_ends
    return show(fig, alt=_said(rows, alive))


def _same(board: Board, one: str, other: str) -> bool:
    return board.tables[one].blocks == board.tables[other].blocks


def _newest(board: Board, seq: str) -> str:
    position = board.tables[seq].num_tokens  # chosen, and not stored yet
    return "".join(board.log.texts.get(seq, [])[position : position + 1])


def _ancestors(rows: list[list[Beam]]) -> list[set[str]]:
    """For each row, the sequences from which a beam of the last row descends, or that are in it."""
    alive = [{beam.seq for beam in rows[-1]}]
    for row in rows[:0:-1]:
        alive.append({beam.parent for beam in row if beam.seq in alive[-1] and beam.parent is not None})
    return alive[::-1]


def _said(rows: list[list[Beam]], alive: list[set[str]]) -> str:
    said = []
    for number, (row, lives) in enumerate(zip(rows, alive, strict=True), 1):
        texts = [shown(beam.text, 12) + ("" if beam.seq in lives else " (given up)") for beam in row]
        said.append(f"token {number}: {', '.join(texts)}")
    return f"Family tree of the beams, a row for each token. {'; '.join(said)}."
