import pytest

from kvlib.grading.looks import parsed


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("def f(:\n    pass", "a syntax error in line 1, `def f(:`: invalid syntax"),
        ("x = 1\nreturn x", "a syntax error in line 2, `return x`: 'return' outside function"),
        ("x = 1; !ls", "a syntax error in line 1, `x = 1; !ls`: invalid syntax"),
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
        ("files = !ls\nx = 1", "files = None\nx = 1"),
        ("%%time\nif x:\n    x.y, z[0] = %pwd -q", "pass\nif x:\n    x.y, z[0] = None"),
    ],
)
def test_commands_of_a_notebook_are_left_out_and_named(source, plain):
    look = parsed(source)
    assert (look.source, look.error) == (plain, "")
    assert look.note.startswith("left out, as commands of a notebook: ")


def test_every_command_that_is_left_out_is_named():
    note = parsed("%%time\nfiles = !ls -l\nx = 1").note
    assert note == "left out, as commands of a notebook: %%time, !ls -l"


@pytest.mark.parametrize("source", ["%%time\nx = 1 !ls", "%%time\nx = 'y = %d' x"])
def test_what_only_looks_like_a_command_stays(source):
    assert "a syntax error in line 2" in parsed(source).error


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
