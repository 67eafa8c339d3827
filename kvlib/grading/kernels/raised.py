"""What a kernel raised, in words: besides what any answer can, that it left its memory."""

from collections.abc import Iterable

from triton.runtime.jit import KernelInterface

from kvlib.errors import OutsideMemory
from kvlib.grading import raised
from kvlib.grading.kernels.accesses import Outside


def uncallable(answer: object, names: Iterable[str]) -> str:
    """Why `answer`, which is to launch a kernel, cannot be called with arguments of these names; "" if it can."""
    if isinstance(answer, KernelInterface):
        return f"{getattr(answer, '__name__', 'It')} is a kernel; give the function that launches it"
    return raised.uncallable(answer, names)


def described(error: BaseException, outside: Outside | None) -> str:
    """What was raised, in sentences; `outside` is what a watch says of it."""
    cause, where = raised.cause_and_line(error)
    if isinstance(cause, OutsideMemory) and outside is not None:
        return f"It leaves its memory{where}: {cause}. {_advice(outside)}"
    return raised.described(error)


def _advice(outside: Outside) -> str:
    """What to look at, by the tensor that was left."""
    grid = " x ".join(map(str, outside.launch.grid))
    if outside.nearest in ("key_cache", "value_cache"):
        return (
            "Mask the loads where there is no token, and look at how slots are made: the block from its own row of the "
            "table, the KV head head // GROUP, no further than the context (or the split) reaches."
        )
    if outside.nearest in ("", "block_tables"):
        return (
            "Is each block taken from the row of its own sequence in the table, from no further than the context "
            "reaches, and is that load masked?"
        )
    return f"Is each load and store masked where a row is nobody's, and does the grid fit, {grid} programs?"
