"""Many things that wait for other processes at once, with a bar that counts what is done."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from kvlib.errors import MissingPackage

try:
    import joblib  # type: ignore[import-untyped]
    import tqdm
except ImportError as error:
    raise MissingPackage("grading needs joblib and tqdm; in the clone, run: pip install '.[sweep]'") from error

Done = Callable[[], object]
Found = TypeVar("Found")


def together(tasks: Sequence[Callable[[Done], Found]], jobs: int, total: int, what: str) -> list[Found]:
    """What each task returns, in order; `jobs` at once, -1 for as many as there are cores.

    A task is given what it calls for each of the `total` things that it does. The bar, on the standard error, is shown
    only on a terminal. What a task raises ends all.
    """
    with tqdm.tqdm(total=total, desc=what, unit="exercise", disable=None if total else True) as bar:
        return joblib.Parallel(n_jobs=jobs, backend="threading")(joblib.delayed(task)(bar.update) for task in tasks)
