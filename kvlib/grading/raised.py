"""What an answer raised, in words: why, and in which of the learner's lines."""

import inspect
import linecache
import sys
import traceback
from collections.abc import Iterable

from triton.runtime.jit import KernelInterface

from kvlib.errors import EndlessLoop, OutsideMemory
from kvlib.grading.accesses import Outside

LONGEST = 160  # characters of a message; its middle is left out
MACHINERY = {"triton", "torch", "numpy", "kvlib"} | sys.stdlib_module_names


def uncallable(answer: object, names: Iterable[str]) -> str:
    """Why `answer` cannot be called with arguments of these names; "" if it can."""
    if isinstance(answer, KernelInterface):
        return f"{getattr(answer, '__name__', 'It')} is a kernel; give the function that launches it"
    named = list(names)
    call = f"answer({', '.join(f'{name}=...' for name in named)})"
    if not callable(answer):
        return f"It is {type(answer).__name__}, not a function; the check calls {call}"
    try:
        inspect.signature(answer).bind(**dict.fromkeys(named))
    except TypeError as error:
        return f"The check calls {call}, all by name, and of yours Python says: {error}"
    return ""


def described(raised: BaseException, outside: Outside | None) -> str:
    """What was raised, in sentences: the innermost cause, as Triton wraps what happens in a kernel.

    outside: what a watch says of it.
    """
    chain = [raised]
    while chain[-1].__cause__ is not None:
        chain.append(chain[-1].__cause__)
    cause = chain[-1]
    where = next(filter(None, map(_line, reversed(chain))), "")
    if isinstance(cause, OutsideMemory) and outside is not None:
        return f"It leaves its memory{where}: {cause}. {_advice(outside)}"
    if isinstance(cause, EndlessLoop):
        return f"It does not end{where}: {cause}; what ends the loop has to change in each turn."
    message = " ".join(str(cause).split())
    if len(message) > LONGEST:
        message = f"{message[: LONGEST // 2]} ... {message[-LONGEST // 2 :]}"
    return f"It raises {type(cause).__name__}{where}: {message.rstrip('.')}."


def _line(raised: BaseException) -> str:
    """The last line of the learner's that was running, as " in line 3, `x = y`,"; "" if none was."""
    for frame, number in reversed(list(traceback.walk_tb(raised.__traceback__))):
        if str(frame.f_globals.get("__name__")).partition(".")[0] not in MACHINERY:
            text = linecache.getline(frame.f_code.co_filename, number).strip()
            return f" in line {number}" + (f", `{text}`" if text else "")
    return ""


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
