"""The numbers and names beside the drawing: links, in the order in which the machine is taken apart."""

from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement

from kvlib.show.exploded_ink import path, write

PARTS = ("cover", "pins", "boards", "plates", "base", "table", "type")
"""The parts that can be pointed at, in the order of their numbers."""

RADIUS = 13.5  # of a disc, so that a finger meets it on the narrowest page


class Label(NamedTuple):
    """A part's name in links and styles, its name on the page, what it stands for, where its disc is, in pixels, and
    the x at which the line from there meets the part."""

    part: str
    name: str
    meaning: str
    x: float
    y: float
    meets: float


def link(number: int, label: Label) -> Element:
    """The disc with the number, the name under it and the line to the part, as one link."""
    part, name, meaning, x, y, meets = label
    anchor = Element(
        "a", {"href": f"#part-{part}", "class": f"label {part}", "aria-label": f"{number} {name}: {meaning}"}
    )
    anchor.append(path("leader", f"M{x + RADIUS:.2f} {y:.2f}H{meets:.2f}"))
    for kind, radius in (("ring", RADIUS + 3), ("disc", RADIUS)):
        SubElement(anchor, "circle", {"class": kind, "cx": f"{x:.2f}", "cy": f"{y:.2f}", "r": f"{radius:g}"})
    anchor.append(write(str(number), f"translate({x:.2f} {y + 4.5:.2f})", "digit"))
    anchor.append(write(name, f"translate({x:.2f} {y + RADIUS + 12.5:.2f})", "name"))
    return anchor
