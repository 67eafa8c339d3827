import importlib
import io
import math
import re
import sys
from itertools import combinations
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from kvlib.errors import BadInput, MissingPackage
from kvlib.show import figures
from kvlib.show.figures import DECODE, INK, PAPER, PREFILL, Picture, figure, sequence_colour, sequence_letter, show

ALT = "A line that rises from one to three."
BOOK_CSS = Path(__file__).parents[2] / "book" / "static" / "book.css"
NAMES = ["paper", "ink", "muted", "grid", "prefill", "decode", *(f"seq-{letter}" for letter in "abcdef")]


def drawn(alt: str = ALT, colour: str = DECODE) -> Picture:
    with figure(400, 220) as fig:
        ax = fig.subplots()
        ax.plot([1, 2, 3], [1, 2, 3], color=colour, marker="o")
        ax.set_title("milliseconds a token")
    return show(fig, alt=alt)


def test_page_gets_a_figure_with_its_text_and_a_terminal_the_text_alone() -> None:
    html = drawn()._repr_html_()
    assert html.startswith(
        '<figure class="kv-figure" style="margin-inline: 0; overflow-x: auto"><svg role="img" aria-label="A line that'
    )
    assert repr(drawn()) == f"figure: {ALT}"


@pytest.mark.parametrize(("width", "least"), [(400, 320), (200, 200)])
def test_figure_is_not_made_smaller_than_its_type_can_be_read(width: int, least: int) -> None:
    with figure(width, 100) as fig:
        fig.subplots()
    assert f"width: 100%; min-width: {least}px; max-width: {1.4 * width:g}px" in show(fig, alt="Two empty axes.").svg


@pytest.mark.parametrize(
    "alt",
    ["", "   ", "figure.", "a line that rises", "... . .", None, 3, "A line\x00 that rises.", "A \ud800 in a line."],
)
def test_text_that_is_no_sentence_is_refused(alt: str) -> None:
    with pytest.raises(BadInput, match="sentence"):
        drawn(alt)


def test_text_with_markup_characters_stays_text() -> None:
    assert 'aria-label="Less than &lt; &amp; &quot;quoted&quot; in one."' in drawn('Less than < & "quoted" in one.').svg


def test_same_figure_gives_the_same_bytes() -> None:
    assert drawn().svg == drawn().svg


def test_two_figures_on_one_page_share_no_id() -> None:
    first, second = (set(re.findall(r'id="([^"]+)"', drawn(alt).svg)) for alt in (ALT, "Another line that rises."))
    assert first
    assert second
    assert not first & second


def test_every_id_that_is_left_is_used_and_every_use_has_its_id() -> None:
    svg = drawn().svg
    assert set(re.findall(r'id="([^"]+)"', svg)) == set(re.findall(r'(?:href="#|url\(#)([^")]+)', svg))


def test_figure_leaves_the_page_alone() -> None:
    svg = drawn().svg
    for intruder in ("<style", "<metadata", "xmlns", "<?xml", "<!DOCTYPE", "DejaVu"):
        assert intruder not in svg


def test_colours_follow_the_page_and_fall_back_to_the_light_ones() -> None:
    svg = drawn().svg
    assert f"var(--kv-decode, {DECODE})" in svg
    assert f"var(--kv-muted, var(--jp-ui-font-color2, {figures.MUTED}))" in svg
    assert not re.search(r"(?<!, )#[0-9a-f]{6}\b", svg)


@pytest.mark.parametrize("colour", ["#ff0000", "red", "0.5"])
def test_colour_that_no_theme_could_follow_is_refused(colour: str) -> None:
    with pytest.raises(BadInput, match="PREFILL"):
        drawn(colour=colour)


def test_image_of_pixels_is_refused_since_no_theme_could_follow() -> None:
    with figure() as fig:
        fig.subplots().imshow([[0, 1], [1, 0]], cmap="gray")
    with pytest.raises(BadInput, match=r"image of pixels.*Rectangle"):
        show(fig, alt=ALT)


def test_characters_that_xml_cannot_hold_are_escaped() -> None:
    with figure() as fig:
        fig.text(0.1, 0.5, "a\x1bb")
    with pytest.warns(UserWarning, match="Glyph"):
        picture = show(fig, alt=ALT)
    assert "a\\x1bb" in picture.svg


@pytest.mark.parametrize("size", [(-1, 5), (math.nan, 4), (4, math.inf), (0, 4), ("4", 4), (4, None)])
def test_figure_without_a_size_in_pixels_is_refused(size: tuple) -> None:
    with pytest.raises(BadInput, match="in pixels"), figure(*size):
        pass


