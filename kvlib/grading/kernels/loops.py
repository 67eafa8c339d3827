"""What the interpreter lets pass in a loop, and a compiler does not."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator

FLOATS = {"sum", "max", "maximum", "exp", "exp2", "dot"}


def changes_type(kernel: Callable) -> str:
    """The variable of `kernel` that is an int before a loop and in it the sum, or the like, of floats; "" if none is.

    A compiled loop keeps the type of each variable. What is made an int by `.to` is left alone.
    """
    [function] = ast.parse(textwrap.dedent(inspect.getsource(kernel))).body
    before: set[str] = set()
    for node in ast.iter_child_nodes(function):
        if isinstance(node, (ast.For, ast.While)):
            for name, value in _assigned(node):
                if name in before and _is_float(value):
                    return name
        for name, value in _assigned(node):
            is_int = isinstance(value, ast.Constant) and type(value.value) is int
            before = before | {name} if is_int else before - {name}
    return ""


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Each name that is assigned to in `node`, and what it gets."""
    for each in ast.walk(node):
        if isinstance(each, ast.AugAssign):
            pairs: list[tuple[ast.expr, ast.expr]] = [(each.target, each.value)]
        elif isinstance(each, ast.Assign):
            pairs = [pair for target in each.targets for pair in _paired(target, each.value)]
        else:
            continue
        yield from ((target.id, value) for target, value in pairs if isinstance(target, ast.Name))


def _paired(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return list(zip(target.elts, value.elts))
    return [(target, value)]


def _is_float(value: ast.expr) -> bool:
    attributes = {each.attr for each in ast.walk(value) if isinstance(each, ast.Attribute)}
    return bool(attributes & FLOATS) and not any(name.startswith(("int", "uint")) for name in attributes)
