import pytest

from kvlib.grading.reach import forbidden, looks_at_its_check


@pytest.mark.parametrize(
    "source",
    [
        "import kvlib.memory",
        "import math, kvlib.memory as m",
        "from kvlib.memory import BlockPool",
        "from kvlib import memory",
        "def f():\n    from kvlib.memory.pool import *",
        "__import__('kvlib.memory')",
        "importlib.import_module(name='kvlib.memory')",
        "from importlib import import_module\nimport_module('kvlib.memory')",
        "from importlib import import_module as get\nget('kvlib.memory')",
        "import builtins as b\nb.exec('import kvlib.memory')",
        "exec('import kvlib.memory')",
        "import pkgutil\npkgutil.resolve_name('kvlib.memory:BlockTable')",
        "from pydoc import locate\nlocate('kvlib.memory')",
    ],
)
def test_an_import_of_kvlib_is_seen(source):
    assert forbidden(source, []).startswith("kvlib.memory")


@pytest.mark.parametrize(
    "source",
    [
        "import kvlibrary",
        "import math",
        "x = 'kvlib.memory'",
        "def f():\n    'as kvlib does'",
        "from . import kvlib",
        "import re\nre.compile('kvlib')",
        "from re import compile\ncompile('kvlib')",
        "def locate(block): ...\nlocate('kvlib')\nlocate(block)",
        "self.blocks.locate(block)\nx.find_spec(y)",
        "eval(text)",
    ],
)
def test_other_imports_and_words_are_none(source):
    assert forbidden(source, []) == ""


def test_the_names_that_are_given_are_allowed_and_no_other_of_their_module():
    given = ["import kvlib.chance", "from kvlib.errors import BadInput, OutOfBlocks"]
    assert forbidden("import kvlib.chance\nfrom kvlib.errors import OutOfBlocks as Full", given) == ""
    assert forbidden("from kvlib.errors import OutOfBlocks, DoubleFree", given) == "kvlib.errors.DoubleFree"
    assert forbidden("import kvlib.errors", given) == "kvlib.errors"


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import sys\nx = sys._getframe(1)", "_getframe"),
        ("from sys import _getframe as g", "_getframe"),
        ("import sys\nx = vars(sys)['_getframe'](1)", "_getframe"),
        ("import sys\nx = sys.__dict__['_getframe'](1)", "_getframe"),
        ("import sys\nx = sys._current_frames()", "_current_frames"),
        ("import inspect as i\nx = i.currentframe()", "inspect.currentframe"),
        ("import inspect\nx = inspect.stack()[1]", "inspect.stack"),
        ("from inspect import stack as s", "inspect.stack"),
        ("from inspect import *\nx = stack()", "inspect.*"),
        ("import inspect\nx = inspect.getargvalues(y)", "getargvalues"),
        ("from traceback import walk_tb", "walk_tb"),
        ("try:\n    1 / 0\nexcept Exception as e:\n    x = e.__traceback__.tb_frame", "tb_frame"),
        ("x = getattr(y, 'f_locals')", "f_locals"),
        ("import gc\nx = gc.get_objects()", "get_objects"),
        ("x = check.__self__", "__self__"),
        ("x = y._exercises['pool'].probe", "_exercises"),
        ("x = check.__func__", "__func__"),
        ("x = observe.__globals__", "__globals__"),
        ("x = observe.__closure__", "__closure__"),
        ("x = observe.__code__", "__code__"),
        ("import sys\nx = [vars(m) for m in list(sys.modules.values())]", "sys.modules"),
        ("from sys import modules as m", "sys.modules"),
        ("import sys as s\nx = s.modules['kvlib.memory']", "sys.modules"),
        ("import importlib\nx = importlib.sys.modules", "sys.modules"),
    ],
)
def test_an_answer_that_looks_at_what_checks_it_is_noticed(source, name):
    assert looks_at_its_check(source) == name


@pytest.mark.parametrize(
    "source",
    [
        "f_locals = 3\nx = f_locals + 1",
        "def settrace(): ...\nsettrace()",
        "stack = [1]\nstack.pop()",
        "class Pool:\n    def __init__(self):\n        self.stack = self.modules = []\n        self.stack.append(1)",
        "modules = {}\nmodules['a'] = 1",
        "x = {'f_back': 1}['f_back']",
        "import logging\nx = logging.currentframe",
        "'sys.modules and f_locals'",
    ],
)
def test_names_of_ones_own_are_no_look(source):
    assert looks_at_its_check(source) == ""


@pytest.mark.parametrize("source", ["import importlib\nimportlib.import_module(name)", "__import__('kv' + 'lib')"])
def test_an_import_of_a_computed_name_is_seen(source):
    assert forbidden(source, []) == "a module whose name is computed"
