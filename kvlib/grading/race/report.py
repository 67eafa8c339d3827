"""The lab *Race the kernel* in words, tables and pictures: what is counted, what is derived, what was measured."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import ceil
from typing import Any

from kvlib.bench.gpu.cards import CARDS
from kvlib.bench.gpu.counted import grid, intensity, table_bytes
from kvlib.bench.gpu.loads import Load
from kvlib.bench.gpu.recorded import Track
from kvlib.show.figures import Picture
from kvlib.show.roofline import Dot, Measured, Roof, rates, say_bytes, say_time, shares, times
from kvlib.show.table import Table

ROOFS = tuple(Roof(card.name, card.gbps) for card in CARDS)
SHEETS = "Dashed lines follow from data sheets: " + ", ".join(f"{card.name} {card.gbps:,} GB/s" for card in CARDS) + "."


def setting(load: Load) -> str:
    """The load in words."""
    requests = f"{load.batch} request{'s' * (load.batch > 1)}"
    tokens = f"{min(load.context_lens):,} to {load.longest:,}" if load.is_ragged else f"{load.longest:,}"
    return f"{requests} of {tokens} tokens, blocks of {load.block_size}, {load.dtype}"


def counts(load: Load) -> str:
    """What the step reads, on whatever device: a sentence."""
    return (
        f"{setting(load)}: {say_bytes(load.kv_bytes)} of keys and values, "
        f"{say_bytes(table_bytes(load))} of block tables, {intensity(load):g} operations for each byte."
    )


def grids(load: Load) -> Table:
    """The time that the data sheet of each card allows, and the launch there; on a card that holds the step."""
    rows: list[list[object]] = []
    for card in CARDS:
        launch = grid(load, card.device)
        if not card.holds(load.kv_bytes):
            cells = ["does not fit", "", "", "", ""]
        elif launch is None:
            cells = [say_time(card.floor_us(load.kv_bytes)), f"no {load.dtype}", "", "", ""]
        else:
            counted = (launch.splits, launch.programs, launch.places, launch.waves)
            cells = [say_time(card.floor_us(load.kv_bytes)), *(f"{count:,}" for count in counted)]
        rows.append([card.name, *cells])
    return Table(["card", "least time", "splits", "programs", "places", "waves"], rows)


def data_sheets(load: Load) -> Table:
    """What the cards promise: bandwidth, the least time for `load`, operations in the time of one byte."""
    rows = [(card.name, card.gbps, say_time(card.floor_us(load.kv_bytes)), round(card.balance)) for card in CARDS]
    return Table(["card", "GB/s", "least time", "operations a byte"], rows)


def launch_bound(num_seqs: int, token_bytes: int, host_us: float) -> Table:
    """The shortest context of `num_seqs` requests that each card reads for as long as a launch of `host_us` takes."""
    rows = [(card.name, f"{ceil(host_us / card.floor_us(num_seqs * token_bytes)):,}") for card in CARDS]
    return Table(["card", "tokens"], rows)


def pictures(load: Load, recorded: Iterable[Track], here: Track | None) -> list[Picture]:
    """The step of `load` under the roofs, beside what was measured with its dtype and block size; time only, where
    nothing was."""
    tracks = [(track, False) for track in recorded] + ([(here, True)] if here else [])
    measured = [_measured(track, load, is_here) for track, is_here in tracks if track.like(load)]
    drawn = [times(ROOFS, measured, load.kv_bytes)]
    if measured:
        drawn += [rates(ROOFS, measured, load.kv_bytes), shares(measured, load.kv_bytes)]
    return drawn


def sources(load: Load, recorded: Sequence[Track], here: Track | None, has_gpu: bool) -> str:
    """Which of the lines and dots are derived, recorded, measured here: sentences."""
    words = [SHEETS]
    words += [f"Recorded: {track.gpu}, {track.date}, {_count(track, load)}." for track in recorded]
    if not recorded:
        words.append("Recorded: no GPU so far.")
    if has_gpu:
        words.append(f"Measured here: {_count(here, load) if here else 'nothing yet'}.")
    else:
        words.append("No GPU here: nothing is measured on this machine.")
    return " ".join(words)


def result(row: Mapping[str, Any]) -> str:
    """What a run of the kernel brought: a sentence. A row that is not right has no numbers in it."""
    if row["status"] != "ok":
        return f"{row['status']}: {row['note']}."
    right = f"right, relative error {row['rel_err']:.1e}"
    if row["us_p50"] is None:
        return f"{right}. Not timed."
    share = "" if row["frac_copy"] is None else f", {100 * row['frac_copy']:.0f} % of the copy rate here"
    return (
        f"{say_time(row['us_p50'])}, a fifth of the calls below {say_time(row['us_p20'])}, a fifth above "
        f"{say_time(row['us_p80'])}: {row['gbps']:,.0f} GB/s{share}. Python is back after "
        f"{say_time(row['host_us'])}. The result is {right}."
    )


def paragraph(words: str) -> str:
    """Text as HTML."""
    return f'<p style="line-height: 1.5; margin: 8px 0">{escape(words)}</p>'


def shown(thing: Picture | Table) -> str:
    """A picture or a table as HTML that JupyterLab styles like a cell's output.

    As wide as its widget, whatever it holds: what is wider scrolls in it.
    """
    width = "box-sizing: border-box; width: 0; min-width: 100%"
    return f'<div class="jp-RenderedHTMLCommon" style="{width}">{thing._repr_html_()}</div>'


def _count(track: Track, load: Load) -> str:
    count = len(track.like(load))
    return f"{count} row{'s' * (count != 1)} with this block size and dtype"


def _measured(track: Track, load: Load, here: bool) -> Measured:
    dots = [
        Dot(row["kv_bytes"], row["us_p50"], None if row["frac_copy"] is None else 100 * row["frac_copy"])
        for row in track.like(load)
    ]
    return Measured(f"{track.gpu}, {'here' if here else track.date}", dots, track.copy_gbps, here)
