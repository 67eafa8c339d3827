"""The elements that the exploded drawing is made of."""

from xml.etree.ElementTree import Element

from kvlib.show.exploded_machine import Machine
from kvlib.show.exploded_space import end, floor, wall


def path(kind: str, d: str) -> Element:
    """A shape of the style `kind`."""
    return Element("path", {"class": kind, "d": d})


def write(text: str, transform: str, kind: str) -> Element:
    """A text where `transform` puts it."""
    element = Element("text", {"class": kind, "transform": transform})
    element.text = text
    return element


def group(kind: str, *elements: Element) -> Element:
    """Elements of one style."""
    gathered = Element("g", {"class": kind})
    gathered.extend(elements)
    return gathered


def owned(machine: Machine, seqs: list[str], kind: str, *elements: Element) -> Element:
    """Elements in the colour of a sequence, or in that of the text where they are several's."""
    [seq, *others] = seqs
    colour = "ink" if others else f"seq-{'abcdef'[machine.board.numbers[seq] % 6]}"
    gathered = group(kind, *elements)
    gathered.set("style", f"--seq: var(--{colour})")
    return gathered


def slab(x: float, y: float, z: float, width: float, depth: float, height: float) -> list[Element]:
    """A box as it is seen from the right, the front and above."""
    return [
        path("left", wall(x, y + depth, z, width, height)),
        path("right", end(x + width, y, z, depth, height)),
        path("top", floor(x, y, z + height, width, depth)),
    ]
