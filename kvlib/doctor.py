"""What this machine can run, what is missing, and the command that gets it. Needs the standard library only."""

import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from kvlib import __version__, native
from kvlib.errors import BadModelFile
from kvlib.gguf import read_header
from kvlib.machine import free_memory
from kvlib.native.build import cache_folder, find_compiler
from kvlib.packaged import MODEL, find_model

PACKAGES = {
    "engine": (
        *("torch>=2.6", "numpy>=2.0", "tokenizers>=0.21", "gguf>=0.17", "jinja2>=3.1"),
        *("safetensors>=0.5", "huggingface-hub>=1.0", "tqdm>=4.66"),
    ),
    "book": (
        "matplotlib>=3.10",
        "jupyter-book>=1.0.4,<2",
        "latex2mathml>=3.77",
        "ipykernel>=6.17",
        "joblib>=1.4",
        "anywidget>=0.9",
    ),
}
TRITON = "triton>=3.6,<3.10"
USES = {"engine": "running the model", "book": "building the book"}
TORCH_PAGE = "https://pytorch.org/get-started/locally"
MODEL_GIB = 1.0
GIB = 2**30


class Finding(NamedTuple):
    """One line of the report. `part` is what needs it: "engine", "book" or, for neither, ""."""

    name: str
    found: str
    part: str = ""
    blocks: str = ""  # what cannot be done, empty where all is well
    fix: str = ""  # what mends it: a command, where there is one


def examine() -> list[Finding]:
    """Look at this machine and this Python environment; compiles the C kernels, and imports at most torch."""
    packages = [_package(each, part, USES[part]) for part, group in PACKAGES.items() for each in group]
    return [
        _python(),
        Finding("kvlib", __version__),
        *packages,
        _model(),
        *_torch(),
        _triton(),
        _kernels(),
        _memory(),
        _disk(),
    ]


def can_run(findings: list[Finding], *parts: str) -> bool:
    """Whether nothing that one of these parts ("engine", "book") needs is missing."""
    return not any(finding.blocks and finding.part in parts for finding in findings)


def as_text(findings: list[Finding]) -> str:
    """The report as aligned lines: what is here, then what is missing with its remedy, then a verdict."""
    width = max(len(finding.name) for finding in findings)
    lines = [f"{finding.name:{width}}  {finding.found}" for finding in findings]
    missing = [finding for finding in findings if finding.blocks]
    if missing:
        lines += ["", "Missing"]
    for finding in missing:
        lines += [f"{finding.name:{width}}  needed for {finding.blocks}", f"{'':{width}}  {finding.fix}"]
    engine = "can run" if can_run(findings, "engine") else "cannot run"
    book = "can be built" if can_run(findings, "engine", "book") else "cannot be built"
    light = "The block manager, the scheduler and the sums of kvlib run."
    return "\n".join([*lines, "", light, f"The engine {engine}. The book {book}."])


def as_json(findings: list[Finding]) -> str:
    """The report as one JSON object: `findings`, and whether `engine` and `book` can run."""
    verdict = {"engine": can_run(findings, "engine"), "book": can_run(findings, "engine", "book")}
    return json.dumps({**verdict, "findings": [finding._asdict() for finding in findings]}, indent=2)


def _python() -> Finding:
    found = f"{platform.python_version()} on {platform.system()} {platform.machine()}, {sys.executable}"
    if (3, 11) <= sys.version_info[:2] <= (3, 13):
        return Finding("Python", found)
    return Finding("Python", found, "engine", "everything here: 3.11, 3.12 or 3.13", "python3.13 make.py book")


def _package(requirement: str, part: str, use: str) -> Finding:
    name = requirement.partition(">=")[0]
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        version = ""
    if version and _satisfies(version, requirement):
        return Finding(name, version, part)
    found = f"{version}, needed is {requirement}" if version else "not installed"
    return Finding(name, found, part, use, _pip(f'"{requirement}"'))


def _satisfies(version: str, requirement: str) -> bool:
    def numbers(text: str) -> tuple[int, ...]:
        return tuple(int(number) for number in re.findall(r"\d+", text.split("+")[0]))

    bounds = re.findall(r"(>=|<)([\d.]+)", requirement)
    return all((numbers(version) >= numbers(bound)) == (sign == ">=") for sign, bound in bounds)


