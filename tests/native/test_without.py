"""A machine without a compiler has no kernels, and says why."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kvlib.errors import BadConfig
from kvlib.native import build

ROOT = Path(__file__).parents[2]


def say(program: str, **environment: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "KVLIB_NATIVE": "1", **environment}
    return subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    ).stdout


def test_without_a_compiler_there_is_no_library_and_the_reason_says_what_to_do(tmp_path: Path):
    said = say("from kvlib import native; print(native.library(), native.why_not())", PATH=str(tmp_path), CC="")
    assert said == (
        "None no C compiler: there is none of cc, gcc, clang; install gcc or clang, or name one in the environment "
        "variable CC\n"
    )


def test_a_compiler_that_is_named_and_not_there_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CC", "/nowhere/cc -m64")
    with pytest.raises(BadConfig, match="no C compiler: CC names '/nowhere/cc', which is not there"):
        build.compiled()


def test_nothing_is_compiled_and_no_package_imported_by_the_import(tmp_path: Path):
    program = (
        "import sys; import kvlib.native, kvlib.native.build; print({'torch', 'numpy'} & set(sys.modules), "
        "sys.modules['kvlib.native']._built.cache_info().currsize)"
    )
    assert say(program, XDG_CACHE_HOME=str(tmp_path)) == "set() 0\n"
    assert list(tmp_path.iterdir()) == []


def test_the_source_is_one_file_of_under_100_lines():
    assert len(build.SOURCE.read_text().splitlines()) < 100
