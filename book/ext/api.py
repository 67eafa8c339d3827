"""Sphinx extension: the directive {api} lists the public names of the package that it is given, from the sources.

Sources are read and not imported, so a page is the same where torch or Triton is missing. What it lists is in the
index of the book's search, by its dotted name.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from docstrings import docstring
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from kvlib.show.imports import HOME, sources

Function: TypeAlias = ast.FunctionDef
LONGEST = 44  # characters of a signature, above which each parameter stands on a line of its own
RECORDS = {"dataclass", "NamedTuple", "TypedDict"}


def modules(package: str, without: str = "") -> list[str]:
    """The modules of `package` and of the packages in it, but for those of the package `without`.

    Of "kvlib" they are the modules that lie in it itself and have a name to import.
    """
    if package == "kvlib":
        return [name for name in sources() if name.count(".") == 1 and not _is_package(name) and "__" not in name]
    inside = [name for name in sources() if f"{name}.".startswith(f"{package}.")]
    return [name for name in inside if not without or not f"{name}.".startswith(f"{without}.")]


def public(body: list[ast.stmt]) -> Iterator[ast.ClassDef | ast.FunctionDef]:
    """The classes and functions of a module, or of a class, whose name has no underscore in front."""
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            yield node


def defined_in(module: str, name: str) -> str:
    """The module of kvlib that defines the class or function `name`, which `module` may import; "" for none."""
    tree = ast.parse(sources().get(module, ""))
    if name in (node.name for node in public(tree.body)):
        return module
    homes = (
        node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and name in (alias.name for alias in node.names)
    )
    return next((found for home in homes if (found := defined_in(home, name))), "")


class Api(SphinxDirective):
    """A section for each module of the package that is the argument."""

    required_arguments = 1
    option_spec: ClassVar = {"without": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        listed = modules(self.arguments[0], self.options.get("without", ""))
        return [section for name in listed for section in self.module(name)]

    def module(self, name: str) -> list[nodes.Node]:
        tree = ast.parse(sources()[name])
        self.env.note_dependency(str(_file(name)))
        documented = [self.documented(node, name) for node in public(tree.body)]
        offered = [] if not _is_package(name) else self.offered(name, tree)
        title = nodes.title("", "", nodes.literal("", name.removeprefix("kvlib.")))
        section = nodes.section("", title, ids=[name], names=[name])
        section += [*docstring(ast.get_docstring(tree) or ""), *offered, *documented]
        return [section] if documented or offered else []

    def offered(self, name: str, tree: ast.Module) -> list[nodes.Node]:
        """What `from package import ...` gives, each name linked to where this page has it."""
        names = next((ast.literal_eval(node.value) for node in tree.body if _assigns(node, "__all__")), [])
        if not names:
            return []
        line = nodes.paragraph("", "", nodes.literal("", f"from {name} import"), nodes.Text(" "))
        for place, each in enumerate(sorted(names, key=str.lower)):
            line += [nodes.Text(", ")] if place else []
            home, code = defined_in(name, each), nodes.literal("", each)
            is_here = home.startswith(f"{self.arguments[0]}.")
            line += nodes.reference("", "", code, internal=True, refid=f"{home}.{each}") if is_here else code
        return [line]

    def documented(self, node: ast.ClassDef | Function, owner: str) -> addnodes.desc:
        kind = _kind(node, in_class=owner not in sources())
        full = f"{owner}.{node.name}"
        self.env.domains["py"].note_object(full, kind, full, location=self.get_location())
        content = addnodes.desc_content("", *docstring(ast.get_docstring(node) or ""))
        if isinstance(node, ast.ClassDef):
            content += [self.documented(member, full) for member in public(node.body)]
        signature = _signature(node, kind)
        signature["ids"].append(full)
        return addnodes.desc("", signature, content, domain="py", objtype=kind, classes=["py", kind])


def _signature(node: ast.ClassDef | Function, kind: str) -> addnodes.desc_signature:
    prefix = {"function": "", "method": ""}.get(kind, f"{kind} ")
    signature = addnodes.desc_signature("", "", addnodes.desc_name("", node.name))
    if prefix:
        signature.insert(0, addnodes.desc_annotation("", prefix))
    parameters, returns = _parameters(node), ""
    if isinstance(node, ast.FunctionDef) and node.returns:
        returns = ast.unparse(node.returns)
    if kind not in ("property", "class") or parameters:
        if sum(len(each) + 2 for each in [node.name, *parameters, returns]) > LONGEST:
            signature["classes"].append("kv-long")
        shown = [f"{each}, " for each in parameters[:-1]] + parameters[-1:]
        items = (nodes.inline("", each, classes=["kv-parameter"]) for each in shown)
        signature += [addnodes.desc_sig_punctuation("", "("), *items, addnodes.desc_sig_punctuation("", ")")]
    if returns:
        signature += addnodes.desc_returns("", returns)
    return signature


def _parameters(node: ast.ClassDef | Function) -> list[str]:
    """What a call takes, each with its type and its default, without `self`."""
    if isinstance(node, ast.FunctionDef):
        return _arguments(node)
    made = next((each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None)
    if made:
        return _arguments(made)
    is_record = any(name in ast.unparse(each) for each in [*node.bases, *node.decorator_list] for name in RECORDS)
    fields = (ast.unparse(each) for each in node.body if is_record and isinstance(each, ast.AnnAssign))
    return [each for each in fields if not each.startswith("_") and "ClassVar" not in each]


def _arguments(function: Function) -> list[str]:
    given = function.args
    named = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(named) - len(given.defaults)) + list(given.defaults)
    shown = [_argument(arg, default) for arg, default in zip(named, defaults, strict=True)]
    shown += [f"*{ast.unparse(given.vararg)}"] if given.vararg else ["*"] if given.kwonlyargs else []
    shown += [_argument(arg, default) for arg, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    shown += [f"**{ast.unparse(given.kwarg)}"] if given.kwarg else []
    return [each for each in shown if each not in ("self", "cls")]


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    equals = " = " if argument.annotation else "="
    return ast.unparse(argument) + (equals + ast.unparse(default) if default else "")


def _kind(node: ast.ClassDef | Function, in_class: bool) -> str:
    if isinstance(node, ast.ClassDef):
        return "class"
    decorators = " ".join(map(ast.unparse, node.decorator_list))
    special = (kind for kind in ("property", "classmethod", "staticmethod") if kind in decorators)
    return next(special, "method") if in_class else "function"


def _assigns(node: ast.stmt, name: str) -> bool:
    return isinstance(node, ast.Assign) and name in map(ast.unparse, node.targets)


def _is_package(name: str) -> bool:
    return _file(name).name == "__init__.py"


def _file(name: str) -> Path:
    path = HOME.parent.joinpath(*name.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("api", Api)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
