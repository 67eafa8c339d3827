"""Files that are there whole or not at all, however the program ends."""

import os
from contextlib import suppress
from pathlib import Path

PRIVATE = 0o600
FOR_ALL = 0o644


def write_whole(path: Path, text: str, mode: int = FOR_ALL) -> None:
    """Write `text` beside `path`, then put it in its place. Raises OSError, and leaves nothing, where it cannot."""
    unfinished = path.with_name(f".{path.name[:40]}.{os.getpid()}.part")
    try:
        file = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with open(file, "w", encoding="utf-8", newline="\n") as opened:
            opened.write(text)
        unfinished.replace(path)
    except BaseException as error:
        with suppress(OSError):
            unfinished.unlink()
        if isinstance(error, OSError):
            error.filename = str(path)  # a full disk names no file, and another error the unfinished one
        raise
