"""Who waits, who runs, who yields and comes back, step by step, above the blocks in use: a picture of an event log."""

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from kvlib.errors import BadInput
from kvlib.events import EventLog
from kvlib.show.board import Board
from kvlib.show.figures import (
    DECODE,
    ESCAPES,
    GRID,
    INK,
    MUTED,
    PREFILL,
    Axes,
    Picture,
    Rectangle,
    canvas,
    figure,
    sequence_letter,
    show,
)

WIDTH, LEFT, TOP, ROW, BAR = 360, 20, 30, 42, 14  # pixels
IN_USE = 76  # height of the lower part
PHASES = ("prefill", "decode", "waits", "on the host")
SCHEDULED = ("write", "preempt", "swap")  # the last of them in a step comes before anything is computed


def phases(log: EventLog) -> dict[str, list[str]]:
    """What each sequence does in steps 1, 2 and so on, by its id, in the order in which they entered the log.

    "prefill": its tokens are computed, for the first time or once more. "decode": one token is. "waits": it holds
    nothing. "on the host": its blocks are there. "": it does not exist yet, or has ended. The log does not say when a
    request came; it is taken to wait from step 1, as those of one call of `generate` do.
    """
    steps = [(head, set(board.swapped), set(board.tables)) for head, board in _computing(log)]
    spans = _spans(log)
    found: dict[str, list[str]] = {seq: [] for seq in spans}
    for step, (events, swapped, held) in enumerate(steps, 1):
        written = {event["seq"] for event in events if event["kind"] == "write"}
        entered = {event["seq"] for event in events if event.get("index") == 0 and event["kind"] != "copy"}
        for seq, (first, last) in spans.items():
            if not first <= step <= last:
                phase = ""
            elif seq in swapped:
                phase = "on the host"
            elif seq in held:
                phase = "decode" if seq in written - entered else "prefill"
            else:
                phase = "waits"
            found[seq].append(phase)
    return found


def blocks_in_use(log: EventLog) -> list[int]:
    """How many blocks belong to somebody while steps 1, 2 and so on are computed."""
    return [sum(count > 0 for count in board.counts) for _, board in _computing(log)]


def timeline(log: EventLog) -> Picture:
    """A bar for each sequence, under its letter and the beginning of its text; below, the blocks in use a step.

    Raises BadInput for a log without a step.
    """
    if not log.step:
        raise BadInput("the log has no step yet; run requests with it first")
    rows, in_use = phases(log), blocks_in_use(log)
    foot = TOP + ROW * len(rows) + 26
    height = foot + IN_USE + 38
    with figure(WIDTH, height) as fig:
        ax = canvas(fig, WIDTH, height)
        _legend(ax, [phase for phase in PHASES if any(phase in row for row in rows.values())])
        cell = (WIDTH - LEFT - 1) / log.step
        for place, (seq, row) in enumerate(rows.items()):
            y = TOP + ROW * place
            ax.text(0, y + 30, sequence_letter(place), va="center", weight="bold")
            ax.text(LEFT, y + 10, _beginning(log, seq), color=MUTED, va="center", parse_math=False)
            for phase, first, last in _runs(row):
                _bar(ax, phase, LEFT + cell * (first - 1), y + 23, cell * (last - first + 1))
        ax.text(LEFT, foot - 14, f"blocks in use, of {log.num_blocks}", color=MUTED, va="center")
        edges = [LEFT + cell * step for step in range(log.step + 1)]
        tops = [foot + IN_USE * (1 - used / log.num_blocks) for used in in_use]
        ax.stairs(tops, edges, baseline=foot + IN_USE, fill=True, color=GRID)
        ax.stairs(tops, edges, baseline=None, color=MUTED, lw=1.5)
        ax.plot((LEFT, WIDTH - 1), (foot, foot), color=INK, lw=1)
        for step in sorted({1, *range(10, log.step + 1, 10)}):
            ax.text(LEFT + cell * (step - 0.5), height - 28, str(step), color=MUTED, ha="center", va="center")
        ax.text((LEFT + WIDTH) / 2, height - 10, "step", color=MUTED, ha="center", va="center")
    return show(fig, alt=_said(rows, in_use, log.num_blocks))


def _computing(log: EventLog) -> Iterator[tuple[list[dict], Board]]:
    """For each step from 1, its events until all memory for it is given out, and the board then."""
    board = Board(log)
    numbered = enumerate(log.events)
    by_step = {step: list(events) for step, events in groupby(numbered, lambda pair: pair[1]["step"])}
    for step in range(log.step + 1):
        events = by_step.get(step, [])
        scheduled = [place for place, (_, event) in enumerate(events) if event["kind"] in SCHEDULED]
        given = scheduled[-1] + 1 if scheduled else len(events)
        for number, event in events[:given]:
            board.apply(event, number)
        if step:
            yield [event for _, event in events[:given]], board
        for number, event in events[given:]:
            board.apply(event, number)


def _spans(log: EventLog) -> dict[str, tuple[int, int]]:
    """The first and the last step of each sequence: an arrival or a fork begins in the step after its event."""
    spans: dict[str, tuple[int, int]] = {}
    of_sequences = [event for event in log.events if "seq" in event]
    written = {(event["seq"], event["step"]) for event in of_sequences if event["kind"] == "write"}
    for event in of_sequences:
        seq, step = event["seq"], event["step"]
        is_fork = event["kind"] == "share" and (seq, step) not in written
        first, _ = spans.get(seq, (step + 1 if is_fork or event["kind"] == "arrive" else 1, step))
        spans[seq] = (first, step)
    return spans


def _runs(row: list[str]) -> Iterator[tuple[str, int, int]]:
    """(phase, its first step, its last) for each stretch of one phase."""
    for phase, steps in groupby(enumerate(row, 1), itemgetter(1)):
        numbers = [step for step, _ in steps]
        if phase:
            yield phase, numbers[0], numbers[-1]


def _bar(ax: Axes, phase: str, x: float, y: float, width: float) -> None:
    if phase == "waits":
        ax.plot((x + 1, x + width - 1), (y + BAR / 2, y + BAR / 2), color=MUTED, lw=1.5, solid_capstyle="butt")
        return
    face = {"prefill": PREFILL, "decode": DECODE, "on the host": "none"}[phase]
    edge = MUTED if phase == "on the host" else "none"
    ax.add_patch(Rectangle((x + 0.5, y), width - 1, BAR, facecolor=face, edgecolor=edge))


def _legend(ax: Axes, drawn: list[str]) -> None:
    x = float(LEFT)
    for phase in drawn:
        _bar(ax, phase, x, 4, 16)
        ax.text(x + 21, 11, phase, color=MUTED, va="center")
        x += 36 + 7 * len(phase)


def _beginning(log: EventLog, seq: str, limit: int = 44) -> str:
    text = "".join(log.texts.get(seq, [])).strip().translate(ESCAPES | {ord("\n"): "⏎"})
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def _said(rows: dict[str, list[str]], in_use: list[int], num_blocks: int) -> str:
    said = []
    for place, row in enumerate(rows.values()):
        stretches = [
            f"{phase} in step {first}" if first == last else f"{phase} in steps {first} to {last}"
            for phase, first, last in _runs(row)
        ]
        said.append(f"{sequence_letter(place)}: {', '.join(stretches)}.")
    return f"Each request step by step. {' '.join(said)} At most {max(in_use)} of {num_blocks} blocks are in use."
