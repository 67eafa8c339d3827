"""The book's one figure style: matplotlib drawn as an inline SVG that follows the page's light or dark theme.

A figure is drawn at the width of a phone's page, so that its type is still read there, and a wider page
enlarges it by two fifths at most. Axes say what they measure in a title above them, which is read without turning
the head: `ax.set_title("milliseconds a token")`.

    with figure(360, 220) as fig:
        ax = fig.subplots()
        ax.plot(lengths, cached, color=DECODE)
        ax.set_title("milliseconds a token")
    show(fig, alt="Time per token against length: flat with a cache, rising without one.")

Colours are chosen in OKLab: every two of them stay apart (distance 0.075 or more) as seen with full colour
vision and with protanopia, deuteranopia and tritanopia (Machado et al. 2009), and each has a contrast of at
least 4.5 with the paper. `book/static/book.css` holds the same colours, and their partners in the dark theme.
"""

import io
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from typing import Any
from xml.etree import ElementTree

from kvlib.checks import whole
from kvlib.errors import BadInput, MissingPackage

try:
    import matplotlib.pyplot as plt
    from cycler import cycler
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
    from matplotlib.patches import Rectangle as Rectangle
except ImportError as error:
    raise MissingPackage("figures need matplotlib; in the clone, run: pip install '.[book]'") from error

PAPER = "#fcfbf8"
ON_COLOUR = "#fcfbf9"  # text in a box of a sequence's colour, which is dark wherever the book's styles are not loaded
INK = "#22262b"
MUTED = "#5c636b"
GRID = "#dedbd3"
PREFILL = "#b04c0a"
DECODE = "#2563c9"
SEQUENCES = ("#0a6164", "#981737", "#924a96", "#66725a", "#5a1669", "#104f05")

LEAST_WIDTH = 320
"""Pixels below which a figure is not made smaller, as its type would not be read; where there are fewer it scrolls."""

# What XML cannot hold, as an escape that a reader can tell.
ESCAPES = {code: f"\\x{code:02x}" for code in (*range(32), 127) if chr(code) not in "\t\n\r"} | {
    code: f"\\u{code:04x}" for code in (*range(0xD800, 0xE000), 0xFFFE, 0xFFFF)
}

_VARIABLES = {
    PAPER: "var(--kv-paper, var(--jp-layout-color0, {}))",
    ON_COLOUR: "var(--kv-paper, {})",
    INK: "var(--kv-ink, var(--jp-ui-font-color1, {}))",
    MUTED: "var(--kv-muted, var(--jp-ui-font-color2, {}))",
    GRID: "var(--kv-grid, var(--jp-border-color2, {}))",
    PREFILL: "var(--kv-prefill, {})",
    DECODE: "var(--kv-decode, {})",
} | {colour: f"var(--kv-seq-{letter}, {{}})" for colour, letter in zip(SEQUENCES, "abcdef", strict=True)}

_STYLE: dict[Any, Any] = {
    "figure.dpi": 72,  # one point is one pixel of the page
    "figure.facecolor": PAPER,
    "figure.constrained_layout.use": True,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # ships with matplotlib and is wide: what fits in it fits in the page's font
    "font.size": 11.5,
    "text.color": INK,
    "axes.facecolor": "none",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": MUTED,
    "axes.titlecolor": MUTED,
    "axes.titlesize": 11.5,
    "axes.titlelocation": "left",
    "axes.titlepad": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.prop_cycle": cycler(color=SEQUENCES),
    "grid.color": GRID,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "ytick.major.size": 0,
    "lines.linewidth": 2,
    "lines.solid_capstyle": "round",
    "patch.edgecolor": INK,
    "legend.frameon": False,
    "legend.handlelength": 1.2,
    "hatch.color": INK,
    "svg.fonttype": "none",
}


def sequence_colour(index: int) -> str:
    """The colour of the sequence with this number, from 0; after six they begin again, so write the letter too."""
    return SEQUENCES[whole("sequence number", index, 0, BadInput) % len(SEQUENCES)]


def sequence_letter(index: int) -> str:
    """The name of the sequence with this number: A to Z, AA to AZ, BA and so on; A1 is the entry 1 of A's table."""
    lap, place = divmod(whole("sequence number", index, 0, BadInput), 26)
    return (sequence_letter(lap - 1) if lap else "") + chr(ord("A") + place)


