"""What an answer openly reaches for without need: parts of kvlib, and the code that checks it and knows what is right.

It is no protection by itself: who wants to hide a look can. See instructors.md for what is left to people.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

IMPORTERS = {"import_module", "find_spec", "run_module", "run_path", "resolve_name", "locate", "__import__"}
THEIR_MODULES = {"importlib", "importlib.util", "util", "pkgutil", "pydoc", "runpy"}
COMPUTED = "a module whose name is computed"
BUILT_IN = {"__import__", "exec", "eval", "compile"}
LEADS = {"_getframe", "f_back", "f_globals", "f_locals", "tb_frame", "gi_frame", "cr_frame", "ag_frame"}
LEADS |= {"_current_frames", "walk_stack", "walk_tb", "getargvalues", "getclosurevars", "settrace", "setprofile"}
LEADS |= {"__globals__", "__self__", "__func__", "__closure__", "__code__", "_exercises"}
LEADS |= {"get_objects", "get_referrers", "get_referents", "__subclasses__", "attrgetter"}
"""As an attribute or an import these lead to the code that checks an answer. A variable may have such a name."""
OF_MODULES = {"sys.modules", "sys.*", "inspect.stack", "inspect.trace", "inspect.currentframe", "inspect.*", "gc.*"}
"""These as well; other things have the same names."""


def forbidden(source: str, given: Iterable[str]) -> str:
    """The first name of kvlib's that `source` imports, and none of the sources `given` does; "" if it imports none."""
    allowed = {name for each in given for name in _of_kvlib(ast.parse(each))}
    return next((name for name in _of_kvlib(ast.parse(source)) if name not in allowed), "")


def looks_at_its_check(source: str) -> str:
    """The first name in an answer that leads to the code that checks it; "" if none does."""
    tree = ast.parse(source)
    imports = list(_imports(tree))
    imported = dict(imports)
    named = [*(full for _, full in imports), *(_full_name(node, imported) for node in ast.walk(tree))]
    return next(filter(None, map(_lead, named)), "")


def _lead(name: str) -> str:
    _, dot, last = name.rpartition(".")
    if dot and last in LEADS:
        return last
    return name if name in OF_MODULES else ""


def _of_kvlib(tree: ast.AST) -> Iterator[str]:
    imports = list(_imports(tree))
    imported = dict(imports)
    yield from (full for _, full in imports if full.partition(".")[0] == "kvlib")
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        owner, name = _called(node.func, imported)
        is_built_in = name in BUILT_IN and owner in ("", "builtins", "__builtins__")
        if not is_built_in and (name not in IMPORTERS or owner not in THEIR_MODULES):
            continue
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        for value in values:
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield from re.findall(r"\bkvlib\b(?:\.\w+)*", value.value)
        if values and not isinstance(values[0], ast.Constant) and name in IMPORTERS:
            yield COMPUTED


def _called(function: ast.expr, imported: Mapping[str, str]) -> tuple[str, str]:
    """The module and the name of what is called, the module "" where none is named."""
    name = function.id if isinstance(function, ast.Name) else ""
    owner, _, last = (_full_name(function, imported) or imported.get(name, name)).rpartition(".")
    return owner, last


def _imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """The names that imports bind, and what each stands for, as "sys._getframe"."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def _full_name(node: ast.AST, imported: Mapping[str, str]) -> str:
    """Of an attribute, however it is asked for, the last name of its owner and its own; "" for all else."""
    match node:
        case (
            ast.Attribute(value=owner, attr=name)
            | ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str(name)), *_])
            | ast.Subscript(value=ast.Call(func=ast.Name(id="vars"), args=[owner]), slice=ast.Constant(value=str(name)))
            | ast.Subscript(value=ast.Attribute(value=owner, attr="__dict__"), slice=ast.Constant(value=str(name)))
        ):
            return f"{_last_name(owner, imported)}.{name}"
    return ""


def _last_name(node: ast.expr, imported: Mapping[str, str]) -> str:
    if isinstance(node, ast.Name):
        return imported.get(node.id, node.id)
    return node.attr if isinstance(node, ast.Attribute) else ""
