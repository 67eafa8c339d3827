"""How a command speaks: results to the standard output, stages to the standard error, numbers into a file."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def say(line: str) -> None:
    """A line for people, beside the result."""
    print(line, file=sys.stderr, flush=True)


def report(text: str, file: Path | None = None, numbers: str = "") -> int:
    """Print a report; write `numbers` to `file` where one is given. The exit code of having done so."""
    if file:
        write_file(file, numbers)
    with written_out():
        print(text)
    return 0


def write_file(path: Path, text: str) -> None:
    """Write a file whole or not at all; where `path` is a link, the file it leads to."""
    target = path.resolve()
    unfinished = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(target)
    except OSError as error:
        with suppress(OSError):
            unfinished.unlink()
        raise SystemExit(f"kvlib: {path} cannot be written: {error.strerror}") from None


@contextmanager
def written_out() -> Iterator[None]:
    """Write out what is printed inside. Where that fails, end with one line, or with none if the reader has gone."""
    try:
        try:
            yield
        finally:
            print(end="", flush=True)
    except OSError as error:
        # Python writes out what is left when it ends, and would fail a second time.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        gone = isinstance(error, BrokenPipeError)
        raise SystemExit(1 if gone else f"kvlib: the output cannot be written: {error.strerror}") from None
