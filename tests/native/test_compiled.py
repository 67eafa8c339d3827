"""How the kernels are compiled and kept. Collected where there is a C compiler."""

import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from kvlib import native
from kvlib.errors import BadConfig
from kvlib.native import build
from kvlib.native.kernels import constant

ROOT = Path(__file__).parents[2]
SAY = "from kvlib import native; print(native.library() is not None, native.why_not())"
COMPILER = shlex.join(build.find_compiler())


@pytest.fixture(autouse=True)
def an_empty_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "kvlib"


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Puts a script in the place of the compiler; in it, "$@" are the arguments and $CC is the right one."""

    def install(script: str) -> Path:
        path = tmp_path / "compiler"
        path.write_text(f"#!/bin/sh\nCC={COMPILER!r}\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("CC", str(path))
        return path

    return install


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


def test_it_is_compiled_once_and_then_loaded(an_empty_cache: Path, compiler):
    compiler(f'echo "$@" >> {an_empty_cache.parent}.calls; exec $CC "$@"')
    for _ in range(2):
        assert constant(build.compiled(), "panel_width") % constant(build.compiled(), "lanes") == 0
    calls = Path(f"{an_empty_cache.parent}.calls").read_text().splitlines()
    assert sum(" -o " in call for call in calls) == 1
    assert len(files(an_empty_cache)) == 1


def test_other_source_and_other_flags_have_a_file_of_their_own(an_empty_cache: Path, monkeypatch, tmp_path: Path):
    build.compiled()
    monkeypatch.setattr(build, "BASE", ("-O1", *build.BASE[1:]))
    build.compiled()
    changed = tmp_path / "kernels.c"
    changed.write_text(build.SOURCE.read_text() + "\n")
    monkeypatch.setattr(build, "SOURCE", changed)
    build.compiled()
    assert len(files(an_empty_cache)) == 3


def test_another_processor_has_a_file_of_its_own(an_empty_cache: Path, compiler):
    build.compiled()
    compiler('exec $CC -DANOTHER_PROCESSOR "$@"')
    build.compiled()
    assert len(files(an_empty_cache)) == 2


def test_a_damaged_file_is_made_again(an_empty_cache: Path):
    build.compiled()
    [path] = files(an_empty_cache)
    path.unlink()  # and not written over: this process has it open
    path.write_bytes(b"nothing that could be loaded")
    build.compiled()
    assert path.stat().st_size > 1000


def test_a_cache_folder_that_cannot_be_written_costs_a_compilation(an_empty_cache: Path):
    an_empty_cache.parent.mkdir()
    an_empty_cache.write_text("a file in the place of the folder")
    assert constant(build.compiled(), "lanes") > 0
    assert an_empty_cache.is_file()


def test_processes_that_compile_at_once_leave_one_file_and_all_have_it(an_empty_cache: Path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", SAY]
    processes = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert [process.communicate()[0] for process in processes] == ["True \n"] * 4
    assert len(files(an_empty_cache)) == 1


@pytest.mark.parametrize("unknown", ["-fopenmp", "-march=native", "-fopenmp -march=native -mcpu=native"])
def test_what_the_compiler_does_not_know_is_left_out(an_empty_cache: Path, compiler, unknown: str):
    refused = " ".join(f"*' {option} '*) echo unsupported option >&2; exit 1;;" for option in unknown.split())
    compiler(f'case " $* " in {refused} esac; exec $CC "$@"')
    assert constant(build.compiled(), "lanes") > 0


def test_threads_that_are_missing_at_the_link_are_done_without(an_empty_cache: Path, compiler):
    compiler('case "$*" in *-fopenmp*-o*) echo \'cannot find -lgomp\' >&2; exit 1;; esac; exec $CC "$@"')
    assert constant(build.compiled(), "lanes") > 0


def test_a_compiler_that_fails_is_named_with_what_it_said(an_empty_cache: Path, compiler):
    path = compiler("echo first line >&2; echo 'no licence found' >&2; exit 1")
    with pytest.raises(BadConfig, match=rf"'?{path}'? does not compile kernels.c: no licence found; install gcc or"):
        build.compiled()
    assert files(an_empty_cache) == []


def test_what_was_compiled_but_does_not_load_is_told_of_and_not_kept(an_empty_cache: Path, compiler):
    compiler('while [ "$1" ]; do [ "$1" = -o ] && echo garbage > "$2"; shift; done; exit 0')
    with pytest.raises(BadConfig, match=r"does not compile kernels.c: .*\.so"):
        build.compiled()
    assert files(an_empty_cache) == []


def test_the_library_and_its_absence_are_told_alike(monkeypatch: pytest.MonkeyPatch):
    assert native.library() is not None
    assert native.why_not() == ""
    monkeypatch.setenv("KVLIB_NATIVE", "0")
    assert native.library() is None
    assert native.why_not() == "the environment variable KVLIB_NATIVE is 0; unset it"
