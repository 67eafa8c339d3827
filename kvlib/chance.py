"""Seeded chance that is the same on every interpreter: counted draws of SplitMix64.

Every draw is a function of (seed, stream, index) alone. A stream is one thing that is drawn, so that drawing more of
one thing shifts no other. Bits, ints and fractions agree everywhere; what goes through `math` agrees to the last
digit or so, as math libraries do.

Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
"""

import math

from kvlib.checks import whole
from kvlib.errors import BadConfig

WORD = (1 << 64) - 1


def mix(seed: int, stream: int, index: int) -> int:
    """64 bits that look independent for any two different triples of ints, of which the low 64 bits count."""
    return _scramble(_scramble(_scramble(seed & WORD) ^ stream) ^ index)


class Chance:
    """A sequence of draws. Draw number `index` takes its bits from `mix(seed, stream, index)`.

    The same seed and stream give the same draws again. Raises BadConfig for a `seed` or `stream` that is no
    plain int of at least 0.
    """

    __slots__ = ("_base", "index")

    def __init__(self, seed: int, stream: int = 0) -> None:
        self._base = _scramble(_scramble(whole("seed", seed, 0) & WORD) ^ whole("stream", stream, 0))
        self.index = 0

    def bits(self) -> int:
        """64 random bits, an int of 0 to 2**64 - 1."""
        drawn = _scramble(self._base ^ self.index)
        self.index += 1
        return drawn

    def below(self, n: int) -> int:
        """An int of 0 to n - 1, each equally likely but for a bias under n / 2**64. BadConfig if n is below 1."""
        return self.bits() % whole("n", n)

    def fraction(self) -> float:
        """A multiple of 2**-53, from 0 to below 1, each equally likely."""
        return (self.bits() >> 11) / (1 << 53)

    def exponential(self, mean: float) -> float:
        """The gap to the next event of a Poisson process whose gaps average `mean`."""
        return -mean * math.log(1.0 - self.fraction())

    def normal(self) -> float:
        """Gaussian, mean 0 and standard deviation 1 (Box and Muller 1958, one of the pair)."""
        radius = math.sqrt(-2.0 * math.log(1.0 - self.fraction()))
        return radius * math.cos(2.0 * math.pi * self.fraction())

    def lognormal(self, median: float, sigma: float) -> float:
        """`median` times e to a Gaussian of standard deviation `sigma`."""
        return median * math.exp(sigma * self.normal())

    def gamma(self, shape: float, scale: float) -> float:
        """Gamma of mean shape * scale and coefficient of variation 1 / sqrt(shape).

        Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 2000. Raises BadConfig for
        a shape below 1, which their method does not cover.
        """
        if not shape >= 1:
            raise BadConfig(f"shape is {shape!r}; this method draws gammas of shape 1 and above. Give at least 1.")
        d = shape - 1.0 / 3.0
        c = 1.0 / math.sqrt(9.0 * d)
        while True:
            x = self.normal()
            root = 1.0 + c * x
            v = root * root * root
            if v > 0 and math.log(1.0 - self.fraction()) < 0.5 * x * x + d - d * v + d * math.log(v):
                return d * v * scale


def _scramble(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) & WORD
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & WORD
    return x ^ (x >> 31)
