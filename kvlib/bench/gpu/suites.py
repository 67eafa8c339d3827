"""The parts of a run, in their order."""

from collections.abc import Sequence

SHARES = {"env": 60, "grid": 40, "decode": 90, "ablations": 70, "baselines": 70}
"""What part of the time each suite may take; env has the compilation of the kernels of all others."""

DEADLINE_S = 330


def chosen(suites: Sequence[str]) -> list[str]:
    """These suites in their order, and env, with which all others are compared."""
    return [suite for suite in SHARES if suite in ("env", *suites)]
