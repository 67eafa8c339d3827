"""What an answer raised, in words: why, and in which of the learner's lines."""

import inspect
import linecache
import sys
import traceback
from collections.abc import Iterable

from kvlib.errors import EndlessLoop

LONGEST = 160  # characters of a message; its middle is left out
MACHINERY = {"triton", "torch", "numpy", "kvlib"} | sys.stdlib_module_names


def uncallable(answer: object, names: Iterable[str]) -> str:
    """Why `answer` cannot be called with arguments of these names; "" if it can."""
    named = list(names)
    own_name = getattr(answer, "__name__", "")
    call = f"{own_name if own_name.isidentifier() else 'answer'}({', '.join(f'{name}=...' for name in named)})"
    if not callable(answer):
        kind = type(answer).__name__
        return f"It is {kind} and cannot be called; the check calls {call}: give the name alone, without brackets"
    try:
        inspect.signature(answer).bind(**dict.fromkeys(named))
    except TypeError as error:
        return f"The check calls {call}, all by name, and of yours Python says: {error}"
    return ""


def described(raised: BaseException) -> str:
    """What was raised, in sentences: the innermost cause, as Triton wraps what happens in a kernel."""
    cause, where = cause_and_line(raised)
    if isinstance(cause, NotImplementedError):
        return f"Nothing is written yet{where}."
    if isinstance(cause, EndlessLoop):
        return f"It does not end{where}: {cause}; what ends the loop has to change in each turn."
    message = " ".join(str(cause).split())
    if len(message) > LONGEST:
        message = f"{message[: LONGEST // 2]} ... {message[-LONGEST // 2 :]}"
    said = f": {message.rstrip('.')}" if message else ""
    return f"It raises {type(cause).__name__}{where}{said}."


def cause_and_line(raised: BaseException) -> tuple[BaseException, str]:
    """The innermost cause, and where the learner's own code was then, as " in line 3, `x = y`," or ""."""
    chain = [raised]
    while chain[-1].__cause__ is not None:
        chain.append(chain[-1].__cause__)
    return chain[-1], next(filter(None, map(_line, reversed(chain))), "")


def _line(raised: BaseException) -> str:
    """The last line of the learner's that was running, as " in line 3, `x = y`,"; "" if none was."""
    for frame, number in reversed(list(traceback.walk_tb(raised.__traceback__))):
        if str(frame.f_globals.get("__name__")).partition(".")[0] not in MACHINERY:
            text = linecache.getline(frame.f_code.co_filename, number).strip()
            return f" in line {number}" + (f", `{text}`" if text else "")
    return ""
