import pytest
import torch
import triton
import triton.language as tl
from triton.runtime.errors import InterpreterError

from kvlib.errors import EndlessLoop, OutsideMemory
from kvlib.grading.kernels.watched import Watch


@triton.jit
def double_kernel(output, x, size, ROW: tl.constexpr):
    i = tl.program_id(0) * ROW + tl.arange(0, ROW)
    tl.store(output + i, 2 * tl.load(x + i, mask=i < size, other=0), mask=i < size)


@triton.jit
def shifted_kernel(output, x, shift, ROW: tl.constexpr):
    i = tl.arange(0, ROW)
    tl.store(output + i, tl.load(x + i + shift))


@triton.jit
def stray_kernel(output, x, ROW: tl.constexpr):
    tl.store(output + tl.program_id(0) * ROW + tl.arange(0, ROW), tl.load(x))


@triton.jit
def two_turns_kernel(output, x):
    total = 0
    for i in range(2 * tl.program_id(0)):
        total += tl.load(x + i)
    tl.store(output + tl.program_id(0), total)


def test_it_counts_reads_and_writes_of_every_number():
    x, output = torch.arange(10), torch.zeros(12, dtype=torch.int64)
    with Watch() as watch:
        double_kernel[(3,)](output, x, 10, ROW=4)
        double_kernel[(1,)](output=output, x=x, size=2, ROW=4)
    assert output.tolist() == [2 * i for i in range(10)] + [0, 0]
    assert watch.reads(x).tolist() == [2, 2] + [1] * 8
    assert watch.writes(output).tolist() == [2, 2] + [1] * 8 + [0, 0]
    assert [launch[:2] for launch in watch.launches] == [("double_kernel", (3,)), ("double_kernel", (1,))]
    assert [launch.num_programs for launch in watch.launches] == [3, 1]


def test_it_tells_the_turns_and_the_reads_of_the_longest_program():
    x, output = torch.arange(10), torch.zeros(4, dtype=torch.int64)
    with Watch() as watch:
        two_turns_kernel[(4,)](output, x)
    assert (watch.turns(x), watch.most_read(x)) == (6, 6)
    assert (watch.turns(output), watch.most_read(output)) == (0, 0)


@pytest.mark.parametrize("shift", [-1, 1, 2**30])
def test_a_read_outside_the_arguments_is_an_error_before_it_happens(shift):
    x, output = torch.arange(8), torch.zeros(8, dtype=torch.int64)
    with Watch(), pytest.raises(InterpreterError) as raised:
        shifted_kernel[(1,)](output, x, shift, ROW=8)
    assert isinstance(raised.value.__cause__, OutsideMemory)
    assert "program (0, 0, 0) of shifted_kernel reads" in str(raised.value.__cause__)
    assert "outside all of its arguments (output, x)" in str(raised.value.__cause__)
    assert output.tolist() == [0] * 8


def test_a_write_outside_the_arguments_is_an_error_before_it_happens():
    x, output = torch.arange(8), torch.zeros(8, dtype=torch.int64)
    with (
        Watch(),
        pytest.raises(InterpreterError, match=r"program \(2, 0, 0\) of stray_kernel writes 4 numbers outside"),
    ):
        stray_kernel[(3,)](output, x, ROW=4)


def test_memory_of_an_earlier_launch_is_outside():
    x, other, output = torch.arange(8), torch.arange(8), torch.zeros(8, dtype=torch.int64)
    shift = (other.data_ptr() - x.data_ptr()) // 8
    with Watch():
        shifted_kernel[(1,)](output, other, 0, ROW=8)
        with pytest.raises(InterpreterError, match="outside"):
            shifted_kernel[(1,)](output, x, shift, ROW=8)


@pytest.mark.parametrize(("shift", "nearest"), [(-8, "x"), (8, "x"), (2**30, "")])
def test_it_tells_which_argument_was_left(shift, nearest):
    both = torch.arange(2**16)
    x, output = both.clone(), torch.zeros(8, dtype=torch.int64)
    start = 0 if shift < 0 else 2**16 - 8
    with Watch() as watch, pytest.raises(InterpreterError):
        shifted_kernel[(1,)](output, x, start + shift, ROW=8)
    assert watch.outside.nearest == nearest
    assert watch.outside.launch.kernel == "shifted_kernel"


@triton.jit
def endless_kernel(output, x):
    i = tl.load(x)
    while i < 8:
        tl.store(output + i, i)


def test_a_loop_without_an_end_is_ended():
    x, output = torch.zeros(1, dtype=torch.int64), torch.zeros(8, dtype=torch.int64)
    with Watch(), pytest.raises(InterpreterError) as raised:
        endless_kernel[(1,)](output, x)
    assert isinstance(raised.value.__cause__, EndlessLoop)
    assert "program (0, 0, 0) of endless_kernel did 30,000 steps" in str(raised.value.__cause__)


def test_afterwards_the_interpreter_is_as_it_was():
    from triton.runtime import interpreter

    before = interpreter.GridExecutor.__call__
    with pytest.raises(ZeroDivisionError), Watch():
        raise ZeroDivisionError
    assert interpreter.GridExecutor.__call__ is before
    assert not {"create_masked_load", "binary_op"} & set(vars(interpreter.interpreter_builder))
    x, output = torch.arange(8), torch.zeros(8, dtype=torch.int64)
    double_kernel[(1,)](output, x, 8, ROW=8)
    assert output.tolist() == [0, 2, 4, 6, 8, 10, 12, 14]
