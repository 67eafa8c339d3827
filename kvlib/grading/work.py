"""What a grader keeps while it works, so that one that was stopped goes on where it was. For its owner's eyes only."""

import hashlib
import json
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from kvlib import __version__
from kvlib.grading.judge import Broken, Result
from kvlib.grading.whole_file import PRIVATE, write_whole

SEED = "seed"
SEEDS = (10**6, 10**12)
"""What a secret seed is drawn from: far above those that a learner's check uses."""


class Work:
    """A folder with the seed and a file for each thing that is known. Raises OSError where it cannot be written."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        self._folder = folder

    def seed(self, wanted: int | None = None) -> int:
        """The seed that is `wanted`; else that of a run that did not end; else a new one that nobody can know."""
        if wanted is not None:
            return wanted
        path = self._folder / SEED
        with suppress(OSError, ValueError):
            return int(path.read_text(encoding="ascii"))
        seed = SEEDS[0] + secrets.randbelow(SEEDS[1] - SEEDS[0])
        write_whole(path, f"{seed}\n", PRIVATE)
        return seed

    def forget_seed(self) -> None:
        """Have the next run draw another one: reports show what this one expects."""
        (self._folder / SEED).unlink(missing_ok=True)

    def load(self, key: str) -> Any:
        """What was kept under `key`, or None."""
        try:
            return json.loads((self._folder / f"{key}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def keep(self, key: str, value: object) -> None:
        """Keep what JSON can hold."""
        write_whole(self._folder / f"{key}.json", json.dumps(value, ensure_ascii=False), PRIVATE)


def digest(*parts: object) -> str:
    """A key for what follows from the `repr` of `parts`, and from the text of kvlib."""
    return hashlib.sha256(_own_text() + repr(parts).encode()).hexdigest()[:32]


def as_data(results: Mapping[str, Result]) -> dict[str, Any]:
    """Results by exercise, as JSON holds them."""
    return {exercise: result._asdict() for exercise, result in results.items()}


def from_data(data: Any, exercises: Iterable[str]) -> dict[str, Result] | None:
    """What as_data was given; None if `data` is none of it."""
    try:
        return {
            exercise: Result(**{**data[exercise], "broken": tuple(Broken(*each) for each in data[exercise]["broken"])})
            for exercise in exercises
        }
    except (KeyError, TypeError):
        return None


@cache
def _own_text() -> bytes:
    root = Path(__file__).parents[1]
    files = sorted(root.rglob("*.py"))
    return __version__.encode() + b"".join(hashlib.sha256(path.read_bytes()).digest() for path in files)
