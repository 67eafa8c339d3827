"""What a probe yields where a law does not hold."""

from typing import Any

from kvlib.grading.exercise import Seen


def seen(law: str, value: Any, fault: str) -> Seen:
    """A law and what was seen of it, or that it is broken, where there is a fault."""
    return Seen(law, "broken" if fault else value, fault)


class Broken(Exception):
    """A law that does not hold, and what to tell the learner; `seen` is what the probe yields then."""

    def __init__(self, law: str, fault: str) -> None:
        super().__init__(fault)
        self.seen = seen(law, None, fault)
