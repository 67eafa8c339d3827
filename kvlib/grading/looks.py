"""What can be seen of an answer before it runs: that it is Python, and that it imports nothing that holds a solution.

It is no protection by itself: who wants to hide an import from it can. See instructors.md for what is left to people.
"""

import ast
import re
import warnings
from collections.abc import Iterator
from typing import NamedTuple

LONGEST = 100_000  # characters
IMPORTERS = {"__import__", "import_module", "find_spec", "exec", "eval", "compile", "run_module", "run_path"}
FRAMES = {"_getframe", "currentframe", "f_back", "f_globals", "f_locals", "tb_frame", "gi_frame", "cr_frame"}
FRAMES |= {"get_objects", "get_referrers", "settrace", "setprofile"}
"""What leads from an answer to the code that calls it, where the values are that are looked for."""
COMMANDS = re.compile(r"^([ \t]*)([%!].*|\?{0,2}[\w.]+\?{1,2}|\?{1,2}[\w.]+)[ \t]*$", re.MULTILINE)
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
    commands = [match.group(2).strip() for match in COMMANDS.finditer(source)] if error else []
    if commands:
        source = COMMANDS.sub(r"\1pass", source)
        error = _syntax_error(source)
    if error:
        return Parsed("", error)
    note = f"left out, as commands of a notebook: {', '.join(map(_short, commands))}" if commands else ""
    return Parsed(MARKER.sub(r"\1not ", source), note=note)


def forbidden(source: str, model: str) -> str:
    """The first part of kvlib that an answer imports, and the model answer does not; "" if it imports none."""
    allowed = set(_imported(ast.parse(model)))
    return next((name for name in _imported(ast.parse(source)) if name not in allowed), "")


def looks_at_its_caller(source: str) -> str:
    """The first name in an answer that leads to the code that calls it; "" if none does."""
    for node in ast.walk(ast.parse(source)):
        name = node.value if isinstance(node, ast.Constant) else _last_name(node) if isinstance(node, ast.expr) else ""
        if isinstance(name, str) and name in FRAMES:
            return name
    return ""


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


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if _is_ours(alias.name))
        elif isinstance(node, ast.ImportFrom) and _is_ours(node.module or ""):
            yield node.module or ""
        elif isinstance(node, ast.Call) and _last_name(node.func) in IMPORTERS:
            yield from _ours_in([*node.args, *(keyword.value for keyword in node.keywords)])
        elif isinstance(node, ast.Subscript) and _last_name(node.value) == "modules":
            yield from _ours_in([node.slice])


def _ours_in(values: list[ast.expr]) -> Iterator[str]:
    for value in values:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield from re.findall(r"\bkvlib\b(?:\.\w+)*", value.value)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == "kvlib"


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _short(line: str) -> str:
    return line if len(line) <= 60 else f"{line[:57]}..."
