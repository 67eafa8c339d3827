"""A kernel that only reads, under its roofline: time, rate and share of a copy's rate against the bytes it reads.

A dashed line follows from a data sheet. What is blue was measured: a dot is a row, a full line the rate of a copy.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, cycle
from math import log10
from typing import Any, NamedTuple

from kvlib.show.figures import DECODE, INK, MUTED, Axes, Picture, figure, show

WIDTH, HEIGHT = 360, 270
BYTES = (5 * 10**5, 2 * 10**10)  # from one end of the axis to the other
TIMES = (0.05, 10**5)  # microseconds, likewise
MARKERS = "sD^v<>"
APART = 0.075  # of the height of the axes, from the name of one line to the next


class Roof(NamedTuple):
    """The bandwidth of a device in GB/s, from its data sheet."""

    name: str
    gbps: float


class Dot(NamedTuple):
    """A measured row: bytes of keys and values, microseconds, percent of the measured copy rate (None: not known)."""

    num_bytes: int
    us: float
    share: float | None

    @property
    def gbps(self) -> float:
        return self.num_bytes / self.us / 1000


class Measured(NamedTuple):
    """What was measured on one device. copy_gbps: the rate of a copy there (None: not known). here: on this device."""

    name: str
    dots: Sequence[Dot]
    copy_gbps: float | None = None
    here: bool = False


Height = Callable[[int, float], float]
"""Of the line of a rate in GB/s at so many bytes."""


def times(roofs: Sequence[Roof], measured: Sequence[Measured], num_bytes: int) -> Picture:
    """Time against bytes, both logarithmic. Lines are the least time; the upright one stands at `num_bytes`."""
    with figure(WIDTH, HEIGHT) as fig:
        ax = fig.subplots()
        ax.set(yscale="log", ylim=TIMES)
        powers = [10**power for power in range(6)]
        ax.set_yticks(powers, [say_time(us) for us in powers])
        ax.set_title("time")
        _draw_lines(ax, roofs, measured, lambda size, gbps: size / gbps / 1000)
        _draw_dots(ax, measured, lambda dot: dot.us)
        _draw_bytes(ax, num_bytes)
    return show(fig, alt=_alt("Time", roofs, measured, lambda dot: say_time(dot.us)))


def rates(roofs: Sequence[Roof], measured: Sequence[Measured], num_bytes: int) -> Picture:
    """Bytes a second against bytes. Lines are the most that a device reaches."""
    with figure(WIDTH, HEIGHT) as fig:
        ax = fig.subplots()
        ax.set_ylim(0, 1.1 * max(roof.gbps for roof in roofs))
        ax.set_title("GB/s")
        _draw_lines(ax, roofs, measured, lambda size, gbps: gbps)
        _draw_dots(ax, measured, lambda dot: dot.gbps)
        _draw_bytes(ax, num_bytes)
    return show(fig, alt=_alt("Rate", roofs, measured, lambda dot: f"{dot.gbps:,.0f} GB/s"))


def shares(measured: Sequence[Measured], num_bytes: int) -> Picture:
    """The share of the copy rate that was measured on the same device. Dots whose share is not known are left out."""
    known = [each._replace(dots=[dot for dot in each.dots if dot.share is not None]) for each in measured]
    with figure(WIDTH, HEIGHT) as fig:
        ax = fig.subplots()
        ax.set_ylim(0, 110)
        ax.set_title("% of the rate of a copy on the same device")
        ax.axhline(100, color=MUTED, linewidth=1.2)
        _draw_dots(ax, known, lambda dot: dot.share or 0)
        _draw_bytes(ax, num_bytes)
    return show(fig, alt=_alt("Share of the copy's rate", [], known, lambda dot: f"{dot.share:.0f} %"))


def say_bytes(num_bytes: float) -> str:
    """In B, or in kB, MB or GB of 10³, 10⁶ or 10⁹ bytes."""
    units = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1))
    unit, size = next((unit, size) for unit, size in units if num_bytes >= size or size == 1)
    return f"{num_bytes / size:.3g} {unit}"


def say_time(us: float) -> str:
    """In µs, in ms from 1 ms on."""
    return f"{us / 1000:.3g} ms" if us >= 1000 else f"{us:.3g} µs"


def _draw_lines(ax: Axes, roofs: Sequence[Roof], measured: Sequence[Measured], height: Height) -> None:
    """Dashed for a data sheet, with its name at the right; full for a copy, with the marker of its device."""
    for roof in roofs:
        ax.plot(BYTES, [height(size, roof.gbps) for size in BYTES], color=MUTED, linewidth=1.2, linestyle=(0, (4, 3)))
    low, high = ax.get_ylim()
    for each, look in zip(measured, _looks(measured)):
        if each.copy_gbps:
            heights = [height(size, each.copy_gbps) for size in BYTES]
            ax.plot(BYTES, heights, color=DECODE, linewidth=1.2)
            ax.plot(BYTES[1], min(heights[1], high), color=DECODE, clip_on=False, **look)
    ends = sorted((height(BYTES[1], roof.gbps), roof.name) for roof in roofs)
    places = [log10(end / low) / log10(high / low) if ax.get_yscale() == "log" else end / high for end, _ in ends]
    for (_, name), place in zip(ends, _apart(places)):
        ax.annotate(name, (1.04, place), xycoords="axes fraction", color=MUTED, va="center", annotation_clip=False)


def _draw_dots(ax: Axes, measured: Sequence[Measured], height: Callable[[Dot], float]) -> None:
    for each, look in zip(measured, _looks(measured)):
        places = [(dot.num_bytes, height(dot)) for dot in each.dots]
        ax.plot(*zip(*places), linestyle="none", color=DECODE, label=each.name, **look)
    if measured:
        ax.figure.legend(loc="outside lower left")


def _draw_bytes(ax: Axes, num_bytes: int) -> None:
    """The axis of bytes, and a line at those of the step."""
    ax.set(xscale="log", xlim=BYTES)
    powers = [10**power for power in range(6, 11)]
    ax.set_xticks(powers, [say_bytes(power) for power in powers])
    ax.minorticks_off()
    ax.set_xlabel("keys and values that one step reads")
    ax.axvline(num_bytes, color=INK, linewidth=1)
    side, away = ("left", 4) if num_bytes < 30 * BYTES[0] else ("right", -4)
    ax.annotate(
        say_bytes(num_bytes),
        (num_bytes, 1),
        xycoords=ax.get_xaxis_transform(),
        xytext=(away, 0),
        textcoords="offset points",
        ha=side,
        va="top",
    )


def _looks(measured: Sequence[Measured]) -> Iterator[dict[str, Any]]:
    """A full circle for the device here, for each other one a hollow marker of its own."""
    markers = cycle(MARKERS)
    for each in measured:
        marker, face = ("o", DECODE) if each.here else (next(markers), "none")
        yield {"marker": marker, "markerfacecolor": face, "markersize": 7}


def _apart(places: Sequence[float]) -> list[float]:
    """Rising places moved as little as leaves APART between every two: the mean of pushing up and pushing down."""
    up = accumulate(places, lambda below, place: max(place, below + APART))
    down = accumulate(reversed(places), lambda above, place: min(place, above - APART))
    return [(low + high) / 2 for low, high in zip(up, reversed(list(down)))]


def _alt(what: str, roofs: Sequence[Roof], measured: Sequence[Measured], say: Callable[[Dot], str]) -> str:
    """The picture in sentences."""
    sheets = ", ".join(f"{roof.name} {roof.gbps:,.0f} GB/s" for roof in roofs)
    copies = ", ".join(f"{each.name} {each.copy_gbps:,.0f} GB/s" for each in measured if each.copy_gbps)
    sentences = [f"{what} against bytes read."]
    if roofs:
        sentences += [f"Dashed lines, from data sheets: {sheets}."]
        sentences += [f"Full lines, measured copies: {copies}."] if copies else []
    for each in measured:
        dots = ", ".join(f"{say_bytes(dot.num_bytes)} {say(dot)}" for dot in each.dots)
        sentences += [f"Measured on {each.name}: {dots}."] if dots else []
    return " ".join(sentences if measured else [*sentences, "Nothing is measured."])