@contextmanager
def figure(width: int = 360, height: int = 240) -> Iterator[Figure]:
    """A new matplotlib figure of `width` x `height` pixels; what is added inside the `with` is in the book's style.

    It belongs to no window and to no notebook backend, so nothing is drawn until `show` or `fig.savefig` is called.
    `savefig` writes real colours on paper, for slides: `fig.savefig("pool.png", dpi=288)` is four pixels for one.
    """
    if not all(isinstance(side, Real) and 0 < side < math.inf for side in (width, height)):
        raise BadInput(f"the figure is {width!r} x {height!r}; give a width and a height in pixels, above 0")
    with plt.rc_context(_STYLE):
        yield Figure(figsize=(width / 72, height / 72))


def canvas(fig: Figure, width: float, height: float, margin: float = 0) -> Axes:
    """Axes over the whole figure, in pixels from its upper left corner down, with `margin` at either side."""
    fig.set_layout_engine("none")
    ax = fig.add_axes((0, 0, 1, 1))
    ax.set(xlim=(-margin, width + margin), ylim=(height, 0))
    ax.set_axis_off()
    return ax


@dataclass(frozen=True)
class Picture:
    """A drawn figure: shown as SVG on a page and in a notebook, and as its sentence where there is only text."""

    svg: str
    alt: str

    def _repr_html_(self) -> str:
        return f'<figure class="kv-figure" style="margin-inline: 0; overflow-x: auto">{self.svg}</figure>'

    def __repr__(self) -> str:
        return f"figure: {self.alt}"


def show(fig: Figure, *, alt: str) -> Picture:
    """`fig` as a picture whose colours follow the page; the same figure and `alt` always give the same text.

    `alt` says in a sentence what a reader sees, for those who do not see it. Raises BadInput if it is not a
    sentence, or if the figure has a colour that is not one of this module's or an image of pixels, which no theme
    could follow.
    """
    if not _is_sentence(alt):
        raise BadInput(
            f"alt is {alt!r}; give a sentence that says what the figure shows: three words or more, a full stop, and "
            "no control characters"
        )
    drawn = io.StringIO()
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": alt}):
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        fig.savefig(drawn, format="svg", transparent=True, metadata=nothing)
    plt.close(fig)  # a figure of pyplot's would be drawn by the notebook a second time
    return Picture(_for_the_page(drawn.getvalue(), alt), alt)


def _is_sentence(alt: object) -> bool:
    if not isinstance(alt, str) or alt.translate(ESCAPES) != alt:
        return False
    return len(re.findall(r"\w+", alt)) >= 3 and alt.rstrip().endswith(".")


def _for_the_page(drawn: str, alt: str) -> str:
    """Matplotlib's SVG document as an element that leaves the rest of the page alone and takes its font and colours."""
    if "<image" in drawn:
        raise BadInput(
            "the figure has an image of pixels, whose colours cannot follow the page; draw each cell as a "
            "Rectangle in one of this module's colours, with alpha= for a lighter one"
        )
    root = ElementTree.fromstring(re.sub(r' xmlns="[^"]*"|xlink:(?=href)', "", drawn.translate(ESCAPES)))
    referenced = set(re.findall(r'(?:href="#|url\(#)([^")]+)', drawn))
    for element in root.iter():
        if element.get("id") not in referenced:
            element.attrib.pop("id", None)
        for name in {"d", "x", "y", "transform", "width", "height"} & element.attrib.keys():
            element.set(name, re.sub(r"-?\d+\.\d+", lambda number: f"{float(number[0]):.2f}", element.get(name, "")))
        if "fill" in element.attrib:
            element.set("style", f"fill: {element.attrib.pop('fill')}")
        style = re.sub(r"font-family:[^;]*;?", "", element.get("style", ""))
        if style:
            element.set("style", re.sub(r"#[0-9a-f]{6}\b", variable, style).strip())
        for sheet in element.findall("style"):
            element.remove(sheet)  # its one rule is for `*`: all elements of the page
    _, _, width, height = root.get("viewBox", "").split()
    root.attrib.clear()
    root.attrib |= {
        "role": "img",
        "aria-label": alt,
        "viewBox": f"0 0 {width} {height}",
        "style": f"width: 100%; min-width: {min(LEAST_WIDTH, float(width)):g}px; "
        f"max-width: {1.4 * float(width):g}px; height: auto; fill: {variable(INK)}; "
        "stroke-linejoin: round; font-family: var(--kv-sans, sans-serif)",
    }
    return ElementTree.tostring(root, encoding="unicode")


def variable(colour: "str | re.Match[str]") -> str:
    """The page's own colour that stands for one of this module's, as CSS. Raises BadInput for any other."""
    given = colour if isinstance(colour, str) else colour[0]
    if given not in _VARIABLES:
        allowed = "PAPER, INK, MUTED, GRID, PREFILL, DECODE or sequence_colour(i)"
        raise BadInput(f"the figure has the colour {given}; use {allowed}, with alpha= for a lighter one")
    return _VARIABLES[given].format(given)
