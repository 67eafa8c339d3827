import pytest

from kvlib.grading.kernels.loops import changes_type


def float_sum(tl, x, weight):
    total = 0
    for _ in range(3):
        total += tl.sum(weight, 0)
    return total


def float_in_a_pair(tl, x, weight):
    i, total = 1.5, 0
    while i < 3:
        total = total * 2 + tl.exp(weight)
        i += 1
    return total


def float_sum_from_a_float(tl, x, weight):
    total = 0.0
    for _ in range(3):
        total += tl.sum(weight, 0)
    return total


def counted(tl, x, weight):
    count = 0
    for _ in range(3):
        count += 1
    return count


def ints_summed(tl, x, weight):
    count = 0
    for _ in range(3):
        count += tl.sum(weight.to(tl.int32), 0)
    return count


def made_a_float_before_the_loop(tl, x, weight):
    total = 0
    total = weight
    for _ in range(3):
        total += tl.sum(weight, 0)
    return total


def summed_without_a_loop(tl, x, weight):
    total = 0
    total += tl.sum(weight, 0)
    return total


@pytest.mark.parametrize("kernel", [float_sum, float_in_a_pair])
def test_an_int_that_a_loop_makes_a_float_is_found(kernel):
    assert changes_type(kernel) == "total"


@pytest.mark.parametrize(
    "kernel",
    [float_sum_from_a_float, counted, ints_summed, made_a_float_before_the_loop, summed_without_a_loop],
)
def test_what_a_compiler_takes_is_left_alone(kernel):
    assert changes_type(kernel) == ""
