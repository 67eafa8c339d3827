"""What kvlib may import: nothing heavy at the start, and only downwards."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from kvlib.show.imports import RANK, imports, imports_of_kvlib, part_of, sources

ROOT = Path(__file__).parent.parent
LIGHT = ["kvlib", "kvlib.memory", "kvlib.serving", "kvlib.events", "kvlib.sizing", "kvlib.ledger", "kvlib.gguf"]
HEAVY = {"torch", "triton", "numpy", "matplotlib"}

STANDARD_LIBRARY_ONLY = {"errors", "shown", "checks", "chance", "events", "memory", "serving", "texts"}
OPTIONAL = {"xxhash"}  # imported where it is needed, and only then
NOT_IN_A_BROWSER = {"dataclasses", "random", "typing", "__future__", "enum"}


MODULES = sources()


def upward_imports(name, source):
    """One line for each import in the module `name` that goes up or sideways."""
    own = part_of(name)
    return [
        f"{name}, line {line}: {own} may not import {dotted}"
        for line, dotted in imports_of_kvlib(name, source)
        if RANK[part_of(dotted)] >= RANK[own]
    ]


def foreign_imports(name, source):
    """One line for each import in the module `name` that a browser's Python may lack."""
    allowed = (sys.stdlib_module_names | {"kvlib"} | OPTIONAL) - NOT_IN_A_BROWSER
    return [
        f"{name}, line {line}: {part_of(name)} may not import {dotted}"
        for line, dotted in imports(name, source)
        if dotted.split(".")[0] not in allowed
    ]


def foreign_syntax(name, source):
    """One line for each unpacking inside a display in the module `name`, which a browser's Python cannot parse."""
    return [
        f"{name}, line {node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(ast.parse(source))
        if (isinstance(node, ast.Dict) and None in node.keys)
        or (
            isinstance(node, (ast.Tuple, ast.List, ast.Set))
            and not isinstance(getattr(node, "ctx", None), ast.Store)
            and any(isinstance(each, ast.Starred) for each in node.elts)
        )
    ]


@pytest.mark.parametrize("name", MODULES)
def test_every_module_has_its_place_in_the_order(name):
    assert name.split(".")[1] in RANK, f"{name} is new: add {name.split('.')[1]} to ORDER in kvlib/show/imports.py"


@pytest.mark.parametrize("name", MODULES)
def test_imports_run_one_way(name):
    assert upward_imports(name, MODULES[name]) == []


@pytest.mark.parametrize("name", [name for name in MODULES if part_of(name) in STANDARD_LIBRARY_ONLY])
def test_memory_serving_and_events_keep_to_what_a_browser_has(name):
    assert foreign_imports(name, MODULES[name]) == []
    assert foreign_syntax(name, MODULES[name]) == []


@pytest.mark.parametrize(
    ("name", "source", "offending"),
    [
        ("kvlib.memory.pool", "from kvlib.serving.scheduler import Scheduler", "kvlib.serving.scheduler.Scheduler"),
        ("kvlib.memory.pool", "def f():\n    import kvlib.engine.llm", "kvlib.engine.llm"),
        ("kvlib.memory.pool", "from ..show import figures", "kvlib.show.figures"),
        ("kvlib.serving.scheduler", "from kvlib import attention", "kvlib.attention"),
        ("kvlib.attention.paged", "from kvlib.serving import scheduler", "kvlib.serving.scheduler"),
        ("kvlib.show.figures", "from kvlib import LLM", "kvlib.LLM"),
        ("kvlib.engine.llm", "import kvlib", "kvlib"),
    ],
)
def test_a_planted_import_upwards_is_named(name, source, offending):
    (found,) = upward_imports(name, source)
    assert found.startswith(f"{name}, line ")
    assert found.endswith(f"may not import {offending}")


@pytest.mark.parametrize("source", ["import torch", "from dataclasses import dataclass", "import random"])
def test_a_planted_import_that_a_browser_lacks_is_named(source):
    assert foreign_imports("kvlib.events", source)


@pytest.mark.parametrize("source", ["[*a, b]", "{*a}", "{**a, 'b': 1}", "x = (*a, *b)"])
def test_planted_syntax_that_a_browser_lacks_is_named(source):
    assert foreign_syntax("kvlib.events", source)


def test_imports_downwards_and_within_a_part_are_allowed():
    source = "from kvlib import __version__\nfrom kvlib.events import EventLog\nfrom . import table\nimport heapq"
    assert upward_imports("kvlib.memory.pool", source) == foreign_imports("kvlib.memory.pool", source) == []


def test_every_package_is_installed_with_the_rest():
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    folders = {".".join(path.parent.relative_to(ROOT).parts) for path in ROOT.glob("kvlib/**/__init__.py")}
    assert sorted(listed) == sorted(folders | {"kvlib.data"})


def run(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)


@pytest.mark.parametrize("module", LIGHT)
def test_importing_a_light_module_imports_nothing_heavy(module):
    result = run(f"import {module}, sys; print(sorted({HEAVY} & set(sys.modules)))")
    assert (result.stdout.strip(), result.stderr) == ("[]", "")


ONLY_THE_STANDARD_LIBRARY = """
import sys
class Nothing:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] not in sys.stdlib_module_names | {"kvlib"}:
            raise ImportError(f"{name} is blocked")
sys.meta_path.insert(0, Nothing)
"""


@pytest.mark.parametrize("module", LIGHT)
def test_a_light_module_works_where_nothing_else_is_installed(module):
    assert run(f"{ONLY_THE_STANDARD_LIBRARY}import {module}").stderr == ""


@pytest.mark.parametrize("module", sorted(HEAVY))
def test_the_blocking_of_that_test_blocks(module):
    assert f"{module} is blocked" in run(f"{ONLY_THE_STANDARD_LIBRARY}import {module}").stderr
