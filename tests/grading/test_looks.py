import pytest

from kvlib.grading.looks import forbidden, looks_at_its_caller, parsed


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("def f(:\n    pass", "a syntax error in line 1, `def f(:`: invalid syntax"),
        ("x = 1\nreturn x", "a syntax error in line 2, `return x`: 'return' outside function"),
        ("x = !ls", "a syntax error in line 1, `x = !ls`: invalid syntax"),
        ("%%time\nx = = 1", "a syntax error in line 2, `x = = 1`: invalid syntax"),
        ("x = '\ud800'", "not Python: UnicodeEncodeError"),
        ("x = " + "(" * 500 + ")" * 500, "a syntax error in line 1, `x = ((("),
        ("x = " + "-" * 90_000 + "1", "not Python: "),
        ("x = 1\n" * 20_000, "too long: 120,000 characters, of at most 100,000"),
    ],
)
def test_what_is_no_python_is_said_with_the_line(source, error):
    assert parsed(source).source == ""
    assert parsed(source).error.startswith(error)


def test_a_null_byte_is_no_python():
    assert "cannot contain null bytes" in parsed("x = 1\0").error


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("%%time\nx = 1", "pass\nx = 1"),
        ("if True:\n    !pip install x\n    x = 1", "if True:\n    pass\n    x = 1"),
        ("x = 1\nx?", "x = 1\npass"),
        ("?x\nx = 1", "pass\nx = 1"),
    ],
)
def test_commands_of_a_notebook_are_left_out_and_named(source, plain):
    look = parsed(source)
    assert (look.source, look.error) == (plain, "")
    assert look.note.startswith("left out, as commands of a notebook: ")


@pytest.mark.parametrize("source", ["x = '''\n%timeit\n'''", "x = (7\n% 3)", "# !ls", "await f()", "x = '%s' % 1"])
def test_what_python_takes_stays_as_it_is(source):
    assert parsed(source) == (source, "", "")


@pytest.mark.parametrize("marker", ["# NBVAL_SKIP", "#NBVAL_RAISES_EXCEPTION", "  ## NBVAL_IGNORE_OUTPUT "])
def test_a_comment_that_nbval_obeys_is_one_no_more(marker):
    from nbval.plugin import find_comment_markers

    source = f"x = 1\n{marker}\ny = 2"
    assert list(find_comment_markers(source))
    assert not list(find_comment_markers(parsed(source).source))
    assert parsed(source).error == ""


@pytest.mark.parametrize(
    "source",
    [
        "import kvlib.memory",
        "import math, kvlib.memory as m",
        "from kvlib.memory import BlockPool",
        "def f():\n    from kvlib.memory.pool import *",
        "__import__('kvlib.memory')",
        "importlib.import_module(name='kvlib.memory')",
        "from importlib import import_module\nimport_module('kvlib.memory')",
        "sys.modules['kvlib.memory']",
        "exec('import kvlib.memory')",
    ],
)
def test_an_import_of_kvlib_is_seen(source):
    assert forbidden(source, "").startswith("kvlib.memory")


@pytest.mark.parametrize(
    "source",
    ["import kvlibrary", "import math", "x = 'kvlib.memory'", "def f():\n    'as kvlib does'", "from . import kvlib"],
)
def test_other_imports_and_words_are_none(source):
    assert forbidden(source, "") == ""


def test_what_the_model_answer_imports_is_allowed():
    assert forbidden("import kvlib.chance", "import kvlib.chance") == ""
    assert forbidden("import kvlib.chance\nimport kvlib.memory", "import kvlib.chance") == "kvlib.memory"


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import sys\nx = sys._getframe(1)", "_getframe"),
        ("from inspect import currentframe as here\nx = here().f_back", "f_back"),
        ("try:\n    1 / 0\nexcept Exception as e:\n    x = e.__traceback__.tb_frame", "tb_frame"),
        ("x = getattr(y, 'f_locals')", "f_locals"),
        ("import gc\nx = gc.get_objects()", "get_objects"),
        ("frame = [1]\nback = frame[0]", ""),
    ],
)
def test_an_answer_that_looks_at_what_calls_it_is_noticed(source, name):
    assert looks_at_its_caller(source) == name
