"""The device that kernels are launched on: what the choice of tiles and splits needs to know of it."""

import re
from functools import lru_cache
from typing import NamedTuple

import numpy
import torch
import triton
import triton.language as tl
from torch import Tensor

from kvlib.errors import BadConfig, BadInput

INTERPRETED: bool = triton.knobs.runtime.interpret
"""Whether the kernels run in Triton's interpreter, on the CPU: TRITON_INTERPRET=1 when Triton was first imported."""

HOW_TO_INTERPRET = (
    "set TRITON_INTERPRET=1 in the environment before Python starts (in a notebook: restart the kernel, then in the "
    'first cell os.environ["TRITON_INTERPRET"] = "1"), which is slow, or take backend "gather"'
)


class Device(NamedTuple):
    """name; compute capability; streaming multiprocessors; shared memory in bytes that one program can have."""

    name: str
    capability: tuple[int, int]
    num_sms: int
    shared_bytes: int

    @property
    def has_tensor_cores(self) -> bool:
        """Whether Triton uses them here: it makes scalar code of tl.dot below 8.0 since its version 3.3."""
        return self.capability >= (8, 0)

    @property
    def has_bfloat16(self) -> bool:
        return self.capability >= (8, 0)

    @property
    def has_e4m3(self) -> bool:
        """Whether it converts e4m3 itself; elsewhere the kernels read the bits."""
        return self.capability >= (8, 9)


# Shared memory: CUDA C++ programming guide, technical specifications for each compute capability, less the 1 KiB that
# the system keeps. Multiprocessors: the makers' data sheets.
T4 = Device("T4", (7, 5), 40, 64 * 1024)
A100 = Device("A100", (8, 0), 108, 163 * 1024)
L4 = Device("L4", (8, 9), 58, 99 * 1024)
H100 = Device("H100", (9, 0), 132, 227 * 1024)
B200 = Device("B200", (10, 0), 148, 227 * 1024)

# The tiles of an A100, so that what is tested is what runs there; few multiprocessors, as each program takes a while.
INTERPRETER = A100._replace(name="Triton's interpreter", num_sms=1)


def check_interpreter() -> None:
    """Raise BadConfig where the interpreter is asked for and would fail with an error that names nothing."""
    if not INTERPRETED:
        return
    if isinstance(tl.max, triton.runtime.JITFunction):
        raise BadConfig(f"TRITON_INTERPRET was set after Triton was imported; {HOW_TO_INTERPRET}")
    if _numbers(triton.__version__) < (3, 7, 1) and _numbers(numpy.__version__) >= (2, 4):
        raise BadConfig(
            f"the interpreter of Triton {triton.__version__} fails with NumPy {numpy.__version__}; "
            'install "numpy<2.4", or "triton>=3.7.1"'
        )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def device_of(tensor: Tensor) -> Device:
    """The device that a kernel on `tensor` runs on. Raises BadInput where none can."""
    if tensor.is_cuda and not INTERPRETED:
        return _cuda(tensor.get_device())
    if tensor.device.type == "cpu" and INTERPRETED:
        return INTERPRETER
    if INTERPRETED:
        raise BadInput(
            f"a tensor is on {tensor.device}, and TRITON_INTERPRET=1 was set when Triton was imported: the interpreter "
            "takes tensors on the CPU; start Python without it to use the GPU"
        )
    raise BadInput(f"a tensor is on {tensor.device}, and Triton kernels run on an NVIDIA GPU; {HOW_TO_INTERPRET}")


@lru_cache
def _cuda(index: int) -> Device:
    properties = torch.cuda.get_device_properties(index)
    limits = triton.runtime.driver.active.utils.get_device_properties(index)
    return Device(
        properties.name,
        (properties.major, properties.minor),
        properties.multi_processor_count,
        limits["max_shared_mem"],
    )
