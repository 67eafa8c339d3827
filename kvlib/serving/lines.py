"""A text file line by line, plain or gzip, never held in memory; whatever is wrong with it names the line."""

import gzip
import os
import zlib

from kvlib.errors import BadInput

TYPE_CHECKING = False  # a browser's small Python has no collections.abc, and evaluates no annotation
if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_LINE = 1 << 20  # bytes; a trace's longest has some thousand
SHOWN = 100  # characters of a faulty line that a message repeats
MOST_TOKENS = 10**9


class Line:
    """One line of a trace: its file, its number from 1, and its text without the end of line."""

    __slots__ = ("number", "path", "text")

    def __init__(self, path: str, number: int, text: str) -> None:
        self.path = path
        self.number = number
        self.text = text

    def cells(self) -> list[str]:
        """The text between the commas, without blanks and quotes around it."""
        return [cell.strip(' "') for cell in self.text.split(",")]

    def count(self, name: str, value: object) -> int:
        """`value`, an int or its digits, as a number of tokens. Raises the line's fault below 1 or above 10**9."""
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 10:
            value = int(value)
        if type(value) is not int or not 1 <= value <= MOST_TOKENS:
            raise self.fault(f"{name} is {cut(repr(value))}; expected a whole number of tokens from 1 to {MOST_TOKENS}")
        return value

    def fault(self, problem: str) -> BadInput:
        """The error to raise: file, line, problem, what to do, and the text, cut."""
        return BadInput(
            f"{self.path}, line {self.number}: {problem}. Correct the line or leave it out: {cut(self.text)!r}"
        )


def cut(text: str) -> str:
    """`text` short enough for a message."""
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def read_lines(path: "str | os.PathLike[str]", *, skip: int = 0) -> "Iterator[Line]":
    """The lines of `path` that are not blank, after the first `skip` of them. A name that ends in .gz is unpacked.

    Raises BadInput when it gets there: no such file, not gzip or cut short, not UTF-8, a line above 1 MiB, no line
    at all after the skipped ones.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise BadInput(f"{path!r} is not a path; give the name of a trace file, plain or .gz")
    path = os.fspath(path)
    if os.path.exists(path) and not os.path.isfile(path):  # what is read twice must be there twice
        raise BadInput(
            f"{path} cannot be read (not a file); give the name of a file, and save first what comes from a pipe"
        )
    number = found = 0
    try:
        with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
            while raw := file.readline(LONGEST_LINE + 1):
                number += 1
                line = Line(path, number, raw[:SHOWN].decode("utf-8", "replace").strip())
                if len(raw) > LONGEST_LINE:
                    raise line.fault(f"longer than {LONGEST_LINE} bytes; expected one request a line")
                try:
                    line.text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                except UnicodeDecodeError as error:
                    raise line.fault(f"not UTF-8 text ({error}); a packed file must be named .gz") from None
                if line.text:
                    found += 1
                    if found > skip:
                        yield line
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        if number == 0 and isinstance(error, gzip.BadGzipFile):
            raise BadInput(f"{path} is named .gz and is not gzip ({error}); rename it or fetch it again") from None
        raise BadInput(f"{path} is damaged or cut short after line {number} ({error}); fetch it again") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}); give the name of a trace file") from None
    if found <= skip:
        raise BadInput(f"{path} has no request in it; give a trace with at least one")
