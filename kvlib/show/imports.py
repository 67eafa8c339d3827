"""The parts of kvlib, and what each of them imports, read from the sources without importing them.

A part is a package or a module that lies in `kvlib` itself. ORDER says which part may import which, the tests hold
it, and the book draws it.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

HOME = Path(__file__).parents[1]

ORDER = """
errors shown
checks
chance
gguf events fields packaged machine native texts
families
configs
sizing
ledger
memory
attention serving
models
engine
bench show
doctor
grading
cli_output
cli_bench cli_grading
cli
__main__
__init__
"""
"""A part may import the parts on lines above its own; two parts on one line may not import each other."""

RANK = {part: rank for rank, line in enumerate(ORDER.split("\n")) for part in line.split()}


@cache
def sources() -> dict[str, str]:
    """The text of every module of kvlib, by dotted name; that of `kvlib/__init__.py` is `kvlib.__init__`."""
    return {_name(path): path.read_text(encoding="utf-8") for path in sorted(HOME.rglob("*.py"))}


def imports(name: str, source: str) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of everything that the source of the module `name` imports, anywhere in it."""
    is_package = any(other.rpartition(".")[0] == name for other in sources())
    package = name.split(".") if is_package else name.split(".")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            prefix = ".".join([*base, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{prefix}.{alias.name}") for alias in node.names)


def imports_of_kvlib(name: str, source: str) -> Iterator[tuple[int, str]]:
    """As `imports`, of other parts of kvlib only; the version is no part."""
    for line, dotted in imports(name, source):
        if dotted.split(".")[0] == "kvlib" and dotted != "kvlib.__version__" and part_of(dotted) != part_of(name):
            yield line, dotted


def part_of(dotted: str) -> str:
    """The part that `kvlib.PART...` belongs to; a public name such as kvlib.LLM is `__init__`'s."""
    first = dotted.split(".")[1] if "." in dotted else "__init__"
    return first if first in RANK else "__init__"


def imported_parts() -> dict[str, set[str]]:
    """The parts that each part imports, in the order of ORDER."""
    found: dict[str, set[str]] = {part: set() for part in RANK}
    for name, source in sources().items():
        found[part_of(name)] |= {part_of(dotted) for _, dotted in imports_of_kvlib(name, source)}
    return found


def without_shortcuts(imported: dict[str, set[str]]) -> dict[str, set[str]]:
    """`imported`, less each import of a part that is reached through another import as well."""

    def reached(part: str) -> set[str]:
        return imported[part].union(*map(reached, imported[part]))

    return {part: direct.difference(*map(reached, direct)) for part, direct in imported.items()}


def is_package(part: str) -> bool:
    """Whether the part is a folder of modules."""
    return (HOME / part).is_dir()


def purpose(part: str) -> str:
    """What the part is for: the first sentence of its docstring, without backticks."""
    words = " ".join((ast.get_docstring(ast.parse(sources()[f"kvlib.{part}"])) or "").split())
    return re.split(r"(?<=[^.]\.) ", words)[0].replace("`", "")


def _name(path: Path) -> str:
    parts = path.relative_to(HOME.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 2 else parts)
