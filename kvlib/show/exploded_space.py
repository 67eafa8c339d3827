"""Isometric space on a page: x runs right and down, y left and down, z up; a pixel is as long along each of them.

Functions return the text of an SVG path, or of a transform.
"""

from math import sqrt

COS, SIN = sqrt(3) / 2, 1 / 2

Point = tuple[float, float, float]


def flat(x: float, y: float, z: float) -> tuple[float, float]:
    """Where a point in space lies on the page, in pixels right of and below the origin."""
    return (x - y) * COS, (x + y) * SIN - z


def outline(*points: Point, closed: bool = True) -> str:
    """Straight lines from point to point."""
    places = (flat(*point) for point in points)
    return "M" + "L".join(f"{x:.2f} {y:.2f}" for x, y in places) + "Z" * closed


def floor(x: float, y: float, z: float, width: float, depth: float) -> str:
    """A level rectangle, `width` along x and `depth` along y."""
    return outline((x, y, z), (x + width, y, z), (x + width, y + depth, z), (x, y + depth, z))


def wall(x: float, y: float, z: float, width: float, height: float) -> str:
    """An upright rectangle that faces left and front: `width` along x, `height` up."""
    return outline((x, y, z), (x + width, y, z), (x + width, y, z + height), (x, y, z + height))


def end(x: float, y: float, z: float, depth: float, height: float) -> str:
    """An upright rectangle that faces right and front: `depth` along y, `height` up."""
    return outline((x, y, z), (x, y + depth, z), (x, y + depth, z + height), (x, y, z + height))


def disc(x: float, y: float, z: float, radius: float) -> str:
    """A level circle."""
    (across, down), wide, high = flat(x, y, z), radius * sqrt(2) * COS, radius * sqrt(2) * SIN
    arc = f"a{wide:.2f} {high:.2f} 0 1 0 "
    return f"M{across - wide:.2f} {down:.2f}{arc}{2 * wide:.2f} 0{arc}{-2 * wide:.2f} 0Z"


def drum(x: float, y: float, z: float, radius: float, height: float) -> str:
    """The side of an upright cylinder, with its bottom; its top is a disc at `z + height`."""
    (across, down), wide, high = flat(x, y, z), radius * sqrt(2) * COS, radius * sqrt(2) * SIN
    return (
        f"M{across - wide:.2f} {down - height:.2f}v{height:.2f}"
        f"a{wide:.2f} {high:.2f} 0 0 0 {2 * wide:.2f} 0v{-height:.2f}Z"
    )


def on_wall(x: float, y: float, z: float) -> str:
    """The transform that writes on a wall, from this point along x."""
    across, down = flat(x, y, z)
    return f"matrix({COS:.4f} {SIN:g} 0 1 {across:.2f} {down:.2f})"


def on_end(x: float, y: float, z: float) -> str:
    """The transform that writes on an end, from this point against y."""
    across, down = flat(x, y, z)
    return f"matrix({COS:.4f} {-SIN:g} 0 1 {across:.2f} {down:.2f})"
