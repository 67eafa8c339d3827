"""Where a model computes, and in which numbers."""

from typing import NamedTuple

import torch

from kvlib.checks import one_of
from kvlib.errors import BadConfig

DEVICES = ("auto", "cpu", "cuda")
DTYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32}


class Placement(NamedTuple):
    """The device that holds a model's weights and its cache, and the dtype of both."""

    device: torch.device
    dtype: torch.dtype


ON_CPU = Placement(torch.device("cpu"), torch.float32)


def place(device: str = "cpu", dtype: str = "auto") -> Placement:
    """What `device` and `dtype` mean on this machine, one of DEVICES and "auto" or one of DTYPES.

    The device "auto" is a GPU where torch can use one, "cuda" torch's current one. The dtype "auto" is float32 on the
    CPU, where there is no other, and float16 on a GPU. Raises BadConfig for what is unknown or cannot be had here.
    """
    one_of("device", device, DEVICES)
    one_of("dtype", dtype, ("auto", *DTYPES))
    has_gpu = torch.cuda.is_available()
    if device == "cuda" and not has_gpu:
        raise BadConfig("device is 'cuda', and torch can use no GPU here, as `kvlib doctor` explains; take 'cpu'")
    if device == "cpu" or not has_gpu:
        if dtype not in ("auto", "float32"):
            raise BadConfig(f"dtype is {dtype!r}, and the engine computes in float32 on the CPU; take 'auto'")
        return ON_CPU
    gpu = torch.device("cuda", torch.cuda.current_device())
    major, minor = torch.cuda.get_device_capability(gpu)
    if dtype == "bfloat16" and major < 8:
        raise BadConfig(
            f"dtype is 'bfloat16', which needs compute capability 8.0, and {torch.cuda.get_device_name(gpu)} has "
            f"{major}.{minor}; take 'float16'"
        )
    return Placement(gpu, torch.float16 if dtype == "auto" else DTYPES[dtype])
