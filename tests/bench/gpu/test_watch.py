"""Registers and shared memory come from the launch."""

from types import SimpleNamespace

import pytest

from kvlib.attention.triton.decode import decode_kernel
from kvlib.bench.gpu.watch import watched


class Kernel:
    """As a triton.jit function is launched: kernel[grid](...) ends in self.run(...)."""

    def __getitem__(self, grid):
        return lambda *args, **options: self.run(*args, grid=grid, warmup=False, **options)

    def run(self, *args, grid, warmup, **options):
        return SimpleNamespace(metadata=SimpleNamespace(shared=1000 * args[0]), n_regs=80 + args[0], n_spills=args[0])


def test_what_was_launched_last_is_known_after_the_block():
    kernel = Kernel()
    with watched(kernel) as found:
        assert found == {}
        kernel[1](0)
        kernel[1](3)
    assert found == {"shared_b": 3000, "regs": 83, "spill_b": 12}


def test_the_kernel_is_as_before_afterwards_even_after_an_error():
    kernel = Kernel()
    with pytest.raises(IndexError), watched(kernel) as found:
        kernel[1]()
    assert found == {}
    assert "run" not in vars(kernel)
    kernel[1](5)
    assert found == {}


def test_in_the_interpreter_and_without_a_kernel_nothing_is_found():
    with watched(None) as found:
        pass
    assert found == {}
    with watched(decode_kernel) as found:
        pass
    assert found == {}
    assert "run" not in vars(decode_kernel)
