"""Where a model may be put: what this machine or this GPU does not have is refused with what works instead."""

import re

import pytest
import torch

from kvlib.engine import LLM, Model, load
from kvlib.errors import BadConfig
from kvlib.models.placement import ON_CPU, place


@pytest.fixture
def gpu_of(monkeypatch: pytest.MonkeyPatch):
    """gpu_of(major, minor): torch says that it has one GPU, of this compute capability; gpu_of() that it has none."""

    def install(*capability: int) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: bool(capability))
        monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: capability)
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "Tesla T4")

    return install


@pytest.mark.parametrize(("device", "dtype"), [("cpu", "auto"), ("auto", "auto"), ("cpu", "float32")])
def test_without_a_gpu_it_is_the_cpu_and_float32(gpu_of, device: str, dtype: str) -> None:
    gpu_of()
    assert place() == place(device, dtype) == ON_CPU


@pytest.mark.parametrize("device", ["cuda", "auto"])
@pytest.mark.parametrize(
    ("capability", "dtype", "expected"),
    [
        ((7, 5), "auto", torch.float16),
        ((9, 0), "auto", torch.float16),
        ((8, 0), "bfloat16", torch.bfloat16),
        ((7, 5), "float32", torch.float32),
    ],
)
def test_a_gpu_takes_half_precision_unless_told_otherwise(gpu_of, device: str, capability, dtype, expected) -> None:
    gpu_of(*capability)
    assert place(device, dtype) == (torch.device("cuda", 1), expected)
    assert place() == ON_CPU


REFUSED = {
    "no gpu": (
        (),
        {"device": "cuda"},
        "device is 'cuda', and torch can use no GPU here, as `kvlib doctor` explains; take",
    ),
    "bfloat16 on a t4": (
        (7, 5),
        {"device": "cuda", "dtype": "bfloat16"},
        "dtype is 'bfloat16', which needs compute capability 8.0, and Tesla T4 has 7.5; take 'float16'",
    ),
    "half precision on the cpu": (
        (8, 0),
        {"dtype": "float16"},
        "dtype is 'float16', and the engine computes in float32 on the CPU; take 'auto'",
    ),
    "half precision without a gpu": (
        (),
        {"device": "auto", "dtype": "bfloat16"},
        "dtype is 'bfloat16', and the engine",
    ),
    "an unknown device": ((8, 0), {"device": "gpu"}, "device is 'gpu'; the known ones are auto, cpu, cuda"),
    "a device of torch": ((8, 0), {"device": ["cuda"]}, "device is ['cuda']; the known ones are auto, cpu, cuda"),
    "an unknown dtype": (
        (8, 0),
        {"device": "cuda", "dtype": "fp8"},
        "dtype is 'fp8'; the known ones are auto, float16, bfloat16, float32",
    ),
}


@pytest.mark.parametrize(("capability", "wishes", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_had_is_refused_by_the_loader_and_the_engine(gpu_of, capability, wishes, message) -> None:
    gpu_of(*capability)
    for build in (load, LLM):
        with pytest.raises(BadConfig, match=re.escape(message)):
            build("/nowhere", **wishes)  # before anything is read


def test_a_loaded_model_stays_where_it_is(tiny: Model, gpu_of) -> None:
    gpu_of(8, 0)
    assert LLM(tiny, device="auto").device == torch.device("cpu")
    with pytest.raises(
        BadConfig, match=r"device is 'cuda', and the model was loaded on cpu; load it so, or give device="
    ):
        LLM(tiny, device="cuda")
    with pytest.raises(
        BadConfig, match=r"dtype is 'float16', and the model was loaded as torch.float32; load it so, or"
    ):
        LLM(tiny, dtype="float16")
