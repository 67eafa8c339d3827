"""Where the kernels run: a GPU, or Triton's interpreter, where the same code runs and no time means anything."""

import shutil
import subprocess
from collections.abc import Sequence
from typing import Any, Protocol

import torch
import triton

from kvlib.attention.triton import INTERPRETED
from kvlib.attention.triton.device import INTERPRETER, Device, device_of
from kvlib.bench.gpu.timing import Call, Stopwatch, Timing, captured
from kvlib.errors import BadConfig


class Machine(Protocol):
    """Where the kernels run. l2_bytes: of its second cache."""

    device: torch.device
    properties: Device
    l2_bytes: int
    interpreted: bool

    def describe(self) -> dict[str, Any] | None:
        """The `gpu` of a measurement file."""

    def environment(self) -> dict[str, Any]:
        """Its `env`."""

    def capture(self, call: Call) -> Call:
        """What repeats the launches of `call` with the same arguments, whatever the tensors hold by then."""

    def time(self, calls: Sequence[Call]) -> Timing:
        """One call of these, which differ in the memory they read, and take turns."""

    def synchronize(self) -> None:
        """Wait for all launches. Raises what one of them failed with."""


class Interpreter:
    """Triton's interpreter, on the CPU."""

    device = torch.device("cpu")
    properties = INTERPRETER
    l2_bytes = 1000  # so that a pool has blocks which no table names
    interpreted = True

    def describe(self) -> None:
        return None

    def environment(self) -> dict[str, Any]:
        return {"fp_fusion": fp_fusion()}

    def capture(self, call: Call) -> Call:
        return call

    def time(self, calls: Sequence[Call]) -> Timing:
        return Timing()

    def synchronize(self) -> None:
        return None


class Gpu:
    """The first GPU that torch sees."""

    interpreted = False

    def __init__(self) -> None:
        self.device = torch.device("cuda", 0)
        self.properties = device_of(torch.empty(1, device=self.device))
        self.l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
        self._stopwatch = Stopwatch(self.device, self.l2_bytes)

    def describe(self) -> dict[str, Any]:
        return {
            "name": self.properties.name,
            "sm": "{}.{}".format(*self.properties.capability),
            "sms": self.properties.num_sms,
            "l2": self.l2_bytes,
            "driver": ask_driver("driver_version"),
        }

    def environment(self) -> dict[str, Any]:
        return {"fp_fusion": fp_fusion(), "clocks": ask_driver("clocks.sm", "clocks.mem", "clocks.max.sm")}

    def capture(self, call: Call) -> Call:
        return captured(call)

    def time(self, calls: Sequence[Call]) -> Timing:
        return self._stopwatch.time(calls)

    def synchronize(self) -> None:
        torch.cuda.synchronize()


def find_machine(interpret: bool) -> Machine:
    """The machine to measure on. Raises BadConfig without a GPU, unless `interpret` is wanted."""
    if interpret and INTERPRETED:
        return Interpreter()
    if INTERPRETED or interpret:
        raise BadConfig(
            f"--interpret is {'given' if interpret else 'missing'}, and TRITON_INTERPRET was "
            f"{'not set' if interpret else 'set'} when Triton was imported; start a new process, "
            f"{'with' if interpret else 'without'} TRITON_INTERPRET=1"
        )
    if not torch.cuda.is_available():
        raise BadConfig(
            "no GPU that torch can use: on a machine with one, install a build of torch for CUDA; without one, "
            "`kvlib bench gpu --interpret` runs the same code, tiny, on the CPU"
        )
    return Gpu()


def ask_driver(*names: str) -> str | None:
    """What nvidia-smi says to --query-gpu for these names, of the first GPU; None without it."""
    if shutil.which("nvidia-smi") is None:
        return None
    command = ["nvidia-smi", "--id=0", f"--query-gpu={','.join(names)}", "--format=csv,noheader"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.strip() or None
    except (OSError, subprocess.SubprocessError):
        return None


def fp_fusion() -> bool:
    """Whether Triton may make one instruction of a multiplication and an addition."""
    return triton.knobs.language.default_fp_fusion
