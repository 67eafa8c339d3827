"""The pins: a key and a value for each token that is stored, and the way of the newest through the machine."""

from xml.etree.ElementTree import Element

from kvlib.show.exploded_ink import group, owned, path, write
from kvlib.show.exploded_machine import BOARD_THICKNESS, BOARDS, COVER, PINS, PLATES, PLATES_THICKNESS, Machine, Token
from kvlib.show.exploded_space import disc, drum, end, floor, outline, wall

MARKS = ("solid", "hollow", "dotted", "barred")
"""Tops of keys: the sequences of a machine differ in more than colour."""

ENLARGED = 36  # pixels of the pin that is shown larger


def pins(machine: Machine) -> list[Element]:
    """A pin over each slot that holds a token, those at the back first, and the way from one of them to the cover."""
    places = sorted((sum(machine.hole(token.block, token.slot)), token) for token in machine.tokens())
    return [_way(machine, BOARDS + BOARD_THICKNESS, COVER), *(_over_its_slot(machine, token) for _, token in places)]


def way_below(machine: Machine) -> list[Element]:
    """The way of the followed token from the plates to its board."""
    return [_way(machine, PLATES + PLATES_THICKNESS, BOARDS)]


def enlarged(machine: Machine, left: float, top: float) -> Element:
    """One pin of the first sequence, large, with the names of what it is made of."""
    pin = _pin(0, 0, 0, ENLARGED)
    if machine.followed is not None:
        pin = [_marked(machine, [machine.followed.seq], pin)]
    captions = (("key: round", 13, -24), ("value: square", 23, 0), (f"through {machine.spec.num_layers} plates", 4, 33))
    for text, edge, height in captions:
        pin += [path("leader", f"M{edge} {height}H33"), write(text, f"translate(37 {height + 3.5})", "caption")]
    gathered = group("enlarged", *pin)
    gathered.set("transform", f"translate({left} {top})")
    return gathered


def _way(machine: Machine, bottom: float, top: float) -> Element:
    token = machine.followed
    if token is None:
        return group("way")
    x, y = machine.hole(token.block, token.slot)
    thread = outline((x, y, bottom), (x, y, top), closed=False)
    hole = disc(x, y, bottom, 0.2 * machine.cell)
    return owned(machine, [token.seq], "way", path("bore", hole), path("thread", thread))


def _over_its_slot(machine: Machine, token: Token) -> Element:
    x, y = machine.hole(token.block, token.slot)
    return _marked(machine, machine.board.owners(token.block), _pin(x, y, PINS, machine.cell))


def _marked(machine: Machine, seqs: list[str], pin: list[Element]) -> Element:
    mark = MARKS[machine.board.numbers[seqs[0]] % len(MARKS)] if len(seqs) == 1 else "solid"
    return owned(machine, seqs, f"pin {mark}", *pin)


def _pin(x: float, y: float, z: float, size: float) -> list[Element]:
    side, thick, radius, high = 0.66 * size, 0.3 * size, 0.25 * size, 0.6 * size
    left, back, top = x - side / 2, y - side / 2, z + thick + high
    mark = outline((x - radius, y, top), (x + radius, y, top), closed=False)
    return [
        path("stem", drum(x, y, z - size, 0.07 * size, size)),
        path("value", wall(left, back + side, z, side, thick)),
        path("value shade", end(left + side, back, z, side, thick)),
        path("value light", floor(left, back, z + thick, side, side)),
        path("key", drum(x, y, z + thick, radius, high)),
        path("key light", disc(x, y, top, radius)),
        path("dot", disc(x, y, top, 0.45 * radius)),
        path("bar", mark),
    ]
