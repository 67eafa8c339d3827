"""A replica of the machine, taken apart: a drawing whose parts are links to what they stand for.

It has a cover with slots, boards for blocks, pins for tokens, plates for layers and a base; behind it stand
the block tables, in front the text. What it holds is the state of a board.
"""

from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from kvlib.errors import BadInput
from kvlib.show.board import Board
from kvlib.show.exploded_ink import path
from kvlib.show.exploded_labels import Label, link
from kvlib.show.exploded_machine import (
    BASE,
    BASE_THICKNESS,
    BOARDS,
    COVER,
    COVER_THICKNESS,
    PINS,
    PLATES,
    PLATES_THICKNESS,
    SPAN,
    TABLE,
    Machine,
)
from kvlib.show.exploded_pins import MARKS, enlarged, pins, way_below
from kvlib.show.exploded_plates import base, boards, cover, plates
from kvlib.show.exploded_space import COS, flat, outline
from kvlib.show.exploded_style import STYLE
from kvlib.show.exploded_words import BEHIND, letters, letters_bottom, pointer, table, table_height
from kvlib.show.figures import LEAST_WIDTH, Picture, sequence_letter
from kvlib.sizing import ModelSpec

WIDTH, TOP, RIGHT = 360, 10, 17  # pixels: of the drawing, and beside the machine
COLUMN = 34  # x of the discs
LEAST_CELL = 5  # pixels of a token's place


def exploded(board: Board, spec: ModelSpec) -> Picture:
    """The machine with the blocks, tokens and tables of `board`, and a plate for each layer of `spec`.

    Each part is a link to the anchor `part-` and its name in PARTS. Raises BadInput for a board that more sequences
    hold than the drawing can tell apart, or whose blocks would be too small to see.
    """
    machine = Machine(board, spec)
    _check(machine)
    left = WIDTH - RIGHT - SPAN
    across, down = left + machine.depth * COS, TOP + TABLE + table_height(machine)  # of the corner at the back
    alt = _alt(machine)
    height = down + letters_bottom(machine) + TOP
    svg = Element(
        "svg",
        {
            "class": "kv-exploded",
            "viewBox": f"0 0 {WIDTH} {height:.0f}",
            "role": "group",  # of an image, nothing inside could be a link
            "aria-label": alt,
            "style": f"width: 100%; min-width: {LEAST_WIDTH}px; max-width: {1.4 * WIDTH:g}px; height: auto",
        },
    )
    SubElement(svg, "style").text = STYLE
    scene = SubElement(svg, "g", {"transform": f"translate({across:.2f} {down:.2f})", "aria-hidden": "true"})
    scene.extend(_axes(machine))
    for part, elements in _parts(machine, -across, -down):
        anchor = SubElement(scene, "a", {"href": f"#part-{part}", "tabindex": "-1", "class": f"part {part}"})
        anchor.extend(elements)
    for number, label in enumerate(_labels(machine, across, down), start=1):
        svg.append(link(number, label))
    return Picture(ElementTree.tostring(svg, encoding="unicode"), alt)


def _check(machine: Machine) -> None:
    if len(machine.board.tables) > len(MARKS):
        raise BadInput(
            f"{len(machine.board.tables)} sequences hold memory; the drawing tells {len(MARKS)} apart: take a step "
            "with fewer"
        )
    if machine.num_blocks < 1 or machine.block_size < 1 or machine.cell < LEAST_CELL:
        raise BadInput(
            f"the memory has {machine.num_blocks} blocks of {machine.block_size} slots; the drawing shows up to some "
            f"200 slots, and of those 1 or more: take a smaller memory"
        )


def _parts(machine: Machine, left: float, top: float) -> list[tuple[str, list[Element]]]:
    """The parts in the order in which they are painted, from the back and the ground up."""
    return [
        ("base", base(machine)),
        ("plates", plates(machine)),
        ("pins", way_below(machine)),
        ("boards", boards(machine)),
        ("table", pointer(machine)),
        ("pins", [*pins(machine), enlarged(machine, left + 35, top + 56)]),
        ("table", table(machine)),
        ("cover", cover(machine)),
        ("type", letters(machine)),
    ]


def _axes(machine: Machine) -> list[Element]:
    """Along which the levels were pulled apart."""
    corners = ((0, machine.depth), (machine.width, 0))
    return [path("axis", outline((x, y, BASE), (x, y, COVER), closed=False)) for x, y in corners]


def _labels(machine: Machine, across: float, down: float) -> list[Label]:
    log, spec = machine.board.log, machine.spec
    left = across + flat(0, machine.depth, 0)[0]
    pin = flat(*machine.hole(1, 0), PINS)

    def level(z: float) -> float:
        return down + flat(0, machine.depth, z)[1]

    ground = level(BASE + BASE_THICKNESS / 2)
    face = across + flat(0, BEHIND, 0)[0]
    return [
        Label("cover", "cover", "slots", COLUMN, level(COVER + COVER_THICKNESS / 2), left),
        Label("pins", "pins", "keys and values", COLUMN, down + pin[1], across + pin[0] - machine.cell),
        Label("boards", f"{log.num_blocks} boards", "blocks", COLUMN, level(BOARDS), left + machine.cell / 2),
        Label("plates", f"{spec.num_layers} plates", "layers", COLUMN, level(PLATES + PLATES_THICKNESS / 2), left),
        Label("base", "base", "the memory", COLUMN, ground, left),
        Label("table", "flip board", "block tables", face - 36, TOP + 36, face),
        Label("type", "type", "tokens and text", COLUMN, ground + 74, left - 18),
    ]


def _alt(machine: Machine) -> str:
    board = machine.board
    rows = [
        f"{sequence_letter(board.numbers[seq])} {' '.join(map(str, held.blocks))}" for seq, held in board.tables.items()
    ]
    slots = machine.num_blocks * machine.block_size
    return (
        f"The machine taken apart, from the top: a cover with {slots} slots; {len(machine.tokens())} pins, each a "
        f"round key on a square value; {machine.num_blocks} boards of {machine.block_size} holes; "
        f"{machine.spec.num_layers} plates; a base. Behind it the flip board of the block tables: "
        f"{'; '.join(rows) or 'empty'}. In front of it the type, without colour where a token has no pin yet."
    )
