"""The level parts of the machine, from the ground up: base, layer plates, block boards, cover."""

from collections.abc import Iterable
from xml.etree.ElementTree import Element

from kvlib.show.exploded_ink import group, owned, path, slab, write
from kvlib.show.exploded_machine import (
    BASE,
    BASE_THICKNESS,
    BOARD_THICKNESS,
    BOARDS,
    COVER,
    COVER_THICKNESS,
    PLATES,
    PLATES_THICKNESS,
    Machine,
)
from kvlib.show.exploded_space import disc, floor, on_end
from kvlib.sizing import MiB


def base(machine: Machine) -> list[Element]:
    """The tray that all stands in; on its side the bytes of the whole memory."""
    width, depth, rim = machine.width, machine.depth, 0.7 * machine.cell
    engraved = f"{machine.num_blocks * machine.spec.block_bytes(machine.block_size) / MiB:.4g} MiB"
    return [
        *slab(0, 0, BASE, width, depth, BASE_THICKNESS),
        path("recess", floor(rim, rim, BASE + BASE_THICKNESS, width - 2 * rim, depth - 2 * rim)),
        write(engraved, on_end(width, depth / 2, BASE + 3), "engraved"),
    ]


def plates(machine: Machine) -> list[Element]:
    """One plate for each layer, thin and close together, every tenth with a stronger edge."""
    num_layers = machine.spec.num_layers
    heights = [PLATES + PLATES_THICKNESS * layer / num_layers for layer in range(1, num_layers + 1)]
    return [
        path("plate" + " tenth" * (layer % 10 == 0), floor(0, 0, height, machine.width, machine.depth))
        for layer, height in enumerate(heights, start=1)
    ] + [path("bore", _discs(machine, machine.blocks, heights[-1], 0.2))]


def boards(machine: Machine) -> list[Element]:
    """One board for each block, with a hole for each slot; those in use have the colour of their owner."""
    return [_board(machine, block) for block in machine.blocks]


def _board(machine: Machine, block: int) -> Element:
    x, y = machine.corner(block)
    parts = slab(x, y, BOARDS, machine.block_size * machine.cell, machine.cell, BOARD_THICKNESS)
    parts.append(path("hole", _discs(machine, [block], BOARDS + BOARD_THICKNESS, 0.27)))
    owners = machine.board.owners(block)
    if not owners:
        return group("board", *parts)
    followed = machine.followed is not None and machine.followed.block == block
    return owned(machine, owners, "board used" + " followed" * followed, *parts)


def cover(machine: Machine) -> list[Element]:
    """The sheet on top, with a square slot over each hole; that of the followed token has its colour."""
    slots = "".join(_slot(machine, block, slot) for block in machine.blocks for slot in range(machine.block_size))
    sheet = [
        *slab(0, 0, COVER, machine.width, machine.depth, COVER_THICKNESS),
        path("slot", slots),
    ]
    token = machine.followed
    if token is not None:
        sheet.append(owned(machine, [token.seq], "taken", path("slot", _slot(machine, token.block, token.slot))))
    return sheet


def _slot(machine: Machine, block: int, slot: int) -> str:
    (x, y), side = machine.hole(block, slot), 0.64 * machine.cell
    return floor(x - side / 2, y - side / 2, COVER + COVER_THICKNESS, side, side)


def _discs(machine: Machine, blocks: Iterable[int], z: float, radius: float) -> str:
    places = (machine.hole(block, slot) for block in blocks for slot in range(machine.block_size))
    return "".join(disc(x, y, z, radius * machine.cell) for x, y in places)
