"""The memory that the checks of the kernels lie in does what they count on."""

import subprocess
import sys

import pytest
import torch

from kvlib.bench.kernels.fences import FAR, far_cache, fenced, spread

TOUCH = """
import torch
from kvlib.bench.kernels.fences import fenced
copy = fenced(torch.arange(10.0).view(5, 2){part}, behind={behind})
print(copy.sum().item(), flush=True)
import ctypes
ctypes.c_char.from_address(copy.data_ptr() + {offset}).value
print("touched")
"""


def touch(part: str, behind: bool, offset: int) -> subprocess.CompletedProcess:
    program = TOUCH.format(part=part, behind=behind, offset=offset)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


@pytest.mark.parametrize(("behind", "inside", "outside"), [(True, 39, 40), (False, 0, -1)])
def test_the_first_byte_outside_ends_the_process_and_the_last_inside_does_not(behind: bool, inside: int, outside: int):
    assert touch("", behind, inside).stdout == "45.0\ntouched\n"
    ended = touch("", behind, outside)
    assert (ended.stdout, ended.returncode < 0) == ("45.0\n", True)


def test_a_part_of_a_tensor_ends_with_its_own_last_number():
    assert touch("[1:4, :1]", True, 5 * 4 - 1).stdout == "12.0\ntouched\n"
    assert touch("[1:4, :1]", True, 5 * 4).returncode < 0


@pytest.mark.parametrize("behind", [True, False])
def test_a_fenced_copy_has_the_numbers_and_the_strides(behind: bool):
    tensor = torch.randn(4, 6, 5).transpose(0, 1)[1:, :, :3]
    copy = fenced(tensor, behind)
    assert torch.equal(copy, tensor)
    assert copy.stride() == tensor.stride()


def test_a_spread_copy_has_the_numbers_and_more_than_2_31_numbers_between_first_and_last():
    tensor = torch.randn(3, 2, 5).to(torch.float16)
    for dim in (0, 1):
        copy = spread(tensor, dim)
        assert torch.equal(copy, tensor)
        assert copy.stride(dim) * (tensor.shape[dim] - 1) >= FAR > 2**31


def test_a_far_cache_ends_with_the_blocks_and_begins_more_than_2_31_numbers_before():
    cache = torch.randint(-128, 127, (3, 16, 2, 64), dtype=torch.int8)
    far = far_cache(cache)
    assert torch.equal(far[-3:], cache)
    assert (len(far) - 3) * far.stride(0) >= FAR