def test_figure_made_with_pyplot_is_not_drawn_a_second_time() -> None:
    with figure():
        fig, ax = plt.subplots()
        ax.plot([1, 2], [1, 2], color=INK)
    show(fig, alt=ALT)
    assert plt.get_fignums() == []


def test_style_ends_with_the_block() -> None:
    before = dict(plt.rcParams)
    drawn()
    assert dict(plt.rcParams) == before


def test_slide_gets_real_colours_on_paper_at_the_size_asked() -> None:
    with figure(400, 200) as fig:
        fig.subplots().fill_between([0, 1], [1, 1], color=PREFILL)
    file = io.BytesIO()
    fig.savefig(file, format="png", dpi=144)
    pixels = plt.imread(io.BytesIO(file.getvalue()))
    colours = {tuple(round(255 * float(part)) for part in pixel[:3]) for row in pixels for pixel in row}
    assert pixels.shape[:2] == (400, 800)
    assert {rgb(PAPER), rgb(PREFILL)} <= colours


def test_sequences_have_letters_beyond_the_alphabet_and_colours_that_begin_again() -> None:
    assert [sequence_letter(i) for i in (0, 25, 26, 51, 52, 702)] == ["A", "Z", "AA", "AZ", "BA", "AAA"]
    assert sequence_colour(6) == sequence_colour(0)
    assert len({sequence_colour(i) for i in range(6)}) == 6


@pytest.mark.parametrize("index", [-1, "a", None, 1.0])
def test_sequence_without_a_number_from_0_on_is_refused(index: object) -> None:
    for name in (sequence_colour, sequence_letter):
        with pytest.raises(BadInput, match=f"sequence number is {index!r}"):
            name(index)


def theme(rule: str) -> dict[str, str]:
    """The colours of one rule of the book's style sheet, by name."""
    block = BOOK_CSS.read_text().split(rule + " {", 1)[1].split("}", 1)[0]
    return dict(re.findall(r"--kv-([\w-]+): (#[0-9a-f]{6});", block))


LIGHT, DARK = ":root", 'html[data-theme="dark"]'


def test_page_and_figures_have_the_same_colours() -> None:
    given = (PAPER, INK, figures.MUTED, figures.GRID, PREFILL, DECODE, *figures.SEQUENCES)
    light = theme(LIGHT)
    assert tuple(light[name] for name in NAMES) == given
    assert theme(DARK).keys() == light.keys()


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))


def linear(colour: str) -> list[float]:
    parts = [part / 255 for part in rgb(colour)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def times(matrix: tuple[tuple[float, ...], ...], vector: list[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def contrast(one: str, other: str) -> float:
    """The ratio of WCAG 2, from 1 to 21."""
    low, high = sorted(times(((0.2126, 0.7152, 0.0722),), linear(colour))[0] for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("rule", [LIGHT, DARK])
def test_every_colour_can_be_read_on_the_page_and_in_its_boxes(rule: str) -> None:
    colours = theme(rule)
    for name in set(NAMES) - {"paper", "grid"}:
        assert contrast(colours[name], colours["paper"]) >= 4.5, name
        assert contrast(colours[name], colours["surface"]) >= 4.5, name


def oklab(light: list[float]) -> list[float]:
    """Ottosson 2020, https://bottosson.github.io/posts/oklab/"""
    to_cones = (
        (0.4122214708, 0.5363325363, 0.0514459929),
        (0.2119034982, 0.6806995451, 0.1073969566),
        (0.0883024619, 0.2817188376, 0.6299787005),
    )
    to_lab = (
        (0.2104542553, 0.7936177850, -0.0040720468),
        (1.9779984951, -2.4285922050, 0.4505937099),
        (0.0259040371, 0.7827717662, -0.8086757660),
    )
    return times(to_lab, [cone ** (1 / 3) for cone in times(to_cones, light)])


EYES = {  # Machado, Oliveira and Fernandes 2009, severity 1
    "full": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("rule", [LIGHT, DARK])
def test_no_two_colours_with_a_meaning_look_alike(rule: str, eye: str) -> None:
    colours = theme(rule)
    seen = {
        name: oklab([min(max(part, 0.0), 1.0) for part in times(EYES[eye], linear(colours[name]))])
        for name in NAMES[4:]
    }
    for one, other in combinations(seen, 2):
        apart = sum((a - b) ** 2 for a, b in zip(seen[one], seen[other], strict=True)) ** 0.5
        assert apart >= 0.075, (one, other)


@pytest.mark.parametrize(
    ("module", "package"),
    [("figures", "matplotlib"), ("memory", "matplotlib"), ("source", "pygments")],
)
def test_module_without_its_package_says_how_to_get_it(monkeypatch, module: str, package: str) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == package or name.startswith("kvlib.show.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage, match=f"{package}; in the clone, run: pip install"):
        importlib.import_module(f"kvlib.show.{module}")
