"""A claim of the paper, what is simulated beside it, and how near is near enough."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol


class Job(NamedTuple):
    """`function(seed, *arguments)`, which a sweep may run anywhere. Two claims on the same job share its result."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class Allowed(Protocol):
    """What decides a verdict. `text` is shown; `verdict` compares a value with the paper's, from `low` to `high`."""

    @property
    def text(self) -> str: ...

    def verdict(self, ours: float, low: float, high: float) -> str: ...


NOT_REPRODUCED = "NOT reproduced"


@dataclass(frozen=True)
class Exact:
    """The same to this many decimals."""

    digits: int

    @property
    def text(self) -> str:
        return f"{self.digits} decimal" + "s" * (self.digits > 1)

    def verdict(self, ours: float, low: float, high: float) -> str:
        return "exact" if round(ours, self.digits) == round(low, self.digits) else NOT_REPRODUCED


@dataclass(frozen=True)
class Points:
    """At most `size` away, in the unit of the value."""

    size: float

    @property
    def text(self) -> str:
        return f"±{self.size:g}"

    def verdict(self, ours: float, low: float, high: float) -> str:
        return "inside" if low - self.size <= ours <= high + self.size else NOT_REPRODUCED


@dataclass(frozen=True)
class Percent:
    """At most `size` % of the paper's value away."""

    size: float

    @property
    def text(self) -> str:
        return f"±{self.size:g} %"

    def verdict(self, ours: float, low: float, high: float) -> str:
        share = self.size / 100
        return "inside" if low * (1 - share) <= ours <= high * (1 + share) else NOT_REPRODUCED


@dataclass(frozen=True)
class Between:
    """The shape of a curve or an order, where the paper gives words: above `least` and at most `most`."""

    least: float
    most: float

    @property
    def text(self) -> str:
        return f"above {self.least:g}" if self.most == float("inf") else f"up to {self.most:g}"

    def verdict(self, ours: float, low: float, high: float) -> str:
        return "shape" if self.least < ours <= self.most else NOT_REPRODUCED


def above(least: float) -> Between:
    """More than `least`."""
    return Between(least, float("inf"))


def up_to(most: float) -> Between:
    """At most `most`, for values that are never below 0."""
    return Between(-1.0, most)


@dataclass(frozen=True)
class Claim:
    """One line of the comparison. `numbers` are ids of the ledger: one value, or both ends of a range; where the paper
    has words only, `words` are they. `read` takes the results of `jobs` at one seed; without jobs, nobody simulated it.
    """

    what: str
    allowed: Allowed | None = None
    numbers: tuple[str, ...] = ()
    words: str = ""
    jobs: tuple[Job, ...] = ()
    read: Callable[..., float] = float
    digits: int = 1
    name: str = ""  # of our own value in the ledger, where it is not that of the paper's number

    @property
    def id(self) -> str:
        """What our own value is called in the ledger; empty where there is none."""
        name = self.name or (self.numbers[0] if self.numbers else "")
        return f"sim-{name}" if name and self.jobs else ""


@dataclass(frozen=True)
class Figure:
    """The claims of one figure, and what must be said of them."""

    title: str
    note: str
    claims: tuple[Claim, ...]
