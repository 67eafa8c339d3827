"""An answer as Python: whether it is any, and what of it only a notebook understands."""

import ast
import re
import warnings
from typing import NamedTuple

LONGEST = 100_000  # characters
COMMANDS = re.compile(r"^([ \t]*)([%!].*|\?{0,2}[\w.]+\?{1,2}|\?{1,2}[\w.]+)[ \t]*$", re.MULTILINE)
ASSIGNED = re.compile(r"^([^\n=#'\"]+=[ \t]*)([%!].*)$", re.MULTILINE)
MARKER = re.compile(r"^([ \t]*#[# \t]*)(?=(?:NBVAL|PYTEST)_\w+[ \t]*$)", re.MULTILINE)


class Parsed(NamedTuple):
    """An answer as plain Python, "" where it is none. `error`: why, in words. `note`: what was taken out, or ""."""

    source: str
    error: str = ""
    note: str = ""


def parsed(source: str) -> Parsed:
    """An answer without what only a notebook understands, and without comments that nbval would obey."""
    if len(source) > LONGEST:
        return Parsed("", f"too long: {len(source):,} characters, of at most {LONGEST:,}")
    error = _syntax_error(source)
    commands: list[str] = []
    for pattern, left in ((COMMANDS, r"\1pass"), (ASSIGNED, r"\1None")):
        if error:
            commands += [match.group(2).strip() for match in pattern.finditer(source)]
            source = pattern.sub(left, source)
            error = _syntax_error(source)
    if error:
        return Parsed("", error)
    note = f"left out, as commands of a notebook: {', '.join(map(_short, commands))}" if commands else ""
    return Parsed(MARKER.sub(r"\1not ", source), note=note)


def _syntax_error(source: str) -> str:
    """Why `source` is not Python, as "a syntax error in line 3, `x = = 3`: invalid syntax"; "" if it is."""
    try:
        source.encode()
        with warnings.catch_warnings(action="ignore"):
            compile(source, "<answer>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        lines = source.splitlines()
        number = error.lineno or 1
        line = lines[number - 1].strip() if number <= len(lines) else ""
        return f"a syntax error in line {number}, `{_short(line)}`: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"not Python: {type(error).__name__}: {str(error)[:100] or 'too deeply nested'}"
    return ""


def _short(line: str) -> str:
    return line if len(line) <= 60 else f"{line[:57]}..."