def _pip(arguments: str) -> str:
    python = f'"{sys.executable}"' if " " in sys.executable else sys.executable
    return f"{python} -m pip install {arguments}"


def _model() -> Finding:
    path, found, again = find_model(), "not installed", ""
    if path is not None:
        found, again = f"{path}, {path.stat().st_size / 1e6:.0f} MB", "--force-reinstall "
        try:
            read_header(path)
            return Finding("model", found, "engine")
        except BadModelFile as error:
            found = str(error)
    return Finding("model", found, "engine", USES["engine"], _pip(f"{again}--no-deps {MODEL}"))


def _torch() -> list[Finding]:
    driver = shutil.which("nvidia-smi")
    gpu = Finding("GPU", f"NVIDIA driver at {driver}" if driver else "none; the CPU does all the work")
    if importlib.util.find_spec("torch") is None:
        return [gpu]
    try:
        import torch
    except (ImportError, OSError) as error:
        return [Finding("import torch", str(error), "engine", USES["engine"], _pip("--force-reinstall torch")), gpu]
    threads = Finding("CPU threads", f"{torch.get_num_threads()} used by torch")
    if torch.cuda.is_available():
        return [threads, Finding("CUDA", str(torch.version.cuda)), *map(_gpu, range(torch.cuda.device_count()))]
    if torch.version.cuda:
        return [threads, Finding("CUDA", f"{torch.version.cuda}, with no GPU that it can use"), gpu]
    cuda = Finding("CUDA", "not in this build of torch")
    if driver:
        cuda = cuda._replace(blocks="using the NVIDIA GPU", fix=f"the command for CUDA at {TORCH_PAGE}")
    return [threads, cuda, gpu]


def _gpu(index: int) -> Finding:
    import torch

    gpu = torch.cuda.get_device_properties(index)
    capability, memory = f"capability {gpu.major}.{gpu.minor}", f"{gpu.total_memory / GIB:.1f} GiB"
    use = f'; LLM(device="cuda") keeps weights and cache there, in {_dtypes(gpu.major)}'
    return Finding(f"GPU {index}", f"{gpu.name}, {capability}, {memory}{use}")


def _dtypes(major: int) -> str:
    return "float16, bfloat16 or float32" if major >= 8 else "float16 or float32"


def _triton() -> Finding:
    if platform.system() != "Linux":
        return Finding("triton", f"has no build for {platform.system()}; attention on a GPU gathers the blocks first")
    finding = _package(TRITON, "", "the attention kernels: on a GPU, or slowly in Triton's interpreter on a CPU")
    return finding if finding.blocks else finding._replace(found=f"{finding.found}; {_kernels_of_triton()}")


def _kernels_of_triton() -> str:
    """What the attention kernels can do here."""
    interpreter = "without a GPU the attention kernels run in its interpreter, slowly, with TRITON_INTERPRET=1 set"
    try:
        import torch
    except (ImportError, OSError):
        return interpreter
    if not torch.cuda.is_available():
        return interpreter
    if os.environ.get("TRITON_INTERPRET") == "1":
        return "TRITON_INTERPRET=1 is set, so the attention kernels run in its interpreter; unset it to use the GPU"
    gpu = torch.cuda.get_device_properties(0)
    if (gpu.major, gpu.minor) < (7, 5):
        return f"the attention kernels need capability 7.5, and GPU 0 has {gpu.major}.{gpu.minor}"
    tensor_cores = "" if gpu.major >= 8 else "without tensor cores, "
    return f"the attention kernels run on GPU 0, {tensor_cores}in {_dtypes(gpu.major)}"


def _kernels() -> Finding:
    if native.library() is None:
        return Finding("C kernels", "none", "", "the engine's fastest form; torch's takes its place", native.why_not())
    return Finding("C kernels", f"compiled by {shlex.join(find_compiler())} into {cache_folder()}")


def _memory() -> Finding:
    available = free_memory()
    if available is None:
        return Finding("free memory", "unknown")
    free = available / GIB
    found = f"{free:.1f} GiB"
    if free >= MODEL_GIB:
        return Finding("free memory", found)
    return Finding("free memory", found, "engine", f"loading the model: {MODEL_GIB} GiB", "close other programs")


def _disk() -> Finding:
    return Finding("free disk", f"{shutil.disk_usage(Path.cwd()).free / GIB:.1f} GiB in {Path.cwd()}")
